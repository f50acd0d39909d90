// SPDX-License-Identifier: Apache-2.0
#include "estimate/roofline.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "unit/estimate/small_table.hpp"

namespace oplat::estimate {
namespace {

Sample sample(const char* key, double ns) { return {key, std::log(ns)}; }

// Bytes: 2000, 8000 and 4 * (512 + 512 * 512 + 512) = 1052672; operations of the product: 2 * 512 *
// 512 = 524288.
const std::vector<Sample> kSamples = {sample(test::kCopy250, 1000), sample(test::kCopy1000, 2000),
                                      sample(test::kMatMul, 100000)};
constexpr double kBandwidth = 10.52672;

TEST(Roofline, IsWhatTheRowsAchieved) {
  const auto roofline = fit_roofline(kSamples, ir::Catalogue::own());
  ASSERT_TRUE(roofline);
  EXPECT_NEAR(roofline->overhead_ns, 1000, 1e-9);
  ASSERT_TRUE(roofline->flops_per_ns);
  EXPECT_NEAR(*roofline->flops_per_ns, 5.24288, 1e-9);
  EXPECT_NEAR(roofline->bytes_per_ns, kBandwidth, 1e-9);
  // Ratios to the bound: 1000 / 1190 = 0.84, 2000 / 1760 = 1.14, 100000 / 101000 = 0.99; the last
  // is their median.
  EXPECT_NEAR(roofline->scale, 100.0 / 101.0, 1e-9);
  EXPECT_NEAR(roofline->sd_log, 0.7, 1e-9);
  EXPECT_EQ(roofline->rows, 3);
}

TEST(Roofline, BoundsAKernelByItsBytes) {
  const auto roofline = fit_roofline(kSamples, ir::Catalogue::own());
  const auto key = ir::parse(test::kCopy4000);
  ASSERT_TRUE(key);
  const auto answer = estimate_roofline(*roofline, *key, ir::Catalogue::own());
  ASSERT_TRUE(answer);
  EXPECT_NEAR(answer->median_ns, 100.0 / 101.0 * (1000 + 32000 / kBandwidth), 1e-6);
  EXPECT_NEAR(answer->sd_log, 1.0, 1e-9);  // no formula for the operations
  EXPECT_EQ(answer->source, Source::Roofline);
  EXPECT_EQ(answer->group, "physics");
}

TEST(Roofline, ALookUpReadsNoMoreThanItsResult) {
  const Roofline roofline{10, std::nullopt, 2, 1, 0.5, 3};
  const auto ns_of = [&](const char* text) {
    return estimate_roofline(roofline, *ir::parse(text), ir::Catalogue::own())->median_ns;
  };
  // 8 indices of 8 bytes; 8 lines of 128, read and written.
  EXPECT_DOUBLE_EQ(ns_of("Gather/13{axis=0}(f32c[16000000,32],i64[8])->(f32[8,32])"),
                   10 + (8 * 8 + 2 * 8 * 32 * 4) / 2.0);
  // Look-ups of other runtimes, too.
  EXPECT_DOUBLE_EQ(ns_of("paddle:index_select{}(f32c[16000000,32],i64[8])->(f32[8,32])"),
                   10 + (8 * 8 + 2 * 8 * 32 * 4) / 2.0);
  // A small table is read whole at most.
  EXPECT_DOUBLE_EQ(ns_of("Gather/13{axis=0}(f32c[4,32],i64[8])->(f32[8,32])"),
                   10 + (4 * 32 * 4 + 8 * 8 + 8 * 32 * 4) / 2.0);
}

TEST(Roofline, BoundsAKernelByItsOperations) {
  const auto roofline = fit_roofline(kSamples, ir::Catalogue::own());
  const auto key = ir::parse("MatMul/13{}(f32[64,512],f32c[512,512])->(f32[64,512])");
  ASSERT_TRUE(key);
  const auto answer = estimate_roofline(*roofline, *key, ir::Catalogue::own());
  ASSERT_TRUE(answer);
  EXPECT_NEAR(answer->median_ns, 100.0 / 101.0 * (1000 + 64 * 100000.0), 1e-3);
  EXPECT_NEAR(answer->sd_log, 0.7, 1e-9);
}

TEST(Roofline, LargeKernelsSayNothingAboutDispatch) {
  const auto roofline =
      fit_roofline(std::vector<Sample>{sample(test::kMatMul, 1e7)}, ir::Catalogue::own());
  ASSERT_TRUE(roofline);
  EXPECT_EQ(roofline->overhead_ns, 10000);
}

TEST(Roofline, NeedsUsableRows) {
  EXPECT_FALSE(fit_roofline({}, ir::Catalogue::own()));
  EXPECT_FALSE(fit_roofline(
      std::vector<Sample>{sample("no key", 5), sample("test:copy{}(f32[?])->(f32[?])", 5)},
      ir::Catalogue::own()));
  EXPECT_FALSE(make_roofline({}, ir::Catalogue::own()));
}

TEST(Roofline, UnknownSizesHaveNoBound) {
  const auto key = ir::parse("test:copy{}(f32[?])->(f32[?])");
  ASSERT_TRUE(key);
  EXPECT_FALSE(
      estimate_roofline(*fit_roofline(kSamples, ir::Catalogue::own()), *key, ir::Catalogue::own()));
}

std::optional<Estimate> ask(const Estimator& estimator, const char* key) {
  const Query query{key, 0.0};
  std::optional<Estimate> answer;
  test::must(estimator.estimate({&query, 1}, {&answer, 1}));
  return answer;
}

TEST(Roofline, AnswersByTheRooflineOfItsSamples) {
  const auto roofline = make_roofline(kSamples, ir::Catalogue::own());
  ASSERT_TRUE(roofline);
  EXPECT_EQ(roofline->name(), "roofline");
  const auto answer = ask(*roofline, test::kCopy4000);
  ASSERT_TRUE(answer);
  EXPECT_NEAR(answer->median_ns, 100.0 / 101.0 * (1000 + 32000 / kBandwidth), 1e-6);
  EXPECT_FALSE(ask(*roofline, "test:copy{}(f32[?])->(f32[?])"));
  EXPECT_FALSE(ask(*roofline, "no key"));
}

TEST(Roofline, IsCalledPhysicsInDocuments) {
  EXPECT_EQ(name(Source::Roofline), "roofline");
  for (const Source source : kSources)
    EXPECT_EQ(document_name(source), source == Source::Roofline ? "physics" : name(source));
}

}  // namespace
}  // namespace oplat::estimate
