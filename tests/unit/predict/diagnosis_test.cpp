// SPDX-License-Identifier: Apache-2.0
#include "predict/diagnosis.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "ir/moved_work.hpp"
#include "predict/compose.hpp"
#include "unit/compat/all_domains.hpp"
#include "unit/estimate/small_table.hpp"

namespace oplat::predict {
namespace {

using estimate::Source;
using test::must;
using test::SmallTable;
using ::testing::IsEmpty;

constexpr double kMebibyte = 1024.0 * 1024.0;
/// 8,388,608 operations; 65,536 bytes in, 65,536 out, 262,144 of weights.
constexpr const char* kSquare = "MatMul/13{}(f32[64,256],f32c[256,256])->(f32[64,256])";

std::string copy_of(int elements) {
  return fmt::format("test:copy{{}}(f32[{0}])->(f32[{0}])", elements);
}

table::Device device_of(std::int64_t l2_bytes, std::int64_t llc_bytes) {
  table::Device device;
  device.l2_bytes = l2_bytes;
  device.llc_bytes = llc_bytes;
  return device;
}

/// A node takes 300 ns; 100 f32 operations a ns; 50 bytes a ns up to 1 MiB, 10 beyond.
Ceilings round_ceilings() {
  Ceilings ceilings;
  ceilings.node_ns = 300;
  ceilings.flops_per_ns = {{ir::Dtype::F32, 100}};
  ceilings.memory = {{kMebibyte, 50}, {std::nullopt, 10}};
  return ceilings;
}

KernelPrediction kernel_of(const std::string& key, double ns, double sd_log = 0.02,
                           std::int64_t count = 1) {
  return {"n", key, count, ns, sd_log, Source::Measured, "measured", "row 1"};
}

/// Composed as predict() does it, without overhead.
Prediction prediction_of(std::vector<KernelPrediction> kernels, double reuse_bytes = 0) {
  Prediction p;
  p.reuse_bytes = reuse_bytes;
  p.latency_ns = 0;
  for (const KernelPrediction& kernel : kernels)
    *p.latency_ns += static_cast<double>(kernel.count) * kernel.latency_ns.value_or(0);
  p.sd_log = 1;  // present; its parts are taken apart anew
  p.kernels = std::move(kernels);
  return p;
}

KernelDiagnosis diagnosis_of(const std::string& key, double ns, double reuse_bytes = 0) {
  return diagnose(prediction_of({kernel_of(key, ns)}, reuse_bytes), round_ceilings(),
                  ir::Catalogue::own())
      .kernels.at(0);
}

TEST(Ceilings, ANodeTakesTheLowerQuartileOfTinyRows) {
  std::vector<TimedKey> rows;
  for (const double ns : {500.0, 300.0, 200.0, 400.0}) rows.push_back({copy_of(100), {}, ns});
  rows.push_back({copy_of(1000), {}, 1.0});  // 8000 bytes are not tiny
  rows.push_back({"MatMul/13{}(f32[1,100],f32[100,1])->(f32[1,1])", {}, 450});
  EXPECT_EQ(ceilings_of(rows, {}, ir::Catalogue::own()).node_ns, 300);
  EXPECT_FALSE(
      ceilings_of(std::vector<TimedKey>{{copy_of(1000), {}, 1.0}}, {}, ir::Catalogue::own())
          .node_ns);
}

TEST(Ceilings, TheLeastKernelsOwnRowsTellWhatANodeTakes) {
  const std::string least(plan::kDispatchKey);
  const std::vector<TimedKey> rows = {
      {copy_of(100), {}, 200}, {least, {}, 350}, {least, 128, 340}, {least, 1e8, 900}};
  EXPECT_EQ(ceilings_of(rows, {}, ir::Catalogue::own()).node_ns, 350);
}

TEST(Ceilings, MemoryHasALevelWhereRowsStand) {
  const std::vector<TimedKey> rows = {
      {copy_of(100), {}, 300},                 // the node
      {copy_of(12500), 100e3, 2000},           // 50 bytes a ns
      {copy_of(25000), 200e3, 5000},           // 40
      {copy_of(12500), 100e3, 1000},           // 100, but in less than five nodes' time
      {copy_of(250000), std::nullopt, 100e3},  // no state: its own 2 MB, 20 bytes a ns
      {test::kMatMul, 24 * kMebibyte,
       100e3},  // 1 MiB of weights from memory, not what else it moves
  };
  const auto levels = ceilings_of(rows, device_of(1 << 20, 8 << 20), ir::Catalogue::own()).memory;
  EXPECT_THAT(levels,
              ::testing::ElementsAre(MemoryLevel{kMebibyte, 50}, MemoryLevel{8 * kMebibyte, 20},
                                     MemoryLevel{std::nullopt, 10.48576}));
  const Ceilings flat = ceilings_of(rows, {}, ir::Catalogue::own());
  ASSERT_EQ(flat.memory.size(), 1U);
  EXPECT_EQ(flat.bytes_per_ns(1e12), 50);
  const Ceilings two =
      ceilings_of(std::span(rows).first(5), device_of(1 << 20, 8 << 20), ir::Catalogue::own());
  EXPECT_EQ(two.bytes_per_ns(1e12), 20);  // beyond the last level with rows: its rate
}

TEST(Ceilings, WhatIsFurtherAwayIsNoFaster) {
  const std::vector<TimedKey> rows = {{copy_of(12500), {}, 20000}, {copy_of(250000), {}, 100e3}};
  EXPECT_EQ(ceilings_of(rows, device_of(1 << 20, 8 << 20), ir::Catalogue::own()).bytes_per_ns(1000),
            20);
}

TEST(Ceilings, OperationsByTheTypeOfTheWeights) {
  const std::vector<TimedKey> rows = {
      {kSquare, {}, 10000}, {"MatMulInteger/10{}(u8[1,512],i8c[512,512])->(i32[1,512])", {}, 1000}};
  const auto rates = ceilings_of(rows, {}, ir::Catalogue::own()).flops_per_ns;
  ASSERT_EQ(rates.size(), 2U);
  EXPECT_DOUBLE_EQ(rates.at(ir::Dtype::F32), 838.8608);
  EXPECT_DOUBLE_EQ(rates.at(ir::Dtype::I8), 524.288);
}

TEST(Ceilings, RowsOfHardlyAnyOperationsSayNothingOfArithmetic) {
  const std::vector<TimedKey> rows = {
      {"Relu/14{}(f32[100000])->(f32[100000])", {}, 10000},
      {"MatMul/13{}(f32[1,512],f32c[512,512])->(f32[1,512])", {}, 10000}};
  const Ceilings ceilings = ceilings_of(rows, {}, ir::Catalogue::own());
  EXPECT_TRUE(ceilings.flops_per_ns.empty());
  EXPECT_EQ(ceilings.memory.size(), 1U);
}

TEST(Ceilings, TwoRowsThatAreTooGoodDoNotCountAmongTwenty) {
  std::vector<TimedKey> rows;
  for (int i = 0; i < 19; ++i) rows.push_back({copy_of(12500), {}, 10000.0 + i});
  rows[3].median_ns = 1;
  rows[7].median_ns = 2;
  EXPECT_EQ(ceilings_of(rows, {}, ir::Catalogue::own()).bytes_per_ns(0), 100e3);
  rows.push_back({copy_of(12500), {}, 20000.0});
  EXPECT_EQ(ceilings_of(rows, {}, ir::Catalogue::own()).bytes_per_ns(0), 10);
}

TEST(Ceilings, RowsOfStrangersThatSayNothingArePassedOver) {
  const std::vector<TimedKey> rows = {{"no key", {}, 100},
                                      {"test:copy{}(f32[?])->(f32[?])", {}, 100},
                                      {copy_of(100), {}, std::nan("")},
                                      {copy_of(100), {}, 0},
                                      {"test:nothing{}()->()", {}, 100}};
  const Ceilings ceilings = ceilings_of(rows, {}, ir::Catalogue::own());
  EXPECT_FALSE(ceilings.node_ns);
  EXPECT_THAT(ceilings.flops_per_ns, IsEmpty());
  EXPECT_FALSE(ceilings.bytes_per_ns(1));
}

class FindCeilings : public ::testing::Test {
 protected:
  void SetUp() override {
    for (int i = 0; i < 30; ++i)
      small_.row(device_, setting_, copy_of(12500 + i), {}, test::timing(10000));
    // The only other device holds rows that are ten times as fast.
    const auto other = small_.device("other");
    for (int i = 0; i < 30; ++i)
      small_.row(other, setting_, copy_of(12500 + i), {}, test::timing(1000));
    small_.row(device_, setting_, kSquare, {}, test::timing(10000));
    small_.row(device_, setting_, test::kCopy250, {}, table::Failed{"crash"});
    small_.row(device_, setting_, std::string(plan::kDispatchKey), {}, test::timing(321));
  }
  Ceilings find(std::int64_t most, const std::vector<KernelPrediction>& kernels = {}) {
    const Selection selection =
        must(select_rows(small_.table(), {.device = "desk"}, ir::Catalogue::own()));
    return must(find_ceilings(small_.table(), selection, prediction_of(kernels), most));
  }
  SmallTable small_;
  table::DeviceId device_ = small_.device();
  table::SettingId setting_ = small_.setting();
};

TEST_F(FindCeilings, ReadsTheWholeOfASmallTableOfThisDeviceOnly) {
  const Ceilings all = find(1000);
  EXPECT_EQ(all.rows, 32);
  EXPECT_EQ(all.node_ns, 321);
  EXPECT_NEAR(all.bytes_per_ns(0).value(), 10.0, 0.1);
  EXPECT_DOUBLE_EQ(all.flops_per_ns.at(ir::Dtype::F32), 838.8608);
}

TEST_F(FindCeilings, SamplesALargeOneEvenlyAndNeverLeavesOutItsOwnKernels) {
  // 63 rows in 6 steps, 1 + the whole part of i * 63 / 6: ids 1, 11, 22, 32, 43, 53, of which the
  // first three are of this device.
  const Ceilings few = find(6);
  EXPECT_EQ(few.rows, 4);  // and the least kernel's
  EXPECT_EQ(few.node_ns, 321);
  EXPECT_THAT(few.flops_per_ns, IsEmpty());
  const Ceilings own = find(6, {kernel_of(kSquare, 10000), kernel_of(copy_of(12500), 10000)});
  EXPECT_EQ(own.rows, 5);  // row 1 is in both
  EXPECT_DOUBLE_EQ(own.flops_per_ns.at(ir::Dtype::F32), 838.8608);
}

TEST(WorkDtype, IsThatOfTheWeights) {
  const auto of = [](const char* text) { return work_dtype(must(ir::parse(text))); };
  EXPECT_EQ(of("Add/14{}(f16[2],f32[2])->(f16[2])"), ir::Dtype::F16);
  EXPECT_EQ(of("X{}(f32[1,4],u8c[],i8c[4,4],f32c[4,4])->(f32[1,4])"), ir::Dtype::I8);
  EXPECT_EQ(of("X{}(u8[1,4])->(u8[1,4])"), ir::Dtype::I8);
  EXPECT_EQ(of("X{}()->(f32[1])"), std::nullopt);
}

TEST(MovedWork, OfATableOnlyWhatIsPicked) {
  const ir::Work w = ir::moved_work(
      must(ir::parse("Gather/13{axis=0}(f32c[30000,128],i64[1,16])->(f32[1,16,128])")));
  EXPECT_EQ(w.bytes_out, 8192);
  EXPECT_EQ(w.bytes_weights, 8192);  // of 15 MB
  EXPECT_EQ(w.bytes_in, 128);
}

TEST(MovedWork, ABranchWroteWhatAnIfHandsOn) {
  const auto moved = [](const char* text) { return ir::moved_work(must(ir::parse(text))); };
  EXPECT_EQ(moved("If/16{}(bool[])->(f32[400,400])").bytes_out, 0);
  EXPECT_EQ(moved("If/16{}(bool[])->(f32[400,400])").bytes_in, 1);
  EXPECT_EQ(moved("Where/16{}(bool[4],f32[4],f32[4])->(f32[4])").bytes_out, 16);
  EXPECT_EQ(moved("Scan/16{num_scan_inputs=1}(f32[4,8])->(f32[4,8])").bytes_out, 128)
      << "scan outputs are joined";
}

TEST(Diagnosis, RatesFollowFromWorkAndTime) {
  const KernelDiagnosis d = diagnosis_of(kSquare, 167772.16);
  EXPECT_EQ(d.flops, 8388608);
  EXPECT_EQ(d.bytes, 393216);
  EXPECT_DOUBLE_EQ(d.gflops_per_s.value(), 50);
  EXPECT_DOUBLE_EQ(d.gbytes_per_s.value(), 2.34375);
}

TEST(Diagnosis, TheSlowerOfOperationsAndBytesIsTheBound) {
  const KernelDiagnosis compute = diagnosis_of(kSquare, 167772.16);
  EXPECT_EQ(compute.bound, Bound::Compute);
  EXPECT_DOUBLE_EQ(compute.bound_share.value(), 0.5);  // 83,886.08 ns at 100 operations a ns
  // One row instead of 64: 1310.72 ns of operations; bytes 2048 / 50 + 262,144 / 10 if the model
  // drives weights out.
  const char* thin = "MatMul/13{}(f32[1,256],f32c[256,256])->(f32[1,256])";
  const KernelDiagnosis cold = diagnosis_of(thin, 52510.72, 100 * kMebibyte);
  EXPECT_EQ(cold.bound, Bound::Memory);
  EXPECT_DOUBLE_EQ(cold.bound_share.value(), 0.5);
  // ... and 264,192 / 50 if it does not.
  const KernelDiagnosis hot = diagnosis_of(thin, 26419.2, 1000);
  EXPECT_EQ(hot.bound, Bound::Memory);
  EXPECT_DOUBLE_EQ(hot.bound_share.value(), 0.2);
  // Slow code: no ceiling explains it.
  const KernelDiagnosis slow = diagnosis_of(thin, 105676.8, 1000);
  EXPECT_FALSE(slow.bound);
  EXPECT_DOUBLE_EQ(slow.bound_share.value(), 0.05);
}

TEST(Diagnosis, OverheadIsWhatANodeTakesAnyway) {
  const KernelDiagnosis d = diagnosis_of(test::kCopy250, 500);
  EXPECT_EQ(d.bound, Bound::Overhead);
  EXPECT_DOUBLE_EQ(d.bound_share.value(), 0.6);
  EXPECT_EQ(diagnosis_of(test::kCopy250, 600).bound, Bound::Overhead);
  EXPECT_NE(diagnosis_of(test::kCopy250, 601).bound, Bound::Overhead);
}

TEST(Diagnosis, WithoutAFormulaOnlyBytesThatExplainTheTimeAreABound) {
  EXPECT_FALSE(diagnosis_of(test::kCopy250, 10000).bound);
  EXPECT_FALSE(diagnosis_of(test::kCopy250, 10000).bound_share);
  const KernelDiagnosis d = diagnosis_of(copy_of(12500), 2500);
  EXPECT_EQ(d.bound, Bound::Memory);
  EXPECT_DOUBLE_EQ(d.bound_share.value(), 0.8);
  EXPECT_FALSE(d.gflops_per_s);
}

TEST(Diagnosis, NothingIsSaidOfWhatIsNotKnown) {
  KernelPrediction missing = kernel_of(kSquare, 1);
  missing.latency_ns.reset();
  missing.sd_log.reset();
  missing.source = Source::Missing;
  const auto of = [](const KernelPrediction& kernel, const Ceilings& ceilings) {
    return diagnose(prediction_of({kernel}), ceilings, ir::Catalogue::own()).kernels.at(0);
  };
  const KernelDiagnosis untimed = of(missing, round_ceilings());
  EXPECT_EQ(untimed.flops, 8388608);
  EXPECT_FALSE(untimed.gflops_per_s || untimed.gbytes_per_s || untimed.bound ||
               untimed.uncertainty_share);
  const KernelDiagnosis unbounded = of(kernel_of(kSquare, 1000), {});
  EXPECT_TRUE(unbounded.gflops_per_s);
  EXPECT_FALSE(unbounded.bound);
  const KernelDiagnosis unsized =
      of(kernel_of("test:copy{}(f32[?])->(f32[?])", 1000), round_ceilings());
  EXPECT_FALSE(unsized.bytes || unsized.gbytes_per_s || unsized.bound);
  EXPECT_FALSE(of(kernel_of("no key", 1000), round_ceilings()).bytes);
  KernelPrediction view = kernel_of(test::kReshape, 0, 0);
  view.source = Source::Free;
  EXPECT_FALSE(of(view, round_ceilings()).bound);
  view.latency_ns = 100;  // the dispatch of its node
  EXPECT_EQ(of(view, round_ceilings()).bound, Bound::Overhead);
  EXPECT_FALSE(of(view, round_ceilings()).gbytes_per_s);
}

TEST(Uncertainty, SharesAreTheTermsOfTheSpread) {
  Prediction p = prediction_of(
      {kernel_of(test::kCopy250, 60000, 0.1), kernel_of(test::kCopy1000, 40000, 0.2)});
  const double rho = correlation("measured");
  const double both = rho * 0.14 * 0.14 + (1 - rho) * (0.06 * 0.06 + 0.08 * 0.08);
  const double variance = both + kCompositionSd * kCompositionSd;
  const Uncertainty u = diagnose(p, {}, ir::Catalogue::own()).uncertainty.value();
  EXPECT_NEAR(u.kernels, both / variance, 1e-12);
  EXPECT_NEAR(u.composition, kCompositionSd * kCompositionSd / variance, 1e-12);
  EXPECT_EQ(u.mismatch, 0);
  ASSERT_EQ(u.most.size(), 2U);
  EXPECT_EQ(u.most[0].first, 1U);
  EXPECT_NEAR(u.most[0].share, (rho * 0.08 * 0.14 + (1 - rho) * 0.08 * 0.08) / variance, 1e-12);
  EXPECT_NEAR(u.most[1].share, (rho * 0.06 * 0.14 + (1 - rho) * 0.06 * 0.06) / variance, 1e-12);
}

TEST(Uncertainty, AScaledSumIsTakenApartToo) {
  SmallTable small;
  const auto device = small.device();
  const auto setting = small.setting();
  small.row(device, setting, test::kCopy250, {}, test::timing(1000, 0.1));
  small.row(device, setting, test::kCopy1000, {}, test::timing(3000, 0.3));
  Selection selection = must(select_rows(small.table(), {}, ir::Catalogue::own()));
  selection.fit.emplace();
  selection.fit->c0_ns = 500;
  selection.fit->scale = 1.5;
  table::Plan plan;
  plan.kernels = {{"a", test::kCopy250, 3}, {"b", test::kCopy1000, 1}};
  const Prediction p = must(predict(small.table(), selection, plan, {}));
  EXPECT_DOUBLE_EQ(p.latency_ns.value(), 500 + 1.5 * 6000);
  EXPECT_DOUBLE_EQ(p.coverage.overhead.value(), 3500.0 / 9500.0);
  const double a = 4500 * 0.1 / 9500, b = 4500 * 0.3 / 9500,
               rho = p.composition.correlations.measured;
  EXPECT_NEAR(p.sd_log.value(),
              std::sqrt(rho * (a + b) * (a + b) + (1 - rho) * (a * a + b * b) +
                        kCompositionSd * kCompositionSd),
              1e-12);
  const Uncertainty u = diagnose(p, {}, ir::Catalogue::own()).uncertainty.value();
  EXPECT_NEAR(u.composition, kCompositionSd * kCompositionSd / std::pow(*p.sd_log, 2), 1e-12);
  EXPECT_NEAR(u.kernels + u.composition, 1, 1e-12);
}

TEST(Uncertainty, GroupsAreApartAndAddUpToTheSpreadOfThePrediction) {
  SmallTable small;
  const auto device = small.device();
  const auto setting = small.setting();
  small.row(device, setting, test::kCopy250, {}, test::timing(1000, 0.1));
  small.row(device, setting, test::kCopy1000, {}, test::timing(3000, 0.3));
  small.empty_call(device, setting, 700);
  table::Plan plan;
  plan.kernels = {{"a", test::kCopy250, 3},
                  {"b", test::kCopy1000, 1},
                  {"c", test::kCopy4000, 2},
                  {"d", test::kCopy250, 1},
                  {"v", test::kReshape, 1}};
  const Selection selection = must(select_rows(
      small.table(), {.threads = 2, .allow_setting_mismatch = true}, ir::Catalogue::own()));
  const Prediction p =
      must(predict(small.table(), selection, plan, {0.9, MissingPolicy::Roofline}));
  const Diagnosis d =
      diagnose(p, must(find_ceilings(small.table(), selection, p)), ir::Catalogue::own());
  const Uncertainty u = d.uncertainty.value();
  EXPECT_NEAR(u.kernels + u.composition + u.mismatch, 1, 1e-12);
  // One part is known by itself, which fixes the whole: it must be the spread that the prediction
  // states.
  EXPECT_NEAR(p.composition_sd_log / std::sqrt(u.composition), p.sd_log.value(), 1e-12);
  EXPECT_GT(p.composition_sd_log, kCompositionSd)
      << "of so short a model little is known of the call";
  EXPECT_NEAR(u.mismatch, std::pow(std::log(2.0) / *p.sd_log, 2), 1e-12);
  double sum = 0;
  for (const KernelDiagnosis& kernel : d.kernels) sum += kernel.uncertainty_share.value();
  EXPECT_NEAR(sum, u.kernels, 1e-12);
  // The two entries of one key share its part by their executions.
  EXPECT_NEAR(*d.kernels[0].uncertainty_share, 3 * *d.kernels[3].uncertainty_share, 1e-12);
  ASSERT_EQ(u.most.size(), 3U);
  EXPECT_EQ(u.most[0].first, 2U);  // guessed by the roofline
  EXPECT_EQ(u.most[0].remedy, Remedy::Measure);
  EXPECT_EQ(d.kernels[4].uncertainty_share, 0);
}

TEST(Uncertainty, RemedyDependsOnSourceAndPrecision) {
  KernelPrediction guessed = kernel_of(test::kCopy4000, 1000, 0.01);
  guessed.source = Source::Roofline;
  const Uncertainty u = diagnose(prediction_of({kernel_of(test::kCopy250, 1000, 0.03), guessed,
                                                kernel_of(test::kCopy1000, 1000, 0.02)}),
                                 {}, ir::Catalogue::own())
                            .uncertainty.value();
  ASSERT_EQ(u.most.size(), 3U);
  EXPECT_EQ(u.most[0].remedy, Remedy::MoreBlocks);
  EXPECT_EQ(u.most[1].remedy, Remedy::Nothing);
  EXPECT_EQ(u.most[2].remedy, Remedy::Measure);
}

TEST(Uncertainty, WhatValuesDecideNoBlockMends) {
  KernelPrediction by_values = kernel_of(test::kCopy250, 1000, std::hypot(0.01, 0.3));
  by_values.values_sd_log = 0.3;
  KernelPrediction unsaid = kernel_of(test::kCopy1000, 1000, 0.5);
  unsaid.has_caveat = true;
  const Uncertainty u =
      diagnose(prediction_of({by_values, unsaid}), {}, ir::Catalogue::own()).uncertainty.value();
  ASSERT_EQ(u.most.size(), 2U);
  for (const UncertainKernel& kernel : u.most) EXPECT_EQ(kernel.remedy, Remedy::Nothing);
}

TEST(Uncertainty, WhatValuesDecideAddsUpForAnOperator) {
  KernelPrediction one = kernel_of(test::kCopy250, 1000, 0.3);
  KernelPrediction other = kernel_of(test::kCopy1000, 1000, 0.3);
  one.values_sd_log = other.values_sd_log = 0.3;
  const Prediction both = prediction_of({one, other});
  EXPECT_NEAR(std::pow(total_spread(terms_of(both.kernels, *both.latency_ns), 0), 2), 0.09, 1e-9)
      << "as for one kernel";
  const Uncertainty u = diagnose(both, {}, ir::Catalogue::own()).uncertainty.value();
  ASSERT_EQ(u.most.size(), 2U);
  EXPECT_NEAR(u.most[0].share, u.most[1].share, 1e-9);
}

TEST(Uncertainty, WhatKernelsMissTogetherIsTheirsAndNoBlockHelps) {
  // Own parts of 0.018 and 0.012 next to 0.24 and 0.16 that have one cause.
  KernelPrediction one = kernel_of(test::kCopy250, 60000, std::hypot(0.03, 0.4));
  KernelPrediction other = kernel_of(test::kCopy1000, 40000, std::hypot(0.03, 0.4));
  one.common_sd_log = other.common_sd_log = 0.4;
  const double rho = correlation("measured");
  const double both = 0.4 * 0.4 + rho * 0.03 * 0.03 + (1 - rho) * (0.018 * 0.018 + 0.012 * 0.012);
  const Uncertainty u =
      diagnose(prediction_of({one, other}), {}, ir::Catalogue::own()).uncertainty.value();
  const double variance = both + kCompositionSd * kCompositionSd;
  EXPECT_NEAR(u.kernels, both / variance, 1e-12);
  ASSERT_EQ(u.most.size(), 2U);
  EXPECT_NEAR(u.most[0].share + u.most[1].share, u.kernels, 1e-12);
  one.sd_log = other.sd_log = std::hypot(0.01, 0.4);
  const Uncertainty well =
      diagnose(prediction_of({one, other}), {}, ir::Catalogue::own()).uncertainty.value();
  for (const UncertainKernel& kernel : well.most) EXPECT_EQ(kernel.remedy, Remedy::Nothing);
}

TEST(Uncertainty, IsNothingWithoutALatency) {
  Prediction p = prediction_of({kernel_of(test::kCopy250, 1000)});
  p.latency_ns.reset();
  p.sd_log.reset();
  EXPECT_FALSE(diagnose(p, {}, ir::Catalogue::own()).uncertainty);
  EXPECT_FALSE(diagnose(prediction_of({}), {}, ir::Catalogue::own()).uncertainty);
}

TEST(Movement, SumsCountExecutionsAndShareTheWholeTime) {
  const char* reorder = "com.microsoft.nchwc:ReorderInput/1{}(f32[1,3,8,8])->(f32[1,16,8,8])";
  Prediction p = prediction_of({kernel_of(reorder, 1000, 0.02, 3), kernel_of(test::kCopy250, 5000),
                                kernel_of("Cast/13{to=10}(f32[1])->(f16[1])", 500, 0.02, 2),
                                kernel_of(reorder, 1000)});
  const auto sums = diagnose(p, {}, ir::Catalogue::own()).movement;
  ASSERT_EQ(sums.size(), 2U);
  EXPECT_EQ(sums[0].movement, ir::Movement::Reorder);
  EXPECT_EQ(sums[0].inserted_by_runtime, true);
  EXPECT_EQ(sums[0].kernels, 4);
  EXPECT_EQ(sums[0].time_ns, 4000);
  EXPECT_DOUBLE_EQ(sums[0].time_share.value(), 0.4);
  EXPECT_EQ(sums[1].movement, ir::Movement::Cast);
  EXPECT_EQ(sums[1].inserted_by_runtime, std::nullopt);
  EXPECT_DOUBLE_EQ(sums[1].time_share.value(), 0.1);
  p.latency_ns.reset();  // kernels are missing: shares of what is known
  p.composition.c0_ns = 10000;
  EXPECT_DOUBLE_EQ(diagnose(p, {}, ir::Catalogue::own()).movement[0].time_share.value(), 0.2);
}

TEST(Movement, SumsAreApartByWhoseTheKernelsAre) {
  const char* cast = "Cast/13{to=10}(f32[1])->(f16[1])";
  Prediction p = prediction_of(
      {kernel_of(cast, 500), kernel_of(cast, 500, 0.02, 2), kernel_of(cast, 500, 0.02, 3)});
  p.kernels[0].inserted_by_runtime = true;
  p.kernels[1].inserted_by_runtime = false;
  const Diagnosis diagnosis = diagnose(p, {}, ir::Catalogue::own());
  ASSERT_EQ(diagnosis.movement.size(), 3U);
  EXPECT_EQ(diagnosis.movement[0].inserted_by_runtime, std::nullopt);
  EXPECT_EQ(diagnosis.movement[0].kernels, 3);
  EXPECT_EQ(diagnosis.movement[1].inserted_by_runtime, false);
  EXPECT_EQ(diagnosis.movement[1].kernels, 2);
  EXPECT_EQ(diagnosis.movement[2].inserted_by_runtime, true);
  EXPECT_EQ(diagnosis.movement[2].kernels, 1);
  EXPECT_EQ(diagnosis.kernels[0].inserted_by_runtime, true);
}

TEST(Names, OfBoundsAndRemedies) {
  EXPECT_EQ(name(Bound::Compute), "compute");
  EXPECT_EQ(name(Bound::Memory), "memory");
  EXPECT_EQ(name(Bound::Overhead), "overhead");
  EXPECT_EQ(name(Remedy::MoreBlocks), "more blocks");
}

TEST(Operators, SumTheirKernelsAndSayWhatBoundsMostOfTheTime) {
  const std::string wide = "MatMul/13{}(f32[64,256],f32c[256,512])->(f32[64,512])";
  const Diagnosis made =
      diagnose(prediction_of({kernel_of(kSquare, 100e3, 0.02, 2), kernel_of(wide, 200e3),
                              kernel_of(kSquare, 100e3), kernel_of(copy_of(1000), 100e3)}),
               round_ceilings(), ir::Catalogue::own());
  ASSERT_EQ(made.operators.size(), 2U);
  const OperatorSum& product = made.operators[0];
  EXPECT_EQ(product.type, "MatMul");
  EXPECT_EQ(product.calls, 4);
  EXPECT_EQ(product.kernels, 2);
  EXPECT_EQ(product.missing, 0);
  EXPECT_DOUBLE_EQ(product.time_ns, 500e3);
  EXPECT_DOUBLE_EQ(product.time_share.value_or(0), 500.0 / 600);
  EXPECT_DOUBLE_EQ(product.gflops_per_s.value_or(0), 5 * 8'388'608.0 / 500e3);
  EXPECT_EQ(product.bound, Bound::Compute);
  EXPECT_EQ(made.operators[1].type, "copy");
  EXPECT_FALSE(made.operators[1].gflops_per_s);
  EXPECT_EQ(made.kernels[0].label.text, "MatMul 64x256 by 256x256 -> 64x256");
}

TEST(Operators, WithoutALatencyHaveNoShares) {
  Prediction p = prediction_of({kernel_of(kSquare, 100e3), kernel_of(copy_of(10), 0)});
  p.latency_ns.reset();
  p.kernels[1].latency_ns.reset();
  const Diagnosis made = diagnose(p, round_ceilings(), ir::Catalogue::own());
  ASSERT_EQ(made.operators.size(), 2U);
  EXPECT_FALSE(made.operators[0].time_share);
  EXPECT_EQ(made.operators[1].missing, 1);
  EXPECT_DOUBLE_EQ(made.operators[1].time_ns, 0);
}

}  // namespace
}  // namespace oplat::predict
