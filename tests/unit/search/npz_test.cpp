// SPDX-License-Identifier: Apache-2.0
#include "search/npz.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <limits>

#include "base/files.hpp"
#include "unit/estimate/small_table.hpp"

namespace oplat::search {
namespace {

std::uint32_t number(const std::string& bytes, std::size_t at, std::size_t size) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < size; ++i)
    value |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes.at(at + i))) << (8 * i);
  return value;
}

Npz sample() {
  Npz npz;
  const std::array times = {1.5, std::numeric_limits<double>::quiet_NaN(), -2.0, 0.0, 3e9, 0.25};
  const std::array<std::int64_t, 2> sizes = {224, -1};
  const std::array<std::uint8_t, 6> mask = {1, 0, 1, 1, 1, 1};
  const std::array<std::string, 3> names = {"k3_e1", "skip", ""};
  const double level = 0.9;
  npz.add("times", {2, 3}, times);
  npz.add("sizes", {2}, sizes);
  npz.add_bools("mask", {2, 3}, mask);
  npz.add_texts("names", names);
  npz.add("level", {}, {&level, 1});
  npz.add("none", {0}, std::span<const double>());
  return npz;
}

TEST(Npz, IsAZipWhoseDirectoryPointsAtEveryArray) {
  const std::string bytes = sample().bytes();
  const std::size_t end = bytes.size() - 22;
  ASSERT_EQ(bytes.substr(end, 4), "PK\5\6");
  const std::uint32_t entries = number(bytes, end + 10, 2);
  ASSERT_EQ(entries, 6U);
  EXPECT_EQ(number(bytes, end + 16, 4) + number(bytes, end + 12, 4), end);
  std::size_t at = number(bytes, end + 16, 4);
  for (std::uint32_t i = 0; i < entries; ++i) {
    ASSERT_EQ(bytes.substr(at, 4), "PK\1\2");
    const std::uint32_t size = number(bytes, at + 24, 4);
    const std::uint32_t name = number(bytes, at + 28, 2);
    const std::uint32_t local = number(bytes, at + 42, 4);
    ASSERT_EQ(bytes.substr(local, 4), "PK\3\4");
    EXPECT_EQ(bytes.substr(local + 30, name), bytes.substr(at + 46, name));
    EXPECT_EQ(bytes.substr(local + 30 + name, 6), "\x93NUMPY");
    EXPECT_EQ(number(bytes, local + 30 + name + 8, 2) % 64, 54U)
        << "data begin at a multiple of 64";
    EXPECT_EQ(number(bytes, local + 18, 4), size);
    at += 46 + name;
  }
  EXPECT_EQ(at, end);
}

TEST(Npz, TheSameArraysGiveTheSameBytes) { EXPECT_EQ(sample().bytes(), sample().bytes()); }

/// numpy itself, which also checks the sums of the zip.
TEST(Npz, LoadsInNumpy) {
  if (::access(OPLAT_PYTHON, X_OK) != 0)
    GTEST_SKIP() << "no " << OPLAT_PYTHON << "; make it with scripts/setup";
  const auto folder = test::must(base::TemporaryFolder::create("oplat-npz"));
  test::must(base::write_file(folder.path() / "a.npz", sample().bytes()));
  const std::string code =
      "import sys, zipfile, numpy as np\n"
      "assert zipfile.ZipFile(sys.argv[1]).testzip() is None\n"
      "f = np.load(sys.argv[1], allow_pickle=False)\n"
      "assert np.array_equal(f['times'], [[1.5, np.nan, -2], [0, 3e9, .25]], equal_nan=True) and "
      "f['times'].dtype == "
      "np.float64\n"
      "assert f['sizes'].tolist() == [224, -1] and f['sizes'].dtype == np.int64\n"
      "assert f['mask'].tolist() == [[True, False, True], [True, True, True]] and f['mask'].dtype "
      "== bool\n"
      "assert f['names'].tolist() == ['k3_e1', 'skip', '']\n"
      "assert f['level'].shape == () and float(f['level']) == .9 and f['none'].shape == (0,)\n";
  test::must(base::write_file(folder.path() / "check.py", code));
  const std::string command =
      fmt::format("'{}' -I '{}' '{}'", OPLAT_PYTHON, (folder.path() / "check.py").string(),
                  (folder.path() / "a.npz").string());
  EXPECT_EQ(std::system(command.c_str()), 0);
}

}  // namespace
}  // namespace oplat::search
