// SPDX-License-Identifier: Apache-2.0
/// The reproduced predictor next to answers that the original itself gave.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "base/text.hpp"
#include "compat/tinynas/original/predictor.hpp"
#include "unit/compat/tinynas/library_file.hpp"

namespace oplat::compat::tinynas {
namespace {

const std::string kFolder = OPLAT_SHARED_DIR "/data/tinynas/";

/// The library, or a skipped test.
#define OPLAT_LIBRARY_OR_SKIP(name, file)                                  \
  const auto name##_rows = test::read_library_file(kFolder + (file));      \
  if (!name##_rows) GTEST_SKIP() << "no " << kFolder << (file) << " here"; \
  const auto name##_made = OriginalPredictor::create(*name##_rows);        \
  ASSERT_TRUE(name##_made) << name##_made.error().message;                 \
  const OriginalPredictor& name = *name##_made

/// Whether `answer` is the golden text: a number to 1e-6, or an error for an error.
bool agrees(const std::string& golden, const Result<double>& answer) {
  if (golden.starts_with("ERR")) return !answer;
  const auto expected = base::parse_double(golden);
  return answer && expected && std::abs(*answer - *expected) <= 1e-6 * std::abs(*expected);
}

void compare_with_golden(const OriginalPredictor& original, const std::string& file) {
  const auto tuples = test::read_tuple_file(kFolder + file);
  ASSERT_TRUE(tuples) << kFolder << file;
  ASSERT_EQ(tuples->size(), 2000U);
  std::string different;
  int count = 0;
  for (const test::ListedTuple& tuple : *tuples) {
    const auto answer = original.predict(tuple.conv);
    if (agrees(tuple.answer, answer)) continue;
    ++count;
    different +=
        fmt::format("{} stride {} fused {} kernel {} batch {} {} -> {} at {}: {} instead of {}\n",
                    name(tuple.conv.type), tuple.conv.stride, tuple.conv.fused, tuple.conv.kernel,
                    tuple.conv.batch, tuple.conv.in_c, tuple.conv.out_c, tuple.conv.in_h,
                    answer ? base::float_text(*answer) : answer.error().message, tuple.answer);
  }
  EXPECT_EQ(count, 0) << different;
}

TEST(OriginalGolden, Fp32) {
  OPLAT_LIBRARY_OR_SKIP(original, "conv_data.out");
  compare_with_golden(original, "golden_FP32.tsv");
}

TEST(OriginalGolden, Fp16DamoYolo) {
  OPLAT_LIBRARY_OR_SKIP(original, "conv_data.out.fp16.damoyolo");
  compare_with_golden(original, "golden_FP16_DAMOYOLO.tsv");
}

TEST(OriginalGolden, TotalsOfResNet50) {
  OPLAT_LIBRARY_OR_SKIP(original, "conv_data.out");
  auto tuples = test::read_tuple_file(kFolder + "convs_224/R50.tsv");
  ASSERT_TRUE(tuples);
  for (const auto& [batch, total] :
       {std::pair{1, 2.761298}, {32, 19.919927}, {64, 37.774238}, {128, 72.599050}}) {
    double sum = 0;
    for (test::ListedTuple& tuple : *tuples) {
      tuple.conv.batch = batch;
      const auto answer = original.predict(tuple.conv);
      ASSERT_TRUE(answer) << answer.error().message;
      sum += *answer;
    }
    EXPECT_NEAR(sum, total, 1e-6) << "batch " << batch;
  }
}

/// A row of the library comes back as it is in the library, up to the rounding of weights. Of rows
/// for one convolution Qhull keeps one, so a library with duplicates is left out.
TEST(OriginalGolden, MeasuredRowsComeBack) {
  OPLAT_LIBRARY_OR_SKIP(original, "conv_data.out");
  std::size_t count = 0, off = 0;
  for (const LibraryTime& row : *original_rows) {
    if (row.ms < 0 || row.conv.in_h == 4) continue;
    ++count;
    const auto answer = original.predict(row.conv);
    if (!answer || std::abs(*answer - row.ms) > 1e-9 * row.ms) ++off;
  }
  EXPECT_GT(count, 80'000U);
  EXPECT_EQ(off, 0U);
}

}  // namespace
}  // namespace oplat::compat::tinynas
