// SPDX-License-Identifier: Apache-2.0
#include "formats/mnn.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/files.hpp"

namespace oplat::formats::mnn {
namespace {

using Dims = std::vector<std::int64_t>;

/// A convolution over x0 of [-1,3,16,16], written by MNN's converter, weights in a file of their
/// own.
base::Source model() {
  const auto bytes =
      base::read_file(OPLAT_TEST_SOURCE_DIR "/../fuzz/corpus/mnn/open_batch.mnn", 1 << 20);
  EXPECT_TRUE(bytes.has_value());
  return base::Source::from_bytes("open_batch.mnn", bytes.value_or(""));
}

TEST(Mnn, ReaderIsChosenByTheBytes) {
  const auto chosen = reader_for(model());
  ASSERT_TRUE(chosen.has_value());
  EXPECT_EQ((*chosen)->name(), "mnn");
  const auto graph = reader().read(model(), {});
  ASSERT_FALSE(graph.has_value());
  EXPECT_NE(graph.error().message.find("--runtime mnn"), std::string::npos);
}

TEST(Mnn, OpenDimensionsAreResolved) {
  ShapeOptions batch;
  batch.batch = 4;
  const auto resolved = reader().resolve(model(), batch);
  ASSERT_TRUE(resolved.has_value());
  EXPECT_EQ(resolved->shapes.at("x0"), (Dims{4, 3, 16, 16}));
  ShapeOptions shape;
  shape.shapes["x0"] = {4, 3, 16, 16};
  const auto same = reader().resolve(model(), shape);
  ASSERT_TRUE(same.has_value());
  EXPECT_EQ(same->shapes, resolved->shapes);
}

TEST(Mnn, ShapesThatTheModelDoesNotHaveAreRefused) {
  for (const auto& [name, dims] : {std::pair<std::string, Dims>{"y", {1, 3, 16, 16}},
                                   {"x0", {3, 16, 16}},
                                   {"x0", {1, 4, 16, 16}},
                                   {"x0", {0, 3, 16, 16}}}) {
    ShapeOptions options;
    options.shapes[name] = dims;
    const auto resolved = reader().resolve(model(), options);
    ASSERT_FALSE(resolved.has_value()) << name;
    EXPECT_EQ(resolved.error().code, Code::Usage);
  }
}

TEST(Mnn, DamagedFilesAreNotModels) {
  const std::string whole = model().bytes();
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{3}, std::size_t{40}, whole.size() / 3}) {
    EXPECT_EQ(reader().probe(whole.substr(0, size)), 0) << size;
  }
  EXPECT_EQ(reader().probe(std::string(400, '\0')), 0);
  EXPECT_EQ(reader().probe(std::string(400, '\xff')), 0);
  std::string far = whole;
  far[3] = '\x7f';  // the root lies outside
  EXPECT_EQ(reader().probe(far), 0);
}

}  // namespace
}  // namespace oplat::formats::mnn
