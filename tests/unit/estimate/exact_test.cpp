// SPDX-License-Identifier: Apache-2.0
#include "estimate/exact.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <vector>

#include "compat/registry.hpp"
#include "estimate/chain.hpp"
#include "estimate/foreign.hpp"
#include "estimate/row_spread.hpp"
#include "unit/estimate/small_table.hpp"

namespace oplat::estimate {
namespace {

using test::must;
using test::SmallTable;
using test::timing;
using ::testing::HasSubstr;

constexpr double kMiB = 1024.0 * 1024.0;

class ExactTest : public ::testing::Test {
 protected:
  std::optional<Estimate> ask(std::string_view key, std::optional<double> reuse_bytes) {
    const auto exact = make_exact(source());
    const Query query{key, reuse_bytes};
    std::optional<Estimate> answer;
    must(exact->estimate({&query, 1}, {&answer, 1}));
    return answer;
  }
  RowSource source() {
    return {&small_.table(),
            device_,
            {setting_},
            ReuseCurve{std::nullopt, {2 * kMiB, 10 * kMiB}},
            &compat::catalogue()};
  }
  table::RowId row(const char* key, std::optional<double> reuse, table::Outcome outcome,
                   const std::string& origin = "own") {
    return small_.row(device_, setting_, key, reuse, std::move(outcome), origin);
  }

  SmallTable small_;
  table::DeviceId device_ = small_.device();
  table::SettingId setting_ = small_.setting();
};

TEST_F(ExactTest, ReturnsARowVerbatim) {
  const double odd = 1234.000000000017;
  const auto id = row(test::kCopy250, std::nullopt, timing(odd, 0.0123));
  const auto answer = ask(test::kCopy250, 5 * kMiB);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->median_ns, odd);
  EXPECT_NEAR(answer->sd_log, 0.0123, 1e-9);
  EXPECT_EQ(answer->source, Source::Measured);
  EXPECT_EQ(answer->tier, "exact");
  EXPECT_EQ(answer->why, "row " + std::to_string(id));
}

TEST_F(ExactTest, AnotherKeyIsNotAnswered) {
  row(test::kCopy250, std::nullopt, timing(1000));
  EXPECT_FALSE(ask(test::kCopy1000, kMiB));
  EXPECT_EQ(must(why_missing(source(), test::kCopy1000)), "no row");
}

TEST_F(ExactTest, ARowWithoutStateAnswersAnyFootprint) {
  row(test::kCopy250, std::nullopt, timing(1000));
  for (const double bytes : {0.0, 5 * kMiB, 1e12})
    EXPECT_EQ(ask(test::kCopy250, bytes)->median_ns, 1000);
}

TEST_F(ExactTest, HotAndColdAreInterpolatedAtTheFootprint) {
  row(test::kMatMul, 65536.0, timing(10000));
  row(test::kMatMul, 24 * kMiB, timing(40000));
  const auto middle = ask(test::kMatMul, std::sqrt(20.0) * kMiB);
  ASSERT_TRUE(middle);
  EXPECT_NEAR(middle->median_ns, 20000, 1e-5);
  EXPECT_EQ(middle->source, Source::Measured);
  EXPECT_EQ(middle->tier, "state");
  EXPECT_THAT(middle->why, HasSubstr("50 % of the way"));
  EXPECT_EQ(ask(test::kMatMul, 1 * kMiB)->median_ns, 10000);
  EXPECT_EQ(ask(test::kMatMul, 100 * kMiB)->median_ns, 40000);
}

TEST_F(ExactTest, StatesGoBeforeRowsWithoutOne) {
  row(test::kCopy250, std::nullopt, timing(9999), "tinynas");
  row(test::kCopy250, 1000.0, timing(500));
  EXPECT_EQ(ask(test::kCopy250, 1000)->median_ns, 500);
}

TEST_F(ExactTest, TheOnlyStateAnswersAndSaysSo) {
  row(test::kMatMul, 65536.0, timing(10000, 0.02));
  const auto far = ask(test::kMatMul, 100 * kMiB);
  ASSERT_TRUE(far);
  EXPECT_EQ(far->median_ns, 10000);
  EXPECT_THAT(far->why, HasSubstr("the only measured cache state"));
  // 1 MiB of weights at 10 bytes a ns may cost another 104858 ns; 3.6 times the hot time is the
  // most ever seen.
  EXPECT_NEAR(far->sd_log, std::hypot(0.02, std::log(3.6)), 1e-9);
  const auto near = ask(test::kMatMul, 65536.0);
  EXPECT_NEAR(near->sd_log, 0.02, 1e-9);
  EXPECT_THAT(near->why, Not(HasSubstr("only")));
}

TEST_F(ExactTest, ColdNeedsNoMeasurementWithoutWeights) {
  row(test::kCopy250, 65536.0, timing(10000, 0.02));
  EXPECT_NEAR(ask(test::kCopy250, 100 * kMiB)->sd_log, 0.02, 1e-9);
}

TEST_F(ExactTest, FewerThanTwoBlocksGetAFloor) {
  row(test::kCopy250, std::nullopt, timing(1000, 0.0, 1));
  row(test::kCopy1000, std::nullopt, timing(1000, 0.0, 2));
  row(test::kCopy4000, std::nullopt, timing(1000, 0.2, 1));
  EXPECT_NEAR(ask(test::kCopy250, 0)->sd_log, 0.08, 1e-9);
  EXPECT_THAT(ask(test::kCopy250, 0)->why, HasSubstr("fewer than 2 blocks"));
  EXPECT_NEAR(ask(test::kCopy1000, 0)->sd_log, 0.0, 1e-9);
  EXPECT_NEAR(ask(test::kCopy4000, 0)->sd_log, 0.2, 1e-9);
}

TEST_F(ExactTest, WhatAFitSawOfRowsLeftOutTakesThePlaceOfTheFloor) {
  row(test::kCopy250, std::nullopt, timing(1000, 0.0, 1));
  row(test::kCopy1000, std::nullopt, timing(1000, 0.05, 1));
  row(test::kCopy4000, std::nullopt, timing(1e6, 0.0, 1));
  std::vector<LeftOutRow> left_out(200, {std::log(1000.0), 0.0329});
  left_out.resize(400, {std::log(1e6), 0.5});
  must(small_.table().put_fit(
      device_, setting_, {std::string(kRowSpreadFormat), 1, RowSpread::learn(left_out)->save()}));
  EXPECT_NEAR(ask(test::kCopy250, 0)->sd_log, 0.02, 1e-4);
  EXPECT_THAT(ask(test::kCopy250, 0)->why, HasSubstr("fewer than 2 blocks: spread of 2.0 %"));
  EXPECT_NEAR(ask(test::kCopy1000, 0)->sd_log, 0.05, 1e-9)
      << "what the row itself says, where it says more";
  EXPECT_NEAR(ask(test::kCopy4000, 0)->sd_log, 0.08, 1e-9) << "no more than where nothing is known";
  row(test::kMatMul, std::nullopt, timing(1000, 0.0, 1));
  EXPECT_NEAR(ask(test::kCopy250, 0)->sd_log, 0.08, 1e-9) << "a fit of other rows is none";
}

constexpr const char* kSwish = "paddle_lite:swish{}(f32[1,8,4,4])->(f32[1,8,4,4])";
constexpr const char* kSwishOpen = "paddle_lite:swish{}(f32[?,8,4,4])->(f32[?,8,4,4])";

TEST_F(ExactTest, ARowOfAnOpenBatchAnswersForOneImageAndSaysSo) {
  const auto id = row(kSwishOpen, std::nullopt, timing(1000, 0.05), "paddleslim");
  const auto answer = ask(kSwish, 5 * kMiB);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->median_ns, 1000);
  EXPECT_EQ(answer->source, Source::Measured);
  EXPECT_EQ(answer->tier, "twin");
  EXPECT_NEAR(answer->sd_log, std::hypot(0.05, 0.13), 1e-9);
  EXPECT_EQ(answer->why, "row " + std::to_string(id) + ", from the table's key with batch -1");
  EXPECT_FALSE(ask("paddle_lite:swish{}(f32[2,8,4,4])->(f32[2,8,4,4])", 0))
      << "measured with one image";
  row(kSwish, std::nullopt, timing(1200, 0.05), "paddleslim");
  EXPECT_EQ(ask(kSwish, 0)->median_ns, 1200) << "its own row comes first";
  EXPECT_EQ(ask(kSwish, 0)->tier, "exact");
}

TEST_F(ExactTest, ARowOfAnOpenBatchThatCannotBeAnswersForNothing) {
  // Twenty believable rows say what the machine reaches; the last one would move a thousand times
  // as many bytes in a ns.
  for (int channels = 8; channels < 28; ++channels) {
    const std::string key =
        fmt::format("paddle_lite:swish{{}}(f32[1,{0},64,64])->(f32[1,{0},64,64])", channels);
    row(key.c_str(), std::nullopt, timing(channels * 20'000.0, 0.05), "paddleslim");
  }
  row("paddle_lite:swish{}(f32[?,32,64,64])->(f32[?,32,64,64])", std::nullopt, timing(600, 0.05),
      "paddleslim");
  row("paddle_lite:swish{}(f32[?,40,64,64])->(f32[?,40,64,64])", std::nullopt,
      timing(800'000, 0.05), "paddleslim");
  EXPECT_FALSE(ask("paddle_lite:swish{}(f32[1,32,64,64])->(f32[1,32,64,64])", 0));
  EXPECT_TRUE(ask("paddle_lite:swish{}(f32[1,40,64,64])->(f32[1,40,64,64])", 0));
}

TEST_F(ExactTest, AQuestionOfAnOpenBatchIsAnsweredToo) {
  row(kSwish, std::nullopt, timing(1200, 0.05), "paddleslim");
  EXPECT_EQ(ask(kSwishOpen, 0)->tier, "twin");
  row(kSwishOpen, std::nullopt, timing(1000, 0.05), "paddleslim");
  const auto answer = ask(kSwishOpen, 0);
  EXPECT_EQ(answer->median_ns, 1000) << "the original looks up -1 literally";
  EXPECT_EQ(answer->tier, "exact");
}

TEST_F(ExactTest, WhatATextDoesNotSayMatchesAModelsKernel) {
  constexpr const char* kRow =
      "paddle_lite:conv2d{activation=?,bias=?,bit_length=None,dilations=[?,1],group=1,pads=[?,?,0,"
      "0],quant=None,strides=[?,1]}"
      "(f32[1,8,4,4],f32c[4,8,1,1])->(f32[1,4,4,4])";
  constexpr const char* kKernel =
      "paddle_lite:conv2d{activation=relu,bias=true,bit_length=None,dilations=[1,1],group=1,pads=["
      "0,0,0,0],quant=None,strides=[1,1]}"
      "(f32[1,8,4,4],f32c[4,8,1,1])->(f32[1,4,4,4])";
  EXPECT_FALSE(ask(kKernel, 0));
  EXPECT_EQ(must(why_missing(source(), kKernel)),
            "no row of 'conv2d in=(1, 8, 4, 4) weight=(4, 8, 1, 1) out=(1, 4, 4, 4) pad=0 stride=1 "
            "group=1 dilation=1 quant=None "
            "bit_length=None'");
  row(kRow, std::nullopt, timing(1000, 0.05), "paddleslim");
  const auto answer = ask(kKernel, 0);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->tier, "exact");
  EXPECT_NEAR(answer->sd_log, 0.05, 1e-9);
}

TEST_F(ExactTest, SpellingsAreFoundAmongManyQuestionsToo) {
  row(kSwishOpen, std::nullopt, timing(1000, 0.05), "paddleslim");
  const auto exact = make_exact(source());
  const auto ask_one = [&](const std::string& key) {
    const Query query{key, std::nullopt};
    std::optional<Estimate> answer;
    must(exact->estimate({&query, 1}, {&answer, 1}));
    return answer;
  };
  for (int i = 0; i < 600; ++i)
    EXPECT_FALSE(ask_one(fmt::format("paddle_lite:swish{{}}(f32[{0},9])->(f32[{0},9])", i + 1)));
  EXPECT_TRUE(ask_one(kSwish));
}

TEST_F(ExactTest, SeveralForeignRowsGiveTheirGeometricMean) {
  row(test::kCopy250, std::nullopt, timing(1000, 0.01), "tinynas");
  row(test::kCopy250, std::nullopt, timing(4000, 0.01), "tinynas");
  const auto answer = ask(test::kCopy250, 0);
  ASSERT_TRUE(answer);
  EXPECT_NEAR(answer->median_ns, 2000, 1e-9);
  // Two logs ln 2 away from their mean: standard deviation sqrt(2) ln 2.
  EXPECT_NEAR(answer->sd_log, std::sqrt(2.0) * 0.69314718056, 1e-9);
}

TEST_F(ExactTest, OutcomesWithoutATimeAnswerNothingAndSayWhy) {
  row(test::kCopy250, std::nullopt, table::Unsupported{"no such kernel"});
  row(test::kCopy1000, std::nullopt, timing(0.0));
  EXPECT_FALSE(ask(test::kCopy250, 0));
  EXPECT_FALSE(ask(test::kCopy1000, 0));
  EXPECT_THAT(must(why_missing(source(), test::kCopy250)),
              HasSubstr("unsupported: no such kernel"));
  EXPECT_THAT(must(why_missing(source(), test::kCopy1000)), HasSubstr("not a positive number"));
}

TEST_F(ExactTest, AKeyWithAQuestionMarkMatchesNothingNotEvenItself) {
  const char* unknown = "test:copy{pads=[?,1]}(f32[250])->(f32[250])";
  const char* quoted = "test:copy{text=\"what?\"}(f32[250])->(f32[250])";
  row(unknown, std::nullopt, timing(1000));
  row(quoted, std::nullopt, timing(2000));
  EXPECT_FALSE(ask(unknown, 0));
  EXPECT_THAT(must(why_missing(source(), unknown)), HasSubstr("matches no row"));
  ASSERT_TRUE(ask(quoted, 0));
  EXPECT_EQ(ask(quoted, 0)->median_ns, 2000);
}

TEST_F(ExactTest, AnotherBuildAnswersOnlyWhereTheFirstDoesNot) {
  const auto other = small_.setting(test::setting_of(1, "replay", "1.0", "b2"));
  row(test::kCopy250, std::nullopt, timing(1000));
  small_.row(device_, other, test::kCopy250, std::nullopt, timing(7000));
  small_.row(device_, other, test::kCopy1000, std::nullopt, timing(3000));
  const auto exact =
      make_exact({&small_.table(), device_, {setting_, other}, std::nullopt, &compat::catalogue()});
  const Query queries[] = {{test::kCopy250, 0.0}, {test::kCopy1000, 0.0}};
  std::optional<Estimate> answers[2];
  must(exact->estimate(queries, answers));
  EXPECT_EQ(answers[0]->median_ns, 1000);
  EXPECT_EQ(answers[1]->median_ns, 3000);
  EXPECT_THAT(answers[1]->why, HasSubstr("of another build"));
}

TEST_F(ExactTest, LeavesAnswersThatAreThereAlone) {
  row(test::kCopy250, std::nullopt, timing(1000));
  const auto exact = make_exact(source());
  const Query query{test::kCopy250, 0.0};
  std::optional<Estimate> answer = Estimate{5, 0, "free", Source::Free, "exact", "before"};
  must(exact->estimate({&query, 1}, {&answer, 1}));
  EXPECT_EQ(answer->median_ns, 5);
}

TEST_F(ExactTest, SpansOfDifferentLengthAreRefused) {
  const auto exact = make_exact(source());
  const Query query{test::kCopy250, 0.0};
  EXPECT_EQ(exact->estimate({&query, 1}, {}).error().code, Code::Internal);
}

TEST_F(ExactTest, SamplesAreTheUsableRowsOfTheSource) {
  const auto other_device = small_.device("other");
  row(test::kCopy250, 100.0, timing(std::exp(7.0)));
  row(test::kCopy1000, std::nullopt, table::Failed{"crash"});
  small_.row(other_device, setting_, test::kCopy4000, std::nullopt, timing(5));
  const auto samples = must(read_samples(source()));
  ASSERT_EQ(samples.size(), 1U);
  EXPECT_EQ(samples[0].key, test::kCopy250);
  EXPECT_EQ(samples[0].reuse_bytes, 100.0);
  EXPECT_NEAR(samples[0].log_ns, 7.0, 1e-12);
}

// Their times may be twice as long; where most are such, nobody knows which are not.
TEST_F(ExactTest, ModelsLearnFromRowsThatHadTheirCoresUnlessMostHadNot) {
  const auto loud = [&](const char* key) {
    table::Row row;
    row.key = key;
    row.origin = "own";
    row.outcome = timing(2000);
    row.method.flags = {table::kNeverQuiet};
    must(small_.table().put_row(device_, setting_, std::nullopt, row));
  };
  row(test::kCopy250, std::nullopt, timing(1000));
  row(test::kCopy1000, std::nullopt, timing(1000));
  loud(test::kCopy4000);
  EXPECT_EQ(must(read_samples_in_states(source())).size(), 2U);
  EXPECT_EQ(must(read_samples(source())).size(), 3U) << "operators that have times";
  loud(test::kMatMul);
  EXPECT_EQ(must(read_samples_in_states(source())).size(), 4U) << "half of them";
}

TEST_F(ExactTest, SamplesSayTheirState) {
  row(test::kCopy250, 1e3, timing(1000));
  row(test::kCopy250, 1e12, timing(3000));
  row(test::kCopy1000, 1e12, timing(4000));
  std::map<double, std::size_t> states;
  for (const Sample& sample : must(read_samples_in_states(source())))
    states[std::round(std::exp(sample.log_ns))] = sample.state;
  EXPECT_EQ(states.at(1000), 0U);
  EXPECT_GT(states.at(3000), 0U);
  EXPECT_EQ(states.at(4000), 0U) << "the only one of its key";
}

// A hot row that is left out, since its cores were never its own, leaves a cold one.
TEST_F(ExactTest, AColdRowStaysColdWithoutItsHotOne) {
  table::Row loud;
  loud.key = test::kCopy250;
  loud.origin = "own";
  loud.reuse_bytes = 1e3;
  loud.outcome = timing(1000);
  loud.method.flags = {table::kNeverQuiet};
  must(small_.table().put_row(device_, setting_, std::nullopt, loud));
  row(test::kCopy250, 1e12, timing(3000));
  row(test::kCopy1000, std::nullopt, timing(2000));
  const auto samples = must(read_samples_in_states(source()));
  ASSERT_EQ(samples.size(), 2U) << "without the loud one";
  for (const Sample& sample : samples)
    EXPECT_EQ(sample.state > 0, sample.key == test::kCopy250) << sample.key;
}

// A row of copies in turn, 13 times 10 us from one use of a weight to the next.
TEST_F(ExactTest, ARowOfTheLastLevelGivesBackWhatOthersTook) {
  RowSource shared = source();
  const Ramp last{2 * kMiB, 10 * kMiB};
  shared.curve = ReuseCurve{Ramp{0.25 * kMiB, 1 * kMiB}, last};
  const auto at = [&](double mib, double foreign_mib) {
    const Query query{test::kMatMul, mib * kMiB, true, {foreign_mib * kMiB, 0}};
    std::optional<Estimate> answer;
    must(make_exact(shared)->estimate({&query, 1}, {&answer, 1}));
    return *answer;
  };
  row(test::kMatMul, 0.1 * kMiB, timing(9'000));
  table::Row copies;
  copies.key = test::kMatMul;
  copies.origin = "own";
  copies.reuse_bytes = 1.5 * kMiB;
  copies.outcome = timing(12'000);
  copies.method.copies = 13;
  must(small_.table().put_row(device_, setting_, std::nullopt, copies));
  row(test::kMatMul, 64 * kMiB, timing(20'000));
  EXPECT_EQ(at(1.5, 0).median_ns, 12'000);
  EXPECT_GT(at(1.5, 4).median_ns, 12'000) << "a model's own time lets others in";
  shared.foreign = {10, last};
  const double foreign_mib = 10 * 13 * 12'000 / kMiB;
  const double lost = lost_among_others(last, 1.5 * kMiB, foreign_mib * kMiB);
  ASSERT_GT(lost, 0.1);
  ASSERT_LT(lost, kMostLost);
  const double alone = std::exp((std::log(12'000.0) - lost * std::log(20'000.0)) / (1 - lost));
  ASSERT_GT(alone, 9'000);
  EXPECT_NEAR(at(1.5, 0).median_ns, alone, 1e-6);
  EXPECT_THAT(at(1.5, 0).why, ::testing::HasSubstr("less what others took"));
  EXPECT_NEAR(at(1.5, foreign_mib).median_ns, 12'000, 1e-6) << "a model that waits as long";
  // Where others took nearly all, the row says nothing of the last level.
  for (const double rate : {1e3, 1e300}) {
    shared.foreign = {rate, last};
    EXPECT_EQ(at(1.5, 0).median_ns, 9'000);
  }
}

TEST_F(ExactTest, TheHostIsTheDeviceWithTheThreadsOfTheFirstSetting) {
  const auto host = [&](const std::string& isa, const std::string& architecture) {
    table::Device device;
    device.name = architecture + isa;
    device.architecture = architecture;
    device.isa = isa;
    RowSource rows = source();
    rows.device = must(small_.table().put_device(device));
    rows.settings = {small_.setting(test::setting_of(3)), setting_};
    return must(host_of(rows));
  };
  EXPECT_EQ(host("avx2 fma", "x86_64").lanes, 8);
  EXPECT_EQ(host("avx2 avx512f fma", "x86_64").lanes, 16);
  EXPECT_EQ(host("", "x86_64").lanes, ir::Host().lanes) << "imported: nobody knows";
  EXPECT_EQ(host("neon", "aarch64").lanes, ir::Host().lanes);
  EXPECT_EQ(host("avx2 fma", "x86_64").threads, 3);
  RowSource unknown = source();
  unknown.settings = {1234};
  EXPECT_EQ(must(host_of(unknown)).threads, 1);
}

TEST_F(ExactTest, TheChainAsksTheRooflineLastAndOnlyIfTold) {
  row(test::kCopy250, std::nullopt, timing(1000));
  const Query queries[] = {{test::kCopy250, 0.0}, {test::kCopy1000, 0.0}};
  std::optional<Estimate> answers[2];
  must(estimate_all(must(make_chain(source(), {})), queries, answers));
  EXPECT_EQ(answers[0]->source, Source::Measured);
  EXPECT_FALSE(answers[1]);
  must(estimate_all(must(make_chain(source(), {.roofline = true})), queries, answers));
  EXPECT_EQ(answers[0]->source, Source::Measured);
  ASSERT_TRUE(answers[1]);
  EXPECT_EQ(answers[1]->source, Source::Roofline);
}

}  // namespace
}  // namespace oplat::estimate
