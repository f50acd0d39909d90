// SPDX-License-Identifier: Apache-2.0
/// Runs the fuzz targets over their corpora without libFuzzer: each file as it is, and damaged in
/// many ways, always the same. fuzz_replay CORPUS [--damages N] [TARGET...]; a target that finds a
/// mistake aborts.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/files.hpp"
#include "base/random.hpp"
#include "base/text.hpp"

// OPLAT_FUZZ_TARGETS is a list X(name)X(name)... that the build makes of the calls of
// oplat_add_fuzz.
#define X(name) extern "C" int oplat_fuzz_##name(const std::uint8_t* data, std::size_t size);
OPLAT_FUZZ_TARGETS
#undef X

namespace {

constexpr std::int64_t kDamages = 200;

struct Target {
  std::string_view name;
  int (*run)(const std::uint8_t* data, std::size_t size);
};

#define X(name) Target{#name, oplat_fuzz_##name},
const Target kTargets[] = {OPLAT_FUZZ_TARGETS};
#undef X

void feed(const Target& target, const std::string& bytes) {
  target.run(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

/// One to four small damages: a byte changed, taken out or put in, the end cut off, a piece
/// repeated.
std::string damaged(std::string bytes, oplat::base::Random& random) {
  constexpr std::string_view kTelling("{}()[],:'\"\\\n\r\t -+.0123456789eExXnN\0\x80\xff", 37);
  const auto at = [&](std::size_t end) { return static_cast<std::size_t>(random.below(end)); };
  for (std::uint64_t left = 1 + random.below(4); left > 0; --left) {
    const char c =
        random.below(2) == 0 ? kTelling[at(kTelling.size())] : static_cast<char>(random.below(256));
    switch (bytes.empty() ? 1 : random.below(5)) {
      case 0:
        bytes[at(bytes.size())] = c;
        break;
      case 1:
        bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(at(bytes.size() + 1)), c);
        break;
      case 2:
        bytes.erase(at(bytes.size()), 1);
        break;
      case 3:
        bytes.resize(at(bytes.size()));
        break;
      default: {
        const std::size_t start = at(bytes.size());
        bytes.insert(at(bytes.size()), bytes.substr(start, 1 + at(64)));
      }
    }
  }
  return bytes;
}

/// Whether the target got through the files of its folder; false if there are none.
bool replay(const Target& target, const std::filesystem::path& folder, std::int64_t damages) {
  std::vector<std::filesystem::path> files;
  std::error_code missing;
  for (const auto& entry : std::filesystem::directory_iterator(folder, missing))
    files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  if (files.empty()) {
    fmt::print("{}: no corpus in {}\n", target.name, folder.string());
    return false;
  }
  fmt::print("{}: {} files, each in {} forms\n", target.name, files.size(), damages + 1);
  std::fflush(stdout);  // says whose turn it was if the target aborts
  feed(target, "");
  for (const auto& file : files) {
    const auto bytes = oplat::base::read_file(file);
    if (!bytes) {
      fmt::print("{}\n", bytes.error().message);
      return false;
    }
    feed(target, *bytes);
    oplat::base::Random random(bytes->size());
    for (std::int64_t i = 0; i < damages; ++i) feed(target, damaged(*bytes, random));
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: fuzz_replay CORPUS [--damages N] [TARGET...]\n");
    return 2;
  }
  std::vector<std::string_view> wanted(argv + 2, argv + argc);
  std::int64_t damages = kDamages;
  if (wanted.size() > 1 && wanted[0] == "--damages") {
    damages = oplat::base::parse_int(wanted[1]).value_or(kDamages);
    wanted.erase(wanted.begin(), wanted.begin() + 2);
  }
  int passed = 0, failed = 0;
  for (const Target& target : kTargets) {
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), target.name) == wanted.end())
      continue;
    const auto folder = std::filesystem::path(argv[1]) / target.name;
    // To open a table and ask it for everything takes many times as long as to read a text.
    const bool slow = target.name.starts_with("table_");
    ++(replay(target, folder, slow ? damages / 10 : damages) ? passed : failed);
  }
  fmt::print("{} passed, {} failed, 0 skipped\n", passed, failed);
  return failed > 0 || passed == 0 ? 1 : 0;
}
