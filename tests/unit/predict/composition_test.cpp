// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "compat/registry.hpp"
#include "estimate/load_spread.hpp"
#include "predict/prediction.hpp"
#include "table/memory_text.hpp"
#include "unit/estimate/small_table.hpp"

namespace oplat::predict {
namespace {

using estimate::Source;
using test::must;
using test::SmallTable;
using test::timing;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr double kMiB = 1024.0 * 1024.0;
constexpr double kNormal95 = 1.6448536270;

class CompositionTest : public ::testing::Test {
 protected:
  void row(const char* key, double ns, double sd = 0.02,
           std::optional<double> reuse = std::nullopt) {
    small_.row(device_, setting_, key, reuse, timing(ns, sd));
  }
  static table::Plan plan(std::vector<table::PlanKernel> kernels) {
    table::Plan p;
    p.model = "net.onnx";
    p.identity = "abc";
    p.batch = 2;
    p.weight_bytes = 1000;
    p.activation_bytes = 500;
    p.kernels = std::move(kernels);
    return p;
  }
  Result<Prediction> ask(const table::Plan& p, MissingPolicy missing = MissingPolicy::Error,
                         RowFilter filter = {}, double level = 0.9) {
    OPLAT_TRY(selection, select_rows(small_.table(), filter, compat::catalogue()));
    return predict(small_.table(), selection, p, {level, missing});
  }
  /// For data that decide which bodies run, and how often.
  Result<Prediction> ask_for_given_data(const table::Plan& p) {
    OPLAT_TRY(selection, select_rows(small_.table(), {}, compat::catalogue()));
    Options options;
    options.given_data_decide = true;
    return predict(small_.table(), selection, p, options);
  }

  /// Of one kernel, where networks of its runtime missed sums by that.
  Prediction with_spread(SumSpread spread) {
    Selection selection = must(select_rows(small_.table(), {}, compat::catalogue()));
    selection.sum_spread = spread;
    return must(predict(small_.table(), selection, plan({{"a", test::kCopy1000, 1}}), {}));
  }

  /// Of a model of one kernel.
  double evicted_of(const std::string& key, const Selection& selection,
                    std::optional<double> input_bytes = std::nullopt, std::int64_t count = 1) {
    const table::Plan p = plan({{"a", key, count, std::nullopt, input_bytes}});
    return must(predict(small_.table(), selection, p, {})).composition.evicted_bytes;
  }

  SmallTable small_;
  table::DeviceId device_ = small_.device();
  table::SettingId setting_ = small_.setting();
};

TEST_F(CompositionTest, IsTheEmptyCallAndCountedKernels) {
  row(test::kCopy250, 1000);
  row(test::kCopy1000, 3000);
  for (const double call : {900.0, 500.0, 40000.0}) small_.empty_call(device_, setting_, call);
  small_.empty_call(device_, setting_, std::nullopt);
  const Prediction p = must(
      ask(plan({{"a", test::kCopy250, 3}, {"b", test::kCopy1000, 2}, {"v", test::kReshape, 5}})));
  ASSERT_TRUE(p.latency_ns);
  EXPECT_DOUBLE_EQ(*p.latency_ns, 500 + 3 * 1000 + 2 * 3000);
  EXPECT_EQ(p.composition.c0_ns, 500) << "what disturbs a call makes it longer";
  EXPECT_EQ(p.composition.c1_ns, 0);
  EXPECT_EQ(p.composition.n_kernels, 5);
  EXPECT_FALSE(p.composition.fitted);
  EXPECT_EQ(p.composition.calibration_models, 0);
  EXPECT_EQ(p.batch, 2);
  EXPECT_EQ(p.plan_hash, "abc");
  EXPECT_EQ(p.reuse_bytes, 1500);
  EXPECT_THAT(p.warnings, IsEmpty());
  ASSERT_EQ(p.kernels.size(), 3U);
  EXPECT_EQ(p.kernels[1].latency_ns, 3000);  // of one execution
  EXPECT_EQ(p.kernels[2].source, Source::Free);
  EXPECT_EQ(p.kernels[2].latency_ns, 0);
}

TEST_F(CompositionTest, ViewsThatAForeignTableTimesAreMeasured) {
  constexpr const char* kFlatten =
      "paddle_lite:flatten_contiguous_range{start_axis=1,stop_axis=3}(f32[1,8,1,1])->(f32[1,8])";
  constexpr const char* kRow =
      "paddle_lite:flatten_contiguous_range{start_axis=1,stop_axis=None}(f32[1,8,1,1])->(f32[1,8])";
  constexpr const char* kDropout = "paddle_lite:dropout{}(f32[1,8])->(f32[1,8])";
  row(kRow, 4000);
  const Prediction p = must(ask(plan({{"a", kFlatten, 1}, {"b", kDropout, 1}})));
  EXPECT_EQ(p.kernels[0].source, Source::Measured);
  EXPECT_EQ(p.kernels[1].source, Source::Free);
  EXPECT_EQ(p.latency_ns, 4000);
}

// A campaign measures no row of it, so a prediction must not miss one.
TEST_F(CompositionTest, ACastToItsOwnTypeInPlaceCostsADispatch) {
  row(plan::kDispatchKey.data(), 200);
  row(test::kCopy1000, 3000);
  const std::string cast = "Cast/21{saturate=1,to=1}(f32[3,4])->(&0)";
  const Prediction p = must(ask(plan({{"a", test::kCopy1000, 1}, {"b", cast, 1}})));
  EXPECT_EQ(p.kernels[1].source, Source::Free);
  EXPECT_EQ(p.latency_ns, 3200);
}

TEST_F(CompositionTest, LoopsThatDataEndMakeTheIntervalWider) {
  const std::string counted = "Loop/16@steps=3{}(i64c[]=3,-,f32[2])->(f32[2])";
  const std::string ended = "Loop/16@ends=data@steps=3{}(i64[],-,f32[2])->(f32[2])";
  row(counted.c_str(), 2000);
  row(ended.c_str(), 2000);
  row(test::kCopy1000, 3000);
  const auto sd = [&](const std::string& loop) {
    return must(ask(plan({{"n0", loop, 1}, {"n0_0_1", test::kCopy1000, 3}})));
  };
  const Prediction sure = sd(counted);
  const Prediction unsure = sd(ended);
  EXPECT_EQ(sure.latency_ns, unsure.latency_ns);
  const double steps_sd = 3 * 80.0 / 11'000;  // new memory for the results of three executions
  EXPECT_DOUBLE_EQ(sure.control_sd_log, steps_sd);
  EXPECT_DOUBLE_EQ(unsure.control_sd_log, std::hypot(0.7, steps_sd)) << "all of it is the loop's";
  EXPECT_GT(unsure.interval->high, 2 * *unsure.latency_ns);
  EXPECT_GT(unsure.warnings.size(), sure.warnings.size());
  const Prediction given =
      must(ask_for_given_data(plan({{"n0", ended, 1}, {"n0_0_1", test::kCopy1000, 3}})));
  EXPECT_DOUBLE_EQ(given.control_sd_log, steps_sd) << "the plan is of these very data";
  EXPECT_THAT(given.warnings, Not(Contains(HasSubstr("data decide"))));
}

TEST_F(CompositionTest, ManyShortStepsMakeTheIntervalWiderAndSaySo) {
  const std::string loop = "Loop/16@steps=2000{}(i64c[]=2000,-,f32[2])->(f32[2])";
  row(loop.c_str(), 600'000);
  row(test::kCopy1000, 250);
  const auto steps = [&](const char* inside) {
    return must(ask(plan({{"n0", loop, 1}, {inside, test::kCopy1000, 2000}})));
  };
  const Prediction p = steps("n0_0_1");
  EXPECT_DOUBLE_EQ(p.control_sd_log, 2000 * 80.0 / 1'100'000);
  EXPECT_THAT(p.warnings, Contains(HasSubstr("its loops execute 2000 small kernels")));
  const Prediction outside = steps("n1");
  EXPECT_EQ(outside.control_sd_log, 0);
  EXPECT_THAT(outside.warnings, Not(Contains(HasSubstr("its loops execute"))));
}

TEST_F(CompositionTest, WhatNetworksMissedOfSumsIsInTheIntervalAndAGuessSaysSo) {
  row(test::kCopy1000, 50'000);
  const Prediction usual = with_spread({});
  const Prediction compared = with_spread({0.3, true});
  const Prediction guessed = with_spread({0.7, false});
  EXPECT_NEAR(*compared.sd_log, std::hypot(*usual.sd_log, 0.3), 1e-12);
  EXPECT_NEAR(*guessed.sd_log, std::hypot(*usual.sd_log, 0.7), 1e-12);
  EXPECT_GT(guessed.interval->high, 3 * *guessed.latency_ns);
  EXPECT_EQ(compared.latency_ns, usual.latency_ns);
  EXPECT_EQ(compared.warnings, usual.warnings);
  EXPECT_THAT(guessed.warnings,
              Contains(HasSubstr("no network was compared with the sum of its kernels in replay")));
  EXPECT_THAT(guessed.warnings, Contains(HasSubstr("up to 3.2 times as long")));
}

// The prior of the coefficients has it, where there is one.
TEST_F(CompositionTest, WhatNetworksMissedOfSumsIsCountedOnce) {
  row(test::kCopy1000, 50'000'000);
  small_.empty_call(device_, setting_, 900);
  const Prediction usual = with_spread({});
  const Prediction guessed = with_spread({0.7, false});
  EXPECT_NEAR(*guessed.sd_log, std::hypot(*usual.sd_log, 0.7), 1e-4);
  EXPECT_THAT(guessed.warnings, Contains(HasSubstr("up to 3.2 times as long")));
  EXPECT_NEAR(guessed.interval->high / *guessed.latency_ns, 3.2, 0.05) << "as the warning says";
}

/// Two kernels that take four times as long from memory, on a device that reports 480 MiB of last
/// level, in a model of 100.
class AssumedMemory : public CompositionTest {
 protected:
  AssumedMemory() {
    const table::DeviceId device = small_.device("xeon", 480 << 20);
    for (const char* key : {test::kMatMul, test::kCopy4000}) {
      small_.row(device, setting_, key, 1.1 * kMiB, timing(1'000'000, 0.02));
      small_.row(device, setting_, key, 1024 * kMiB, timing(4'000'000, 0.02));
    }
    large_ = plan({{"a", test::kMatMul, 1}, {"b", test::kCopy4000, 1}});
    large_.weight_bytes = 100 * kMiB;
    selection_ = must(select_rows(small_.table(), {.device = "xeon"}, compat::catalogue()));
  }
  Prediction ask_about(const table::Plan& p) {
    return must(predict(small_.table(), selection_, p, {}));
  }
  table::Plan large_;
  Selection selection_;
};

TEST_F(AssumedMemory, AReportedSizeThatDecidesIsSaidAndTheIntervalReachesBothEnds) {
  const Prediction p = ask_about(large_);
  EXPECT_DOUBLE_EQ(p.latency_ns.value(), 2'000'000);
  EXPECT_GE(p.interval->high, 8'000'000) << "both kernels come from memory, or none";
  EXPECT_LT(p.interval->high, 8'500'000);
  EXPECT_THAT(p.warnings,
              Contains(HasSubstr("xeon reports 480 MiB of last-level cache, which nobody")));
  table::Plan small = large_;
  small.weight_bytes = 8 * kMiB;
  EXPECT_THAT(ask_about(small).warnings, Not(Contains(HasSubstr("nobody measured"))));
  EXPECT_LT(ask_about(small).interval->high, 2'400'000);
}

TEST_F(AssumedMemory, WhatWasMeasuredReplacesIt) {
  table::MemoryHierarchy memory;
  memory.levels = {{kMiB, 1, 5}, {15 * kMiB, 2, 40}, {std::nullopt, 4, 170}};
  memory.last = table::Eviction{{12 * kMiB, 48 * kMiB}, {}, {12 * kMiB, 48 * kMiB}, {}};
  // Seen to be flat beyond.
  memory.points = {{12 << 20, 2, 40, 2, 40}};
  for (const std::int64_t mib : {48, 96, 192}) memory.points.push_back({mib << 20, 4, 170, 4, 170});
  selection_.memory = memory;
  const Prediction p = ask_about(large_);
  EXPECT_DOUBLE_EQ(p.latency_ns.value(), 8'000'000);
  EXPECT_LT(p.interval->high, 9'500'000);
  EXPECT_THAT(p.warnings, Not(Contains(HasSubstr("nobody measured"))));
  // Nobody saw how it goes on, up to the row of 1 GiB: not the most probable time, but the
  // interval.
  memory.points.clear();
  selection_.memory = memory;
  EXPECT_DOUBLE_EQ(ask_about(large_).latency_ns.value(), 8'000'000);
  EXPECT_LT(ask_about(large_).interval->low, 6'000'000);
  // A curve that lies elsewhere at times is common to both kernels.
  memory.last->stream = table::MemoryRamp{120 * kMiB, 240 * kMiB};
  selection_.memory = memory;
  EXPECT_LT(ask_about(large_).interval->low, 2'050'000);
}

TEST_F(AssumedMemory, LooksTellWhatOthersBringInBeforeAnyModelWasTimed) {
  table::MemoryHierarchy memory;
  memory.levels = {{kMiB, 1, 5}, {15 * kMiB, 2, 20}, {std::nullopt, 4, 170}};
  const estimate::Ramp last{12 * kMiB, 48 * kMiB};
  memory.last = table::Eviction{{12 * kMiB, 48 * kMiB}, {}, {12 * kMiB, 48 * kMiB}, {}};
  memory.points = {{12 << 20, 2, 20, 2, 20}};
  for (const std::int64_t mib : {48, 96, 192}) memory.points.push_back({mib << 20, 4, 170, 4, 170});
  selection_.memory = memory;
  table::Plan small = large_;
  small.weight_bytes = 8 * kMiB;
  const Prediction alone = ask_about(small);
  EXPECT_DOUBLE_EQ(alone.latency_ns.value(), 2'000'000) << "nobody looked";
  EXPECT_EQ(alone.composition.foreign_bytes, 0);
  constexpr double kRate = 10;
  const std::int64_t pool = 4 << 20;
  for (const double ms : {0.0, 1.0, 2.0, 4.0, 8.0})
    selection_.memory->waits.push_back(
        {pool, ms * 1e6,
         20 * std::pow(8.5, estimate::lost_among_others(last, static_cast<double>(pool),
                                                        kRate * ms * 1e6))});
  const Prediction shared = ask_about(small);
  // Half of it in the model's time; the first step lets in by the kernels alone.
  EXPECT_NEAR(shared.composition.foreign_bytes, 0.5 * kRate * *shared.latency_ns,
              0.25 * shared.composition.foreign_bytes);
  const double lost = estimate::lost_among_others(last, 8 * kMiB, shared.composition.foreign_bytes);
  ASSERT_GT(lost, 0.1);
  EXPECT_NEAR(*shared.latency_ns, 2'000'000 * std::pow(4, lost), 0.1 * *shared.latency_ns);
  EXPECT_GT(shared.sd_log, alone.sd_log) << "nobody knows which share models feel";
}

TEST_F(AssumedMemory, TheTableSaysWhatWasMeasured) {
  EXPECT_FALSE(selection_.memory);
  table::MemoryHierarchy memory;
  memory.levels = {{kMiB, 1, 5}, {std::nullopt, 4, 170}};
  memory.last = table::Eviction{{12 * kMiB, 48 * kMiB}, {}, {12 * kMiB, 48 * kMiB}, {}};
  table::Environment environment;
  environment.facts[table::kMemoryFact] = table::encode(memory);
  must(small_.table().add_campaign(selection_.device_id, setting_, {}, environment));
  const auto found = must(select_rows(small_.table(), {.device = "xeon"}, compat::catalogue()));
  EXPECT_EQ(found.memory, memory);
}

TEST_F(AssumedMemory, AFitKnowsTheCurve) {
  selection_.fit = CompositionFit();
  selection_.fit->curve = estimate::ReuseCurve{std::nullopt, {16 * kMiB, 64 * kMiB}};
  const Prediction p = ask_about(large_);
  EXPECT_DOUBLE_EQ(p.latency_ns.value(), 8'000'000);
  EXPECT_THAT(p.warnings, Not(Contains(HasSubstr("nobody measured"))));
}

TEST_F(CompositionTest, AFitKnowsBetterThanWhatNetworksMissedElsewhere) {
  row(test::kCopy1000, 50'000);
  Selection selection = must(select_rows(small_.table(), {}, compat::catalogue()));
  selection.sum_spread = {0.7, false};
  selection.fit = CompositionFit();
  const Prediction fitted =
      must(predict(small_.table(), selection, plan({{"a", test::kCopy1000, 1}}), {}));
  EXPECT_LT(*fitted.sd_log, 0.2);
  EXPECT_THAT(fitted.warnings, Not(Contains(HasSubstr("no network was compared"))));
}

TEST_F(CompositionTest, SomeValuesTakeLonger) {
  const std::string softplus = "Softplus/1{}(f32[250])->(f32[250])";
  const std::string relu = "Relu/14{}(f32[250])->(f32[250])";
  row(softplus.c_str(), 50'000);
  row(relu.c_str(), 50'000);
  row(test::kCopy1000, 5'000'000);
  const Prediction even = must(ask(plan({{"a", relu, 1}})));
  const Prediction uneven = must(ask(plan({{"a", softplus, 1}})));
  EXPECT_EQ(even.latency_ns, uneven.latency_ns);
  EXPECT_GT(*uneven.kernels[0].sd_log, 0.3);
  EXPECT_LT(*even.kernels[0].sd_log, 0.1);
  EXPECT_THAT(uneven.warnings, Contains(HasSubstr("Softplus: some values take longer")));
  EXPECT_THAT(even.warnings, Not(Contains(HasSubstr("some values"))));
  // In a model of which it is little it is not worth a word.
  const Prediction little = must(ask(plan({{"a", softplus, 1}, {"b", test::kCopy1000, 1}})));
  EXPECT_THAT(little.warnings, Not(Contains(HasSubstr("some values"))));
}

TEST_F(CompositionTest, WhatWorksOnASequenceCostsADispatchAndSaysSo) {
  const std::string split = "SplitToSequence/11{axis=0,keepdims=1}(f32[4,64],i64c[]=1)->(any[*])";
  row(plan::kDispatchKey.data(), 200);
  row(test::kCopy1000, 3000);
  small_.empty_call(device_, setting_, 900);
  const Prediction p = must(ask(plan({{"n0", split, 1}, {"n1", test::kCopy1000, 1}})));
  ASSERT_TRUE(p.latency_ns);
  EXPECT_EQ(p.kernels[0].source, Source::Roofline);
  EXPECT_GE(*p.kernels[0].latency_ns, 200);
  EXPECT_LT(*p.kernels[0].latency_ns, 2000);
  EXPECT_THAT(p.kernels[0].why, HasSubstr("sequence"));
  ASSERT_FALSE(p.warnings.empty());
  EXPECT_THAT(p.warnings.back(), HasSubstr("SplitToSequence: works on sequences"));
  EXPECT_GT(p.interval->high / *p.latency_ns, 1.2);
}

TEST_F(CompositionTest, CoverageSharesSumToOne) {
  row(test::kCopy250, 1000);
  row(test::kCopy1000, 3000);
  small_.empty_call(device_, setting_, 900);
  const Prediction p = must(
      ask(plan({{"a", test::kCopy250, 3}, {"b", test::kCopy1000, 2}, {"v", test::kReshape, 5}})));
  EXPECT_DOUBLE_EQ(p.coverage.time.at(Source::Measured), 9000.0 / 9900.0);
  EXPECT_DOUBLE_EQ(p.coverage.time.at(Source::Free), 0);
  EXPECT_DOUBLE_EQ(p.coverage.overhead.value(), 900.0 / 9900.0);
  EXPECT_EQ(p.coverage.count.at(Source::Measured), 5);
  EXPECT_EQ(p.coverage.count.at(Source::Free), 5);
  EXPECT_EQ(p.coverage.count.count(Source::Missing), 0U);
}

TEST_F(CompositionTest, IntervalOfTwoKernels) {
  row(test::kCopy250, 60000, 0.1);
  row(test::kCopy1000, 40000, 0.2);
  const Prediction p = must(ask(plan({{"a", test::kCopy250, 1}, {"b", test::kCopy1000, 1}})));
  const double sd = std::sqrt(0.3 * 0.14 * 0.14 + 0.7 * 0.01 +
                              kCompositionSd * kCompositionSd);  // as in spread_test
  ASSERT_TRUE(p.sd_log && p.interval);
  EXPECT_NEAR(*p.sd_log, sd, 1e-9);
  EXPECT_NEAR(p.interval->low, 100000 * std::exp(-kNormal95 * sd), 1e-3);
  EXPECT_NEAR(p.interval->high, 100000 * std::exp(kNormal95 * sd), 1e-3);
}

TEST_F(CompositionTest, KernelsOfOneKeyShareOneError) {
  row(test::kCopy250, 1000, 0.1);
  const Prediction twice = must(ask(plan({{"a", test::kCopy250, 2}})));
  const Prediction apart = must(ask(plan({{"a", test::kCopy250, 1}, {"b", test::kCopy250, 1}})));
  EXPECT_EQ(twice.interval, apart.interval);
  EXPECT_NEAR(*apart.sd_log, std::hypot(0.1, kCompositionSd), 1e-9);
}

TEST_F(CompositionTest, OverheadDilutesTheSpreadOfKernels) {
  row(test::kCopy250, 1000, 0.1);
  // So long that what is not known of a call is nothing.
  small_.empty_call(device_, setting_, 1e9);
  row(test::kCopy1000, 1e9, 0.1);
  // Half of the time is the kernel's, whose scale is known to 1.5 %.
  EXPECT_NEAR(*must(ask(plan({{"a", test::kCopy1000, 1}}))).sd_log,
              std::hypot(0.05, 0.0075, kCompositionSd), 1e-6);
}

// 300 ns for the call, 60 for each of two kernels, 1.5 % of their time.
TEST_F(CompositionTest, WhatOnlyAFitKnowsOfACallWidensTheInterval) {
  row(test::kCopy250, 1000, 0);
  small_.empty_call(device_, setting_, 1000);
  const Prediction p = must(ask(plan({{"a", test::kCopy250, 2}})));
  EXPECT_NEAR(*p.sd_log, std::hypot(kCompositionSd, std::hypot(300, 120, 30) / 3000), 1e-9);
}

// The device reports 8 MiB of last level: the ramp is at 4 to 10, 2 to 6 at the earliest.
TEST_F(CompositionTest, LargeResultsCostAsFarAsCachesLoseThem) {
  const std::string large = "Relu/14{}(f32[1,100000])->(f32[1,100000])";
  row(large.c_str(), 1e6, 0);
  small_.empty_call(device_, setting_, 1000);
  Selection selection = must(select_rows(small_.table(), {}, compat::catalogue()));
  selection.sum_spread.evicted_byte_ns = 0.01;
  table::Plan p =
      plan({{"a", large, 3}, {"v", "Reshape/14{}(f32[1,100000],i64c[2])->(f32[100000,1])", 1}});
  p.weight_bytes = 5 * kMiB - p.activation_bytes;
  const double beyond = 3 * (400000 - 131072);  // the row's 800 KB go nowhere by themselves
  const double share = std::log(5.0 / 4) / std::log(10.0 / 4);
  const double earliest = std::log(5.0 / 2) / std::log(6.0 / 2);
  const Prediction predicted = must(predict(small_.table(), selection, p, {}));
  EXPECT_NEAR(predicted.composition.evicted_bytes, share * beyond, 1e-6);
  EXPECT_NEAR(*predicted.latency_ns, 1000 + 0.01 * share * beyond + 3e6, 1e-6);
  const double evicted_sd = 0.01 * beyond * (earliest - share) / kNormal95;
  const double unsure_ns = std::sqrt(300 * 300 + 180 * 180 + std::pow(0.006 * share * beyond, 2) +
                                     evicted_sd * evicted_sd + std::pow(0.015 * 3e6, 2));
  EXPECT_NEAR(predicted.composition_sd_log,
              std::hypot(kCompositionSd, unsure_ns / *predicted.latency_ns), 1e-9);
  // All of them in a large model, none in a small one, and half where nobody knows the caches.
  p.weight_bytes = 1e9;
  EXPECT_NEAR(must(predict(small_.table(), selection, p, {})).composition.evicted_bytes, beyond,
              1e-6);
  p.weight_bytes = 1e6;
  EXPECT_EQ(must(predict(small_.table(), selection, p, {})).composition.evicted_bytes, 0);
  selection.device.llc_bytes = 0;
  EXPECT_NEAR(must(predict(small_.table(), selection, p, {})).composition.evicted_bytes,
              0.5 * beyond, 1e-6);
}

// Three element-wise kernels of 4 MB after each other: their rows find operands in the last level,
// as the model does.
TEST_F(CompositionTest, ResultsThatARowLosesByItselfAreNotLostAgain) {
  const std::string large = "Relu/14{}(f32[1,1000000])->(f32[1,1000000])";
  row(large.c_str(), 1e6, 0);
  small_.empty_call(device_, setting_, 1000);
  Selection selection = must(select_rows(small_.table(), {}, compat::catalogue()));
  selection.sum_spread.evicted_byte_ns = 0.01;
  table::Plan p = plan({{"a", large, 3}});
  const auto evicted = [&](double footprint) {
    p.weight_bytes = footprint - p.activation_bytes;
    return must(predict(small_.table(), selection, p, {})).composition.evicted_bytes;
  };
  const double beyond = 3 * (4e6 - 131072);
  const auto gone = [](double mib) { return std::log(mib / 4) / std::log(10.0 / 4); };
  const double of_row = gone(8e6 / kMiB);
  EXPECT_NEAR(evicted(9 * kMiB), beyond * (gone(9) - of_row), 1e-3);
  EXPECT_NEAR(evicted(1e12), beyond * (1 - of_row), 1e-3);
  EXPECT_EQ(evicted(7 * kMiB), 0) << "the model touches less than its row, as far as is known";
  // A fit of the time before goes on as it was made.
  selection.fit.emplace();
  selection.fit->curve = estimate::default_curve(selection.device, selection.memory);
  selection.fit->counted = CountedResults::LeftBeyondRow;
  EXPECT_NEAR(evicted(9 * kMiB), beyond * (gone(9) - of_row), 1e-3);
  selection.fit->counted = CountedResults::Left;
  EXPECT_NEAR(evicted(9 * kMiB), beyond * gone(9), 1e-3);
  selection.fit->counted = CountedResults::All;
  EXPECT_EQ(evicted(9 * kMiB), p.activation_bytes);
}

TEST_F(CompositionTest, ElementsOf8BitsCountAsMuchAsThoseOf32) {
  const std::string floats = "Relu/14{}(f32[1000000])->(f32[1000000])";
  const std::string bytes = "Relu/14{}(u8[1000000])->(u8[1000000])";
  const std::string bools = "Not/1{}(bool[1000000])->(bool[1000000])";
  for (const std::string& key : {floats, bytes, bools})
    small_.row(device_, setting_, key, 1e3, test::timing(1e6));
  Selection selection = must(select_rows(small_.table(), {}, compat::catalogue()));
  selection.fit.emplace();
  const auto evicted = [&](const std::string& key) { return evicted_of(key, selection); };
  // Half of them where nobody knows the caches.
  EXPECT_NEAR(evicted(floats), 0.5 * (4e6 - 131072), 1e-3);
  EXPECT_NEAR(evicted(bytes), 0.5 * (4e6 - 131072), 1e-3);
  EXPECT_NEAR(evicted(bools), 0.5 * (1e6 - 131072), 1e-3);
  selection.fit->counted = CountedResults::LeftBeyondRow;
  EXPECT_NEAR(evicted(bytes), 0.5 * (1e6 - 131072), 1e-3);
  EXPECT_NEAR(evicted(floats), 0.5 * (4e6 - 131072), 1e-3);
}

TEST_F(CompositionTest, WhatAKernelTakesForItselfCountsWhereItIsMeasuredHotAlone) {
  const auto transposed = [](std::string_view weights) {
    return fmt::format(
        "ConvTranspose/11{{dilations=[1,1],group=1,kernel_shape=[3,3],output_padding=[1,1],"
        "pads=[1,1,1,1],strides=[2,2]}}(f32[1,64,64,64],{})->(f32[1,32,128,128])",
        weights);
  };
  // Weights that the model makes, and constants, which have rows of cold caches.
  const std::string made = transposed("f32[64,32,3,3]");
  const std::string constant = transposed("f32c[64,32,3,3]");
  for (const std::string& key : {made, constant})
    small_.row(device_, setting_, key, 1e3, test::timing(1e6));
  Selection selection = must(select_rows(small_.table(), {}, compat::catalogue()));
  selection.fit.emplace();
  const auto evicted = [&](const std::string& key) { return evicted_of(key, selection); };
  constexpr double kResult = 32.0 * 128 * 128 * 4;
  constexpr double kColumns = 32.0 * 9 * 64 * 64 * 4;
  // Half of them where nobody knows the caches.
  EXPECT_NEAR(evicted(made), 0.5 * (kResult + 4 * kColumns - 131072), 1e-3);
  EXPECT_NEAR(evicted(constant), 0.5 * (kResult - 131072), 1e-3);
  selection.fit->counted = CountedResults::WithWide8Bits;
  EXPECT_NEAR(evicted(made), 0.5 * (kResult - 131072), 1e-3);
}

TEST_F(CompositionTest, WhatABranchHandsOnIsOfTheKernelsThatWroteIt) {
  const std::string branch = "If/13{}(bool[])->(f32[1000000])";
  const std::string kernel = "Neg/13{}(f32[1000000])->(f32[1000000])";
  for (const std::string& key : {branch, kernel})
    small_.row(device_, setting_, key, 1e3, test::timing(1e6));
  Selection selection = must(select_rows(small_.table(), {}, compat::catalogue()));
  selection.fit.emplace();
  EXPECT_EQ(evicted_of(branch, selection), 0);
  EXPECT_GT(evicted_of(kernel, selection), 0);
  // A fit of the time before goes on as it was made.
  selection.fit->counted = CountedResults::WithScratch;
  EXPECT_EQ(evicted_of(branch, selection), evicted_of(kernel, selection));
}

TEST_F(CompositionTest, WhatAModelIsGivenCountsWhereItsKernelIsMeasuredHotAlone) {
  const auto conv = [](int filters) {
    return fmt::format(
        "Conv/11{{dilations=[1,1],group=1,kernel_shape=[3,3],pads=[1,1,1,1],strides=[1,1]}}"
        "(f32[1,64,64,64],f32c[{0},64,3,3])->(f32[1,{0},64,64])",
        filters);
  };
  const std::string few = conv(8);  // weights, of 18 KiB
  const std::string many = conv(64);
  for (const std::string& key : {few, many})
    small_.row(device_, setting_, key, 1e3, test::timing(1e6));
  Selection selection = must(select_rows(small_.table(), {}, compat::catalogue()));
  selection.fit.emplace();
  constexpr double kImage = 64.0 * 64 * 4;
  constexpr double kInput = 64 * kImage;
  // Half of them where nobody knows the caches.
  EXPECT_NEAR(evicted_of(few, selection, kInput), 0.5 * (8 * kImage + 4 * kInput - 131072), 1e-3);
  EXPECT_NEAR(evicted_of(few, selection, 0), 0, 1e-3);
  EXPECT_NEAR(evicted_of(few, selection), 0, 1e-3) << "a plan that says nothing of it";
  EXPECT_NEAR(evicted_of(many, selection, kInput), 0.5 * (64 * kImage - 131072), 1e-3)
      << "its cold rows have it";
  selection.fit->counted = CountedResults::WithScratch;
  EXPECT_NEAR(evicted_of(few, selection, kInput), 0, 1e-3);
  // Of a table that says anything.
  selection.fit->counted = CountedResults::WithInputs;
  for (const double wrong : {-1.0, std::nan("")})
    EXPECT_NEAR(evicted_of(few, selection, wrong), 0, 1e-3) << wrong;
  const double all = evicted_of(few, selection, kInput);
  for (const double huge : {1e300, std::numeric_limits<double>::infinity()})
    EXPECT_EQ(evicted_of(few, selection, huge), all) << "no kernel reads more than its operands";
  EXPECT_NEAR(evicted_of(few, selection, kInput, 4),
              4 * 0.5 * (8 * kImage + 4 * kInput / 4 - 131072), 1e-3)
      << "bytes of all executions";
}

// Another core's threads read what one core wrote, however small it is. What sums waits for it, a
// product hardly, and functions do not.
TEST_F(CompositionTest, OfSeveralThreadsWhatStaysNearACoreCountsToo) {
  const std::string small = "Relu/14{}(f32[1000])->(f32[1000])";
  const std::string large = "Relu/14{}(f32[100000])->(f32[100000])";
  const std::string product = "MatMul/13{}(f32[10,100],f32c[100,10])->(f32[10,10])";
  const std::string function = "Tanh/13{}(f32[1000])->(f32[1000])";
  const std::string copy = "Split/13{axis=0}(f32[1000],i64c[2]=500)->(f32[500],f32[500])";
  for (const std::string& key : {small, large, product, function, copy})
    small_.row(device_, setting_, key, 1e3, test::timing(1e6));
  Selection selection = must(select_rows(small_.table(), {}, compat::catalogue()));
  const auto kernel_of = [&](const std::string& key, std::int64_t threads) {
    selection.setting.threads = threads;
    table::Plan p = plan({{"a", key, 3}});
    p.weight_bytes = 5 * kMiB;  // within the ramp out of the last level
    return must(predict(small_.table(), selection, p, {})).kernels.front();
  };
  const double lost = kernel_of(large, 1).evicted_bytes;
  const double lost_sd = kernel_of(large, 1).evicted_sd_bytes;
  EXPECT_GT(lost, 0);
  EXPECT_GT(lost_sd, 0);
  EXPECT_EQ(kernel_of(small, 1).evicted_bytes, 0);
  EXPECT_EQ(kernel_of(small, 2).evicted_bytes, 3 * 4000);
  EXPECT_EQ(kernel_of(small, 2).evicted_sd_bytes, 0);
  EXPECT_EQ(kernel_of(large, 2).evicted_bytes, lost + 3 * 131072);
  EXPECT_EQ(kernel_of(large, 2).evicted_sd_bytes, lost_sd);
  EXPECT_EQ(kernel_of(product, 1).evicted_bytes, 0);
  EXPECT_EQ(kernel_of(product, 2).evicted_bytes, 4000) << "the operand that is not constant";
  EXPECT_EQ(kernel_of(function, 2).evicted_bytes, 0);
  EXPECT_EQ(kernel_of(copy, 2).evicted_bytes, 0);
  // Three quarters of it are of others, where two threads have half. Nobody compared four.
  EXPECT_EQ(kernel_of(small, 4).evicted_bytes, 1.5 * 3 * 4000);
  EXPECT_EQ(kernel_of(small, 4).evicted_sd_bytes, 0.5 * 1.5 * 3 * 4000);
  EXPECT_NEAR(kernel_of(large, 4).evicted_sd_bytes, std::hypot(lost_sd, 0.75 * 3 * 131072), 1e-6);
  // A fit of the time before goes on as it was made.
  selection.fit.emplace();
  selection.fit->counted = CountedResults::WithInputs;
  EXPECT_EQ(kernel_of(small, 2).evicted_bytes, 0);
  selection.fit->counted = CountedResults::AmongThreads;
  EXPECT_EQ(kernel_of(small, 2).evicted_bytes, 4000);
}

TEST_F(CompositionTest, EachKernelTakesWhatTheRuntimesDo) {
  row(test::kCopy250, 1000, 0);
  Selection selection = must(select_rows(small_.table(), {}, compat::catalogue()));
  selection.sum_spread.kernel_ns = 70;
  const table::Plan p = plan({{"a", test::kCopy250, 3}, {"v", test::kReshape, 5}});
  // Of an imported table nothing is known of calls.
  EXPECT_EQ(*must(predict(small_.table(), selection, p, {})).latency_ns, 3000);
  small_.empty_call(device_, setting_, 500);
  const Prediction called = must(predict(small_.table(), selection, p, {}));
  EXPECT_EQ(called.composition.c1_ns, 70);
  EXPECT_EQ(*called.latency_ns, 500 + 3 * 70 + 3000);
}

TEST_F(CompositionTest, KernelsOfImpossibleSizeAreNoNumberlessTimes) {
  const std::string huge = fmt::format("Relu/14{{}}(f32[{0},{0},{0}])->(f32[{0},{0},{0}])",
                                       std::numeric_limits<std::int64_t>::max());
  // 4e307 elements, whose bits no number holds.
  std::string infinite = "Relu/14{}(f32[20000";
  for (int i = 0; i < 16; ++i) infinite += ",9000000000000000000";
  infinite += "])->(" + infinite.substr(infinite.find("f32")) + "])";
  for (const std::string& key : {huge, infinite}) {
    row(key.c_str(), 1000, 0);
    const Prediction predicted = must(ask(plan({{"a", key, 1}})));
    EXPECT_TRUE(std::isfinite(*predicted.latency_ns)) << key;
  }
}

TEST_F(CompositionTest, ACallThatWasAlwaysTimedOnASharedCoreWidensTheInterval) {
  row(test::kCopy250, 1000, 0);
  row(test::kCopy1000, 100000, 0);
  small_.empty_call(device_, setting_, 2000, "no");
  const Prediction shared = must(ask(plan({{"a", test::kCopy250, 1}})));
  EXPECT_EQ(shared.composition.c0_ns, 2000);
  const double call = std::hypot(300, 800);
  EXPECT_NEAR(*shared.sd_log, std::hypot(kCompositionSd, std::hypot(call, 60, 15) / 3000), 1e-9);
  EXPECT_THAT(shared.warnings, Contains(HasSubstr("a call of the runtime, 2.00 us, was never")));
  const Prediction long_one = must(ask(plan({{"a", test::kCopy1000, 1}})));
  EXPECT_THAT(long_one.warnings, Not(Contains(HasSubstr("a call of the runtime"))));

  // One that is known from a core of its own shows that the shorter one is right, too.
  small_.empty_call(device_, setting_, 2100, "yes");
  const Prediction alone = must(ask(plan({{"a", test::kCopy250, 1}})));
  EXPECT_EQ(alone.composition.c0_ns, 2000);
  EXPECT_LT(*alone.sd_log, *shared.sd_log);
  EXPECT_THAT(alone.warnings, Not(Contains(HasSubstr("a call of the runtime"))));
}

TEST_F(CompositionTest, RowsOfABusyMachineAreWiderAndErrTogether) {
  table::Row row;
  row.outcome = timing(50000, 0.02);
  row.method = {16, "chain", {table::kUnderLoad}};
  for (const char* key : {test::kCopy250, test::kCopy1000}) {
    row.key = key;
    must(small_.table().put_row(device_, setting_, std::nullopt, row));
  }
  const Prediction one = must(ask(plan({{"a", test::kCopy250, 1}})));
  const double own = std::hypot(0.02, estimate::kUnderLoadSd);
  EXPECT_NEAR(*one.sd_log, std::hypot(own, kCompositionSd), 1e-6);
  EXPECT_THAT(one.warnings, Contains(HasSubstr("on a busy machine: its time may be up to")));
  const Prediction two = must(ask(plan({{"a", test::kCopy250, 1}, {"b", test::kCopy1000, 1}})));
  EXPECT_NEAR(*two.sd_log, std::hypot(own * std::sqrt(0.9 + 0.1 / 2), kCompositionSd), 1e-6);
}

TEST_F(CompositionTest, WhatLoadAddedToOtherRowsIsWhatALoadedOneMayMissBy) {
  table::Row row;
  row.key = test::kCopy250;
  row.outcome = timing(50000, 0.02);
  row.method = {16, "chain", {table::kUnderLoad}};
  must(small_.table().put_row(device_, setting_, std::nullopt, row));
  const auto predicted = [&] { return must(ask(plan({{"a", test::kCopy250, 1}}))); };
  EXPECT_THAT(predicted().warnings, Contains(HasSubstr("may be up to 20 % too long")));
  // Sixty others that took the same on a quiet machine.
  for (int size = 1; size <= 60; ++size) {
    const table::RowId other =
        small_.row(device_, setting_, fmt::format("test:copy{{}}(f32[{0}])->(f32[{0}])", size),
                   std::nullopt, timing(1000));
    for (const double load : {0.0, 1.0})
      must(small_.table().add_block(other, test::block_at_load(1000, load)));
  }
  const double load_sd = estimate::kUnderLoadSd / 2;
  EXPECT_NEAR(*predicted().sd_log, std::hypot(0.02, load_sd, kCompositionSd), 1e-6);
  EXPECT_THAT(predicted().warnings, Contains(HasSubstr("may be up to 10 % too long")));
}

TEST_F(CompositionTest, ARowThatNeverHadItsCoreAloneIsWideAndErrsWithOthers) {
  table::Row row;
  row.outcome = timing(50000, 0.02);
  row.method = {16, "chain", {table::kNeverQuiet}};
  const auto sd_of = [&](std::vector<table::PlanKernel> kernels) {
    return *must(ask(plan(std::move(kernels)))).sd_log;
  };
  for (const char* key : {test::kCopy250, test::kCopy1000}) {
    row.key = key;
    must(small_.table().put_row(device_, setting_, std::nullopt, row));
  }
  EXPECT_THAT(must(ask(plan({{"a", test::kCopy250, 1}}))).warnings,
              Contains(HasSubstr("1 of its kernels was measured on a core that something else")));
  const double own = std::hypot(0.02, 0.5);
  EXPECT_NEAR(sd_of({{"a", test::kCopy250, 1}}), std::hypot(own, kCompositionSd), 1e-6);
  EXPECT_NEAR(sd_of({{"a", test::kCopy250, 1}, {"b", test::kCopy1000, 1}}),
              std::hypot(own * std::sqrt(0.9 + 0.1 / 2), kCompositionSd), 1e-6);
}

TEST_F(CompositionTest, TheModelsFootprintChoosesTheCacheState) {
  row(test::kMatMul, 10000, 0.02, 65536.0);
  row(test::kMatMul, 40000, 0.02, 24 * kMiB);
  table::Plan p = plan({{"a", test::kMatMul, 1}});
  EXPECT_DOUBLE_EQ(must(ask(p)).latency_ns.value(), 10000);
  p.weight_bytes = std::sqrt(40.0) * kMiB - 500;
  EXPECT_NEAR(must(ask(p)).latency_ns.value(), 20000, 1e-5);
  p.weight_bytes = 100 * kMiB;
  EXPECT_DOUBLE_EQ(must(ask(p)).latency_ns.value(), 40000);
}

TEST_F(CompositionTest, AMissingKernelLeavesNoLatency) {
  row(test::kCopy250, 1000);
  small_.empty_call(device_, setting_, 1000);
  const Prediction p = must(
      ask(plan({{"a", test::kCopy250, 1}, {"b", test::kCopy1000, 2}, {"c", test::kCopy1000, 1}})));
  EXPECT_FALSE(p.latency_ns);
  EXPECT_FALSE(p.interval);
  EXPECT_THAT(p.missing, ElementsAre(test::kCopy1000));
  EXPECT_EQ(p.kernels[1].source, Source::Missing);
  EXPECT_FALSE(p.kernels[1].latency_ns);
  EXPECT_FALSE(p.kernels[1].sd_log);
  EXPECT_EQ(p.kernels[1].why, "no row; learning needs at least 30 rows, and the table has 1");
  EXPECT_EQ(p.coverage.count.at(Source::Missing), 3);
  EXPECT_DOUBLE_EQ(p.coverage.time.at(Source::Measured), 0.5);
  EXPECT_DOUBLE_EQ(p.coverage.overhead.value(), 0.5);
  EXPECT_EQ(p.coverage.time.count(Source::Missing), 0U);
  const Status status = require_complete(p);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, Code::Missing);
  EXPECT_THAT(status.error().message, HasSubstr("1 of 2 kernels is not in "));
  EXPECT_EQ(p.help.kernels, 2);
  EXPECT_THAT(p.help.types, ElementsAre(std::pair<std::string, std::int64_t>("copy", 1)));
}

TEST_F(CompositionTest, MissingZeroLeavesThemOutAndSaysSo) {
  row(test::kCopy250, 1000);
  const Prediction p =
      must(ask(plan({{"a", test::kCopy250, 1}, {"b", test::kCopy1000, 2}}), MissingPolicy::Zero));
  EXPECT_DOUBLE_EQ(p.latency_ns.value(), 1000);
  EXPECT_TRUE(p.interval);
  EXPECT_THAT(p.missing, ElementsAre(test::kCopy1000));
  EXPECT_FALSE(p.kernels[1].latency_ns);
  EXPECT_THAT(p.warnings, Contains(HasSubstr("count as zero")));
  EXPECT_TRUE(require_complete(p));
}

TEST_F(CompositionTest, TheRooflineAnswersWithAWideSpread) {
  row(test::kCopy250, 1000);
  const Prediction p = must(
      ask(plan({{"a", test::kCopy250, 1}, {"b", test::kCopy1000, 1}}), MissingPolicy::Roofline));
  // One row of 2000 bytes in 1000 ns: overhead 1000 ns, 2 bytes/ns, bound 2000 ns, scale 1/2; so
  // 8000 bytes take (1000 + 4000) / 2.
  EXPECT_NEAR(p.kernels[1].latency_ns.value(), 2500, 1e-6);
  EXPECT_EQ(p.kernels[1].source, Source::Roofline);
  EXPECT_EQ(p.kernels[1].sd_log, 1.0);
  EXPECT_NEAR(p.latency_ns.value(), 3500, 1e-6);
  EXPECT_THAT(p.missing, IsEmpty());
  EXPECT_NEAR(p.coverage.time.at(Source::Roofline), 2500.0 / 3500.0, 1e-12);
}

TEST_F(CompositionTest, WhatIsEstimatedFromRowsOfABusyMachineSaysSo) {
  const auto predicted = [&] {
    return must(ask(plan({{"b", test::kCopy1000, 1}}), MissingPolicy::Roofline));
  };
  for (const char* quiet : {test::kCopy250, test::kCopy4000}) row(quiet, 1000);
  table::Row loaded;
  loaded.key = test::kMatMul;
  loaded.outcome = timing(1e5);
  loaded.method.flags = {table::kUnderLoad};
  must(small_.table().put_row(device_, setting_, std::nullopt, loaded));
  EXPECT_FALSE(predicted().kernels[0].under_load) << "one row in three";
  loaded.reuse_bytes = 1e8;
  must(small_.table().put_row(device_, setting_, std::nullopt, loaded));
  const Prediction p = predicted();
  EXPECT_TRUE(p.kernels[0].under_load);
  EXPECT_THAT(p.kernels[0].why,
              HasSubstr("from rows of which many were measured on a busy machine"));
  EXPECT_THAT(
      p.warnings,
      Contains(HasSubstr("1 of its kernels is estimated from rows of which more than a third")));
}

TEST_F(CompositionTest, TheRooflineCannotAnswerUnknownSizes) {
  row(test::kCopy250, 1000);
  const char* unknown = "test:copy{}(f32[?])->(f32[?])";
  const Prediction p = must(ask(plan({{"b", unknown, 1}}), MissingPolicy::Roofline));
  EXPECT_FALSE(p.latency_ns);
  EXPECT_THAT(p.missing, ElementsAre(unknown));
  EXPECT_THAT(p.kernels[0].why, HasSubstr("a roofline is not available"));
}

TEST_F(CompositionTest, WithoutAnEmptyCallTheOverheadIsAWarnedZero) {
  row(test::kCopy250, 1000);
  const Prediction p = must(ask(plan({{"a", test::kCopy250, 1}})));
  EXPECT_EQ(p.composition.c0_ns, 0);
  EXPECT_THAT(p.warnings, ElementsAre(HasSubstr("no campaign measured an empty call")));
}

TEST_F(CompositionTest, EmptyCallsOfOtherSettingsDoNotCount) {
  row(test::kCopy250, 1000);
  small_.empty_call(device_, small_.setting(test::setting_of(8)), 77);
  EXPECT_EQ(must(ask(plan({{"a", test::kCopy250, 1}}))).composition.c0_ns, 0);
}

TEST_F(CompositionTest, AMismatchWidensTheInterval) {
  row(test::kCopy250, 1000, 0.1);
  const table::Plan p = plan({{"a", test::kCopy250, 1}});
  const Prediction other =
      must(ask(p, MissingPolicy::Error, {.threads = 2, .allow_setting_mismatch = true}));
  EXPECT_DOUBLE_EQ(other.latency_ns.value(), 1000);
  EXPECT_NEAR(*other.sd_log,
              std::sqrt(0.01 + kCompositionSd * kCompositionSd + std::pow(std::log(2.0), 2)), 1e-9);
  ASSERT_EQ(other.mismatch.size(), 1U);
}

TEST_F(CompositionTest, AModelOfViewsTakesTheEmptyCall) {
  row(test::kCopy250, 1000);
  small_.empty_call(device_, setting_, 900);
  const Prediction p = must(ask(plan({{"v", test::kReshape, 1}})));
  EXPECT_DOUBLE_EQ(p.latency_ns.value(), 900);
  EXPECT_EQ(p.composition.n_kernels, 0);
  EXPECT_DOUBLE_EQ(p.coverage.overhead.value(), 1);
}

TEST_F(CompositionTest, NothingAtAllHasNoShares) {
  row(test::kCopy250, 1000);
  const Prediction p = must(ask(plan({})));
  EXPECT_EQ(p.latency_ns, 0);
  EXPECT_THAT(p.coverage.time, IsEmpty());
  EXPECT_FALSE(p.coverage.overhead);
}

TEST_F(CompositionTest, NonsenseFromAStrangersPlanIsRefused) {
  row(test::kCopy250, 1e300);
  EXPECT_EQ(ask(plan({{"a", test::kCopy250, -1}})).error().code, Code::Input);
  const auto most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(ask(plan({{"a", test::kCopy250, most}, {"b", test::kCopy250, 1}})).error().code,
            Code::Input);
  EXPECT_EQ(ask(plan({{"a", test::kCopy250, most / 4}})).error().code, Code::Input);
  table::Plan p = plan({{"a", test::kCopy250, 1}});
  p.weight_bytes = std::nan("");
  EXPECT_EQ(ask(p).error().code, Code::Input);
}

TEST_F(CompositionTest, ALevelBeyondAShareIsUsage) {
  row(test::kCopy250, 1000);
  EXPECT_EQ(ask(plan({}), MissingPolicy::Error, {}, 90).error().code, Code::Usage);
}

TEST_F(CompositionTest, TheLevelSetsTheQuantile) {
  row(test::kCopy250, 1000, 0.04);
  const Prediction p = must(ask(plan({{"a", test::kCopy250, 1}}), MissingPolicy::Error, {}, 0.95));
  EXPECT_NEAR(p.interval->high, 1000 * std::exp(1.9599639845 * std::hypot(0.04, kCompositionSd)),
              1e-6);
}

TEST(MissingPolicy, Words) {
  EXPECT_EQ(must(parse_missing_policy("error")), MissingPolicy::Error);
  EXPECT_EQ(must(parse_missing_policy("physics")), MissingPolicy::Roofline);
  EXPECT_EQ(must(parse_missing_policy("roofline")), MissingPolicy::Roofline);
  EXPECT_EQ(must(parse_missing_policy("zero")), MissingPolicy::Zero);
  EXPECT_EQ(parse_missing_policy("none").error().code, Code::Usage);
}

}  // namespace
}  // namespace oplat::predict
