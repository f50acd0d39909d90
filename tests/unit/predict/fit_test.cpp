// SPDX-License-Identifier: Apache-2.0
/// Fits to whole models whose times follow the formula, so that the right answer is known.
#include "predict/fit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/random.hpp"
#include "predict/compose.hpp"
#include "predict/fit_sums.hpp"
#include "predict/load.hpp"
#include "predict/prediction.hpp"
#include "unit/estimate/small_table.hpp"

namespace oplat::predict {
namespace {

using test::must;
using test::SmallTable;
using test::timing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct MadeModels {
  std::vector<KernelSum> sums;
  std::vector<MeasuredTime> measured;
};

/// Of a machine whose empty call takes so long, and of which little is known.
CoefficientPrior vague_prior(double call_ns) {
  CoefficientPrior prior;
  prior.mean.c0_ns = call_ns;
  prior.sd = {1000, 300, 0.02, 0.1, 0.1};
  return prior;
}

/// What compose.cpp takes for ONNX Runtime, about.
CoefficientPrior sharp_prior() {
  CoefficientPrior prior;
  prior.mean.c0_ns = 1300;
  prior.mean.c2_ns_per_byte = 0.004;
  prior.sd = {300, 60, 0.008, 0.015, 0.03};
  return prior;
}

/// Thirty models of latency = 2000 + 150 n + scale * sum.
MadeModels made_models(double scale) {
  MadeModels made;
  for (int i = 1; i <= 30; ++i) {
    KernelSum sum;
    sum.parts.ns = 20e3 * i;
    sum.parts.kernels = 10 + (7 * i) % 40;
    made.sums.push_back(sum);
    made.measured.push_back({2000 + 150 * sum.parts.kernels + scale * sum.parts.ns, 0.002});
  }
  return made;
}

TEST(FitSums, FindsTheCoefficientsThatMadeTheTimes) {
  const MadeModels made = made_models(1);
  const FittedSums fitted = fit_sums(made.sums, made.measured, vague_prior(1500));
  EXPECT_NEAR(fitted.coefficients.c1_ns, 150, 20);
  EXPECT_NEAR(fitted.coefficients.c0_ns, 2000, 450);
  EXPECT_LT(fitted.sd_log, 0.01);
  // Within two of its own standard deviations, and those are smaller than before.
  EXPECT_LT(std::sqrt(fitted.covariance.at(Unknown::kC1, Unknown::kC1)), 20);
  EXPECT_NEAR(fitted.coefficients.c0_ns, 2000, 2 * std::sqrt(fitted.covariance.at(kC0, kC0)));
}

TEST(FitSums, OneWildModelHardlyBendsTheOthers) {
  std::vector<KernelSum> sums;
  std::vector<MeasuredTime> measured;
  for (int i = 1; i <= 20; ++i) {
    KernelSum sum;
    sum.parts.ns = 50e3 * i;
    sum.parts.kernels = 20 + (7 * i) % 40;
    sums.push_back(sum);
    measured.push_back({1000 + 100 * sum.parts.kernels + sum.parts.ns, 0.005});
  }
  measured[10].ns *= 2;
  EXPECT_NEAR(fit_sums(sums, measured, vague_prior(1000)).coefficients.c1_ns, 100, 60);
}

TEST(FitSums, TellsAFactorOfTheKernelsFromATimePerKernel) {
  for (const double scale : {0.97, 1.0, 1.04}) {
    const MadeModels made = made_models(scale);
    const FittedSums fitted = fit_sums(made.sums, made.measured, vague_prior(1500));
    EXPECT_NEAR(fitted.coefficients.scale, scale, 0.003);
    EXPECT_NEAR(fitted.coefficients.c1_ns, 150, 25);
  }
}

TEST(FitSums, TellsAFactorOfKernelsInEightBitsFromThatOfTheOthers) {
  MadeModels made = made_models(1.02);
  for (std::size_t i = 0; i < made.sums.size(); i += 3) {
    made.sums[i].parts.int8_ns = 0.8 * made.sums[i].parts.ns;
    made.measured[i].ns += 0.04 * made.sums[i].parts.int8_ns;
  }
  const Coefficients fitted = fit_sums(made.sums, made.measured, vague_prior(1500)).coefficients;
  EXPECT_NEAR(fitted.scale, 1.02, 0.004);
  EXPECT_NEAR(fitted.scale_int8, 1.06, 0.008);
  // Models without such kernels say nothing of them: they are taken as the others.
  const Coefficients without =
      fit_sums(made_models(1.02).sums, made_models(1.02).measured, vague_prior(1500)).coefficients;
  EXPECT_DOUBLE_EQ(without.scale_int8, without.scale);
}

TEST(FitSums, TellsATimePerByteOfResultsFromAFactorOfTheKernels) {
  MadeModels made = made_models(1.02);
  for (std::size_t i = 0; i < made.sums.size(); ++i) {
    // Some models write much for their time, some little.
    made.sums[i].parts.evicted_bytes = (i % 3 == 0 ? 10.0 : 1.0) * made.sums[i].parts.ns;
    made.measured[i].ns += 0.008 * made.sums[i].parts.evicted_bytes;
  }
  const Coefficients fitted = fit_sums(made.sums, made.measured, vague_prior(1500)).coefficients;
  EXPECT_NEAR(fitted.c2_ns_per_byte, 0.008, 0.0008);
  EXPECT_NEAR(fitted.scale, 1.02, 0.006);
}

TEST(FitSums, NoByteMakesAModelFaster) {
  MadeModels made = made_models(1.02);
  for (std::size_t i = 0; i < made.sums.size(); ++i) {
    made.sums[i].parts.evicted_bytes = (i % 3 == 0 ? 10.0 : 1.0) * made.sums[i].parts.ns;
    made.measured[i].ns -= 0.004 * made.sums[i].parts.evicted_bytes;
  }
  const Coefficients fitted = fit_sums(made.sums, made.measured, vague_prior(1500)).coefficients;
  EXPECT_EQ(fitted.c2_ns_per_byte, 0);
  EXPECT_LT(fitted.scale, 1.02);
  EXPECT_GT(fitted.scale, 0.98);
}

TEST(FitSums, NoTimesMakeAScaleThatARecordCannotHold) {
  KernelSum sum;
  sum.parts.ns = 1e6;
  sum.parts.kernels = 5;
  const std::vector<KernelSum> sums(40, sum);
  for (const double measured : {1e3, 1e10}) {
    const Coefficients fitted =
        fit_sums(sums, std::vector<MeasuredTime>(40, {measured, 0.01}), vague_prior(0))
            .coefficients;
    EXPECT_GE(fitted.scale, kMinScale);
    EXPECT_LE(fitted.scale, kMaxScale);
    EXPECT_GE(fitted.c0_ns, 0);
  }
}

KernelSum sum_of_ten_ms() {
  KernelSum sum;
  sum.parts.ns = 10e6;
  sum.parts.kernels = 50;
  sum.parts.evicted_bytes = 8e6;
  return sum;
}

TEST(FitSums, WithoutModelsThePriorComesBack) {
  const CoefficientPrior prior = sharp_prior();
  const FittedSums fitted = fit_sums({}, {}, prior);
  EXPECT_NEAR(fitted.coefficients.c0_ns, 1300, 1e-6);
  EXPECT_NEAR(fitted.coefficients.c2_ns_per_byte, 0.004, 1e-12);
  EXPECT_NEAR(fitted.coefficients.scale, 1, 1e-12);
  EXPECT_DOUBLE_EQ(fitted.sd_log, prior.sd_log);
  for (std::size_t i = 0; i < kUnknowns; ++i)
    EXPECT_NEAR(fitted.covariance.at(i, i) / (prior.sd[i] * prior.sd[i]), 1, 1e-9) << i;
}

TEST(FitSums, AFewModelsStayNearTheMeasuredEmptyCall) {
  const FittedSums fitted = fit_sums(std::vector{sum_of_ten_ms()},
                                     std::vector<MeasuredTime>{{10.2e6, 0.01}}, sharp_prior());
  // 200 us too little over 50 kernels would be 4 us each; one model of 10 ms says little about
  // either coefficient.
  EXPECT_LT(fitted.coefficients.c1_ns, 100);
  EXPECT_LT(fitted.coefficients.scale, 1.02);
  EXPECT_NEAR(fitted.coefficients.c0_ns, 1300, 300);
}

// By hand: one unknown, scale, of prior 1 +- 0.1; a model measured at 1.08 times its kernels, known
// to 2 %, of a composition known to spread by 1 %. Its error is far from an outlier, so that its
// weight is nearly the normal one.
TEST(FitSums, OneModelMovesTheScaleByItsPrecision) {
  CoefficientPrior prior;
  prior.sd = {1e-3, 1e-6, 1e-12, 0.1, 1e-9};
  prior.sd_log = 0.01;
  prior.sd_log_doubt = 1e-3;
  KernelSum sum;
  sum.parts.ns = 10e6;
  const std::vector<KernelSum> sums{sum};
  const auto scale_of = [&](double sd) {
    return fit_sums(sums, std::vector<MeasuredTime>{{10.8e6, sd}}, prior);
  };
  const double known = 1 / (0.02 * 0.02 + 0.01 * 0.01) / (1.08 * 1.08);
  const FittedSums fitted = scale_of(0.02);
  EXPECT_NEAR(fitted.coefficients.scale - 1, 0.08 * known / (known + 100), 0.003);
  EXPECT_NEAR(std::sqrt(fitted.covariance.at(kScale, kScale)), 1 / std::sqrt(known + 100), 0.003);
  // A model that is hardly known hardly moves it, and leaves it as unsure as it was.
  EXPECT_LT(scale_of(0.5).coefficients.scale, 1.005);
  EXPECT_GT(std::sqrt(scale_of(0.5).covariance.at(kScale, kScale)), 0.095);
}

TEST(FitSums, WhatModelsSayNothingAboutStaysUnsure) {
  // Three models that write next to nothing.
  std::vector<KernelSum> sums;
  std::vector<MeasuredTime> measured;
  for (int i = 1; i <= 3; ++i) {
    KernelSum sum;
    sum.parts.ns = 1e6 * i;
    sum.parts.kernels = 30;
    sums.push_back(sum);
    measured.push_back({1.02e6 * i + 1300, 0.005});
  }
  const CoefficientPrior prior = sharp_prior();
  const FittedSums fitted = fit_sums(sums, measured, prior);
  EXPECT_NEAR(std::sqrt(fitted.covariance.at(kC2, kC2)), prior.sd[kC2], 1e-6);
  EXPECT_LT(std::sqrt(fitted.covariance.at(kScale, kScale)), prior.sd[kScale]);
  SumParts writes_much = sums[2].parts;
  writes_much.evicted_bytes = 50e6;
  EXPECT_GT(fitted.covariance.variance_ns2(writes_much), std::pow(0.008 * 50e6, 2));
}

TEST(FitSpread, WithoutErrorsItIsThePriors) {
  const SpreadFit spread = fit_spread({}, sharp_prior());
  EXPECT_DOUBLE_EQ(spread.sd_log, sharp_prior().sd_log);
  EXPECT_DOUBLE_EQ(spread.measured_correlation, kMeasuredCorrelation);
}

TEST(FitSpread, TheNoiseOfAMeasurementIsNotThePredictions) {
  base::Random random(9);
  std::vector<ErrorTerm> errors;
  for (int i = 0; i < 400; ++i) {
    ErrorTerm error;
    error.noise_variance = 0.05 * 0.05;
    error.log_error = std::hypot(0.05, 0.02) * random.normal();
    errors.push_back(error);
  }
  EXPECT_NEAR(fit_spread(errors, sharp_prior()).sd_log, 0.02, 0.007);
}

TEST(FitSpread, FindsTheSpreadThatMadeTheErrors) {
  base::Random random(7);
  for (const double sd : {0.01, 0.05}) {
    std::vector<ErrorTerm> errors;
    for (int i = 0; i < 400; ++i) {
      ErrorTerm error;
      error.linear = 0.002;
      error.squares = 1e-6;
      error.log_error = sd * random.normal();
      errors.push_back(error);
    }
    EXPECT_NEAR(fit_spread(errors, sharp_prior()).sd_log, sd, 0.15 * sd);
  }
}

// One of seventeen small networks was off by 25 %, and all intervals were 4 % wider for it.
TEST(FitSpread, OneOutlierDoesNotWidenAllIntervals) {
  base::Random random(11);
  std::vector<ErrorTerm> errors;
  for (int i = 0; i < 16; ++i) errors.push_back({.log_error = 0.02 * random.normal()});
  const double without = fit_spread(errors, sharp_prior()).sd_log;
  for (const double outlier : {0.25, -0.25, 9.0}) {
    errors.push_back({.log_error = outlier});
    const double with = fit_spread(errors, sharp_prior()).sd_log;
    EXPECT_GE(with, without);
    EXPECT_LT(with, 1.35 * without) << outlier;
    errors.pop_back();
  }
  // A third are not outliers.
  for (int i = 0; i < 8; ++i) errors.push_back({.log_error = i % 2 == 0 ? 0.15 : -0.15});
  EXPECT_GT(fit_spread(errors, sharp_prior()).sd_log, 3 * without);
}

TEST(CompositionRecord, SurvivesItsText) {
  CompositionFit fit;
  fit.c0_ns = 1234.5;
  fit.c1_ns = -3;
  fit.c2_ns_per_byte = 0.0078125;
  fit.scale = 1.0625;
  fit.scale_int8 = 1.125;
  fit.curve = estimate::ReuseCurve{estimate::Ramp{1e5, 2e6}, {8e6, 4e7, 0.125}};
  fit.curve->earliest = estimate::Ramp{4e6, 2e7};
  fit.curve->latest = estimate::Ramp{9e6, 9e7, 0.25};
  fit.covariance.at(kC0, kC0) = 90000;
  fit.covariance.at(kScale, kScale) = fit.covariance.at(kScaleInt8, kScaleInt8) = 4e-4;
  fit.covariance.at(kScaleInt8, kScale) = -1e-4;
  fit.sd_log = 0.021;
  fit.foreign_bytes_per_ns = 6.5;
  fit.foreign_share = 0.25;
  fit.foreign_share_sd = 0.125;
  fit.moments = {0.0625, 0.125, estimate::Ramp{8e6, 3e7, 0.25}};
  fit.measured_correlation = 0.2;
  fit.scores = {0.1, 0.9, 1.7};
  fit.groups = {{"a.onnx", "small"}, {"b \"quoted\".onnx", "large"}};
  EXPECT_EQ(must(decode_composition(encode(fit))), fit);
  fit.curve->own.reset();
  EXPECT_EQ(must(decode_composition(encode(fit))), fit);
  fit.curve.reset();
  fit.moments.last.reset();
  EXPECT_EQ(must(decode_composition(encode(fit))), fit);
}

TEST(CompositionRecord, OneThatCountsOtherBytesOfResultsSaysSo) {
  const auto of_format = [](int format) {
    return fmt::format(
        R"({{"schema":"oplat.composition/{}","c0_ns":1,"c1_ns":2,"c2_ns_per_byte":0.5,"scale":1.5,"scale_int8":1.25,"curve":null,"sd_log":0.04,"moment_sd_log":0.02,"covariance":[4,0,0,0,0,0,0,0,0,0,0,0,0,0,0],"measured_correlation":0.3,"scores":[],"groups":{{"a":"b"}}}})",
        format);
  };
  for (const auto& [format, counted] :
       {std::pair(6, CountedResults::All), std::pair(7, CountedResults::Left),
        std::pair(8, CountedResults::LeftBeyondRow), std::pair(9, CountedResults::WithWide8Bits),
        std::pair(10, CountedResults::WithScratch), std::pair(11, CountedResults::WithInputs),
        std::pair(12, CountedResults::AmongThreads), std::pair(13, CountedResults::ByReaders)}) {
    const CompositionFit fit = must(decode_composition(of_format(format)));
    EXPECT_EQ(fit.counted, counted);
    EXPECT_EQ(fit.moments, (MomentSpread{0.02})) << "what it says of all models";
    EXPECT_THAT(fit.groups, ::testing::SizeIs(1));
    EXPECT_EQ(must(decode_composition(encode(fit))), fit) << "not as one of another meaning";
  }
  EXPECT_EQ(must(decode_composition(encode(CompositionFit()))).counted, CountedResults::ByReaders);
}

TEST(CompositionRecord, OneWhoseNumbersOfAHostCannotBeIsRefused) {
  CompositionFit fit;
  fit.foreign_bytes_per_ns = 6.5;
  fit.foreign_share = 0.25;
  fit.moments = {0.0625, 0.125, estimate::Ramp{8e6, 3e7}};
  const std::string good = encode(fit);
  const auto with = [&](const std::string& part, const std::string& other) {
    std::string text = good;
    const auto at = text.find(part);
    EXPECT_NE(at, std::string::npos) << part << " in " << text;
    return text.replace(at, part.size(), other);
  };
  for (const std::string& text :
       {with(R"(per_ns":6.5)", R"(per_ns":-1)"), with(R"(per_ns":6.5)", R"(per_ns":1e7)"),
        with(R"(share":0.25)", R"(share":2)"), with(R"(share":0.25)", R"(share":"x")"),
        with(R"(reach":0.125)", R"(reach":6)"), with(R"(reach":0.125)", R"(reach":-1)"),
        with(R"("lo_bytes":8000000.0)", R"("lo_bytes":4e7)"),
        with(R"("lo_bytes":8000000.0)", R"("lo_bytes":null)")}) {
    const auto decoded = decode_composition(text);
    ASSERT_FALSE(decoded) << text;
    EXPECT_THAT(decoded.error().message, HasSubstr("oplat fit"));
  }
}

TEST(CompositionRecord, OneOfTheTimeBeforeScaleIsRead) {
  const CompositionFit fit = must(decode_composition(
      R"({"schema":"oplat.composition/1","c0_ns":1,"c1_ns":2,"curve":null,"sd_log":0.04,"measured_correlation":0.3,"scores":[0.5]})"));
  EXPECT_EQ(fit.scale, 1);
  EXPECT_EQ(fit.scale_int8, 1);
  EXPECT_EQ(fit.c1_ns, 2);
  EXPECT_EQ(fit.sd_log, 0.04);
}

TEST(CompositionRecord, OneOfTheTimeOfOneScaleIsReadAsThatOfAllKernels) {
  const CompositionFit fit = must(decode_composition(
      R"({"schema":"oplat.composition/2","c0_ns":1,"c1_ns":2,"scale":1.5,"curve":null,"sd_log":0.04,"measured_correlation":0.3,"scores":[]})"));
  EXPECT_EQ(fit.scale, 1.5);
  EXPECT_EQ(fit.scale_int8, 1.5);
}

TEST(CompositionRecord, OneOfTheTimeBeforeBytesOfResultsIsRead) {
  const CompositionFit fit = must(decode_composition(
      R"({"schema":"oplat.composition/3","c0_ns":1,"c1_ns":2,"scale":1.5,"scale_int8":1.25,"curve":null,"sd_log":0.04,"measured_correlation":0.3,"scores":[]})"));
  EXPECT_EQ(fit.c2_ns_per_byte, 0);
  EXPECT_EQ(fit.scale, 1.5);
  EXPECT_EQ(fit.scale_int8, 1.25);
}

TEST(CompositionRecord, OneOfTheTimeBeforeCoefficientsWereUnsureIsRead) {
  const CompositionFit fit = must(decode_composition(
      R"({"schema":"oplat.composition/4","c0_ns":1,"c1_ns":2,"c2_ns_per_byte":0.5,"scale":1.5,"scale_int8":1.25,"curve":{"own":null,"last":{"lo_bytes":9,"hi_bytes":99}},"sd_log":0.04,"measured_correlation":0.3,"scores":[]})"));
  EXPECT_EQ(fit.c2_ns_per_byte, 0.5);
  EXPECT_EQ(fit.covariance, CoefficientCovariance());
  ASSERT_TRUE(fit.curve);
  EXPECT_FALSE(fit.curve->earliest);
}

TEST(CompositionRecord, OneOfTheTimeBeforeGroupsWereKeptHasNone) {
  const CompositionFit fit = must(decode_composition(
      R"({"schema":"oplat.composition/5","c0_ns":1,"c1_ns":2,"c2_ns_per_byte":0.5,"scale":1.5,"scale_int8":1.25,"curve":null,"sd_log":0.04,"covariance":[4,0,0,0,0,0,0,0,0,0,0,0,0,0,0],"measured_correlation":0.3,"scores":[]})"));
  EXPECT_EQ(fit.covariance.at(kC0, kC0), 4);
  EXPECT_THAT(fit.groups, IsEmpty());
}

TEST(CompositionRecord, NamesThatAreNotUtf8AreReplacedNotThrown) {
  CompositionFit fit;
  fit.groups = {{"\xff.onnx", "group"}};
  EXPECT_TRUE(decode_composition(encode(fit)));
}

TEST(CompositionRecord, RubbishIsRefusedNotBelieved) {
  CompositionFit fit;
  const std::string good = encode(fit);
  for (
      const std::string& text :
      {std::string(),
       std::string("null"),
       std::string("[]"),
       good.substr(0, good.size() / 2),
       std::string("{\"schema\":\"oplat.composition/3\"}"),
       std::string(
           R"({"schema":"oplat.composition/2","c0_ns":1,"c1_ns":0,"curve":null,"sd_log":0.03,"measured_correlation":0.3,"scores":[]})"),
       std::string(
           R"({"schema":"oplat.composition/2","c0_ns":1,"c1_ns":0,"scale":0,"curve":null,"sd_log":0.03,"measured_correlation":0.3,"scores":[]})"),
       std::string(
           R"({"schema":"oplat.composition/3","c0_ns":1,"c1_ns":0,"scale":1,"curve":null,"sd_log":0.03,"measured_correlation":0.3,"scores":[]})"),
       std::string(
           R"({"schema":"oplat.composition/4","c0_ns":1,"c1_ns":0,"scale":1,"scale_int8":1,"curve":null,"sd_log":0.03,"measured_correlation":0.3,"scores":[]})"),
       std::string(
           R"({"schema":"oplat.composition/4","c0_ns":1,"c1_ns":0,"c2_ns_per_byte":-1,"scale":1,"scale_int8":1,"curve":null,"sd_log":0.03,"measured_correlation":0.3,"scores":[]})"),
       std::string(
           R"({"schema":"oplat.composition/5","c0_ns":1,"c1_ns":0,"c2_ns_per_byte":0,"scale":1,"scale_int8":1,"curve":null,"sd_log":0.03,"measured_correlation":0.3,"scores":[]})"),
       std::string(
           R"({"schema":"oplat.composition/5","c0_ns":1,"c1_ns":0,"c2_ns_per_byte":0,"scale":1,"scale_int8":1,"curve":null,"sd_log":0.03,"covariance":[1,2],"measured_correlation":0.3,"scores":[]})"),
       std::string(
           R"({"schema":"oplat.composition/5","c0_ns":1,"c1_ns":0,"c2_ns_per_byte":0,"scale":1,"scale_int8":1,"curve":null,"sd_log":0.03,"covariance":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,"x"],"measured_correlation":0.3,"scores":[]})"),
       std::string(
           R"({"schema":"oplat.composition/5","c0_ns":1,"c1_ns":0,"c2_ns_per_byte":0,"scale":1,"scale_int8":1,"curve":null,"sd_log":0.03,"covariance":[-1,0,0,0,0,0,0,0,0,0,0,0,0,0,0],"measured_correlation":0.3,"scores":[]})"),
       std::string(
           R"({"schema":"oplat.composition/5","c0_ns":1,"c1_ns":0,"c2_ns_per_byte":0,"scale":1,"scale_int8":1,"curve":null,"sd_log":0.03,"covariance":[1,5,1,0,0,0,0,0,0,0,0,0,0,0,0],"measured_correlation":0.3,"scores":[]})"),
       std::string(
           R"({"schema":"oplat.composition/6","c0_ns":1,"c1_ns":0,"c2_ns_per_byte":0,"scale":1,"scale_int8":1,"curve":null,"sd_log":0.03,"covariance":[1,0,0,0,0,0,0,0,0,0,0,0,0,0,0],"measured_correlation":0.3,"scores":[]})"),
       std::string(
           R"({"schema":"oplat.composition/6","c0_ns":1,"c1_ns":0,"c2_ns_per_byte":0,"scale":1,"scale_int8":1,"curve":null,"sd_log":0.03,"covariance":[1,0,0,0,0,0,0,0,0,0,0,0,0,0,0],"measured_correlation":0.3,"scores":[],"groups":{"a":3}})"),
       std::string(
           R"({"schema":"oplat.composition/1","c0_ns":-1,"c1_ns":0,"curve":null,"sd_log":0.03,"measured_correlation":0.3,"scores":[]})"),
       std::string(
           R"({"schema":"oplat.composition/1","c0_ns":1,"c1_ns":0,"curve":{"own":null,"last":{"lo_bytes":9,"hi_bytes":9}},"sd_log":0.03,"measured_correlation":0.3,"scores":[]})"),
       std::string(
           R"({"schema":"oplat.composition/1","c0_ns":1,"c1_ns":0,"curve":3,"sd_log":0.03,"measured_correlation":0.3,"scores":[]})"),
       std::string(
           R"({"schema":"oplat.composition/1","c0_ns":1,"c1_ns":0,"curve":null,"sd_log":0.03,"measured_correlation":0.3,"scores":["a"]})")}) {
    const auto decoded = decode_composition(text);
    ASSERT_FALSE(decoded) << text;
    EXPECT_THAT(decoded.error().message, HasSubstr("oplat fit"));
  }
}

class FitTest : public ::testing::Test {
 protected:
  static constexpr double kC0 = 1000;
  static constexpr double kC1 = 200;
  static constexpr double kScale = 1.03;
  static constexpr double kShort = 2e3;
  static constexpr double kLong = 50e3;

  static std::string key(int size) {
    return fmt::format("test:copy{{}}(f32[{}])->(f32[{}])", size, size);
  }

  /// A view with a constant of so many bytes.
  static table::PlanKernel weights_of(double bytes) {
    return {"w", fmt::format("Reshape/14{{allowzero=0}}(f32[4],u8c[{:.0f}])->(f32[4])", bytes), 1,
            std::nullopt, 0.0};
  }

  /// A model of `n` short kernels and some long ones, so that a time per kernel and a factor of all
  /// of them differ; measured at what the formula says times `factor`.
  void model(const std::string& name, int n, double factor = 1, double ci = 0.002,
             bool under_load = false, double weights = 0, const std::string& identity = "",
             double blocks_apart = 0.01) {
    table::Plan plan;
    plan.model = name;
    plan.identity = identity.empty() ? "plan of " + name : identity;
    plan.weight_bytes = weights;
    const int more = 3 * n % 7;
    plan.kernels = {{"a", key(100), n, std::nullopt, 0.0},
                    {"b", key(200), more, std::nullopt, 0.0}};
    if (weights > 0) plan.kernels.push_back(weights_of(weights));
    must(small_.table().put_plan(plan));
    table::ModelRow row;
    row.name = name;
    row.plan_identity = plan.identity;
    const double ns = factor * (kC0 + kC1 * (n + more) + kScale * (kShort * n + kLong * more));
    auto measured = timing(ns, blocks_apart);
    measured.ci_low_ns = ns * (1 - ci);
    measured.ci_high_ns = ns * (1 + ci);
    row.outcome = measured;
    if (under_load) row.method.flags = {"disturbed", table::kUnderLoad};
    must(small_.table().put_model_row(device_, setting_, std::nullopt, row));
  }
  Result<FitResult> fit(FitRequest request = {}) {
    OPLAT_TRY(selection, select_rows(small_.table(), {}, ir::Catalogue::own()));
    return fit_composition(small_.table(), selection, request);
  }

  void SetUp() override {
    small_.row(device_, setting_, key(100), std::nullopt, timing(kShort, 0.005));
    small_.row(device_, setting_, key(200), std::nullopt, timing(kLong, 0.005));
    small_.empty_call(device_, setting_, kC0);
  }

  SmallTable small_;
  table::DeviceId device_ = small_.device();
  table::SettingId setting_ = small_.setting();
};

TEST_F(FitTest, PredictsModelsThatItDidNotSee) {
  for (int i = 0; i < 24; ++i) model(fmt::format("net{:02}.onnx", i), 5 + 3 * i);
  const FitResult result = must(fit());
  EXPECT_NEAR(result.fit.c1_ns, kC1, 20);
  EXPECT_NEAR(result.fit.scale, kScale, 0.005);
  ASSERT_EQ(result.left_out.size(), 24U);
  for (const LeftOutModel& left : result.left_out) {
    EXPECT_NEAR(left.predicted_ns / left.measured.median_ns, 1, 0.01) << left.name;
    EXPECT_LT(left.unfitted_ns, left.measured.median_ns);
    EXPECT_GT(left.interval.high, left.interval.low);
  }
  EXPECT_EQ(result.fit.scores.size(), 24U);
  EXPECT_TRUE(std::is_sorted(result.fit.scores.begin(), result.fit.scores.end()));
}

TEST(CompositionRecord, OneOfTheTimeBeforeMomentsWereKeptHasNone) {
  CompositionFit fit;
  fit.sd_log = 0.02;
  fit.scores = {1};
  std::string text = encode(fit);
  const std::string moments = R"("moment_sd_log":0.0,)";
  const auto at = text.find(moments);
  ASSERT_NE(at, std::string::npos) << text;
  text.erase(at, moments.size());
  EXPECT_EQ(must(decode_composition(text)), fit);
  text.insert(at, R"("moment_sd_log":7.0,)");
  EXPECT_FALSE(decode_composition(text));
}

// Blocks of one network that are far apart say that the machine is another one at each moment, and
// who times a model meets one of them.
TEST_F(FitTest, MomentsOfTheMachineWidenIntervals) {
  const auto half_width = [](const FitResult& result) {
    double sum = 0;
    for (const LeftOutModel& left : result.left_out)
      sum += (left.interval.high - left.interval.low) / left.predicted_ns;
    return sum / static_cast<double>(2 * result.left_out.size());
  };
  for (int i = 0; i < 24; ++i) model(fmt::format("net{:02}.onnx", i), 5 + 3 * i);
  const FitResult steady = must(fit());
  EXPECT_DOUBLE_EQ(steady.fit.moments.sd_log, 0.01);
  // One in three, that one alone was disturbed: the median stays.
  for (int i = 0; i < 24; i += 3)
    model(fmt::format("net{:02}.onnx", i), 5 + 3 * i, 1, 0.002, false, 0, "", 0.2);
  EXPECT_DOUBLE_EQ(must(fit()).fit.moments.sd_log, 0.01);
  for (int i = 0; i < 24; ++i)
    model(fmt::format("net{:02}.onnx", i), 5 + 3 * i, 1, 0.002, false, 0, "", 0.05);
  const FitResult moved = must(fit());
  EXPECT_DOUBLE_EQ(moved.fit.moments.sd_log, 0.05);
  // What is said of a model that is left out rests on the others.
  model("net00.onnx", 5, 1, 0.002, false, 0, "", 1e300);
  EXPECT_DOUBLE_EQ(must(fit()).fit.moments.sd_log, 0.05);
  EXPECT_EQ(moved.fit.sd_log, steady.fit.sd_log) << "their medians are what they were";
  EXPECT_GT(half_width(moved), 3 * half_width(steady));
}

TEST_F(FitTest, FindsHowMuchOfTheLastLevelIsLeft) {
  constexpr double kLevelBytes = 1024.0 * 1024.0;
  constexpr double kHot = 10e3;
  constexpr double kCold = 40e3;
  small_.row(device_, setting_, test::kMatMul, 1.0 * kLevelBytes, timing(kHot, 0.005));
  small_.row(device_, setting_, test::kMatMul, 24.0 * kLevelBytes, timing(kCold, 0.005));
  // What this machine does: of its cache of 8 MiB others take more than usual, by a standard
  // deviation.
  const auto towards_earliest = [](double start, double end) {
    return start * std::pow(end / start, 1 / 1.6448536) * kLevelBytes;
  };
  const estimate::Ramp truth{towards_earliest(4, 2), towards_earliest(10, 6)};
  for (int i = 0; i < 24; ++i) {
    table::Plan plan;
    plan.model = fmt::format("net{:02}.onnx", i);
    plan.identity = "plan of " + plan.model;
    plan.weight_bytes = (1 + 0.4 * i) * kLevelBytes;
    plan.kernels = {{"a", test::kMatMul, 4 + 5 * i % 7}};
    must(small_.table().put_plan(plan));
    table::ModelRow row;
    row.name = plan.model;
    row.plan_identity = plan.identity;
    const double one = kHot * std::pow(kCold / kHot, truth.gone(plan.weight_bytes));
    auto measured = timing(kC0 + kScale * static_cast<double>(plan.kernels[0].count) * one, 0.01);
    measured.ci_low_ns = 0.998 * measured.median_ns;
    measured.ci_high_ns = 1.002 * measured.median_ns;
    row.outcome = measured;
    must(small_.table().put_model_row(device_, setting_, std::nullopt, row));
  }
  const FitResult result = must(fit());
  ASSERT_TRUE(result.fit.curve);
  const auto place = [](const estimate::Ramp& ramp) {
    return std::sqrt(ramp.lo_bytes * ramp.hi_bytes);
  };
  EXPECT_NEAR(std::log(place(result.fit.curve->last) / place(truth)), 0, 0.15);
  // It is known far better than before.
  ASSERT_TRUE(result.fit.curve->earliest && result.fit.curve->latest);
  EXPECT_LT(place(*result.fit.curve->latest) / place(*result.fit.curve->earliest), 1.3);
  // How it goes on beyond the ramp no model was asked.
  const auto selection = must(select_rows(small_.table(), {}, ir::Catalogue::own()));
  const auto start = estimate::default_curve(selection.device, selection.memory).value();
  EXPECT_GT(start.latest->rise_per_octave, 0);
  EXPECT_EQ(result.fit.curve->latest->rise_per_octave, start.latest->rise_per_octave);
  EXPECT_EQ(result.fit.curve->earliest->rise_per_octave, start.earliest->rise_per_octave);
  for (const LeftOutModel& left : result.left_out)
    EXPECT_NEAR(left.predicted_ns / left.measured.median_ns, 1, 0.01) << left.name;
}

// A host whose neighbours bring 6 bytes a ns into the last level, all of which models feel, though
// half is likelier before.
TEST_F(FitTest, FindsWhatOthersBringIntoTheLastLevel) {
  constexpr double kLevelBytes = 1024.0 * 1024.0;
  constexpr double kPool = 4 * kLevelBytes;
  constexpr double kRate = 6;
  constexpr double kGap = 0.5;
  constexpr double kOfLevel = 0.05;
  constexpr int kKernels = 60;
  const estimate::Ramp last{16 * kLevelBytes, 64 * kLevelBytes};
  const auto key_of = [](int i) {
    return fmt::format("MatMul/13{{}}(f32[1,{0}],f32c[{0},512])->(f32[1,512])", 512 + i);
  };
  const auto hot_ns = [](int i) { return 2e3 * std::pow(200, i / (kKernels - 1.0)); };
  const auto in_state = [&](int i, double lost) {
    return hot_ns(i) * std::exp(kGap * (kOfLevel + (1 - kOfLevel) * lost));
  };
  for (int i = 0; i < kKernels; ++i) {
    small_.row(device_, setting_, key_of(i), kLevelBytes / 4, timing(hot_ns(i), 0.005));
    table::Row row;
    row.key = key_of(i);
    row.origin = "own";
    row.reuse_bytes = kPool;
    row.method.copies = 4;
    // The row lasts as long as others let it.
    double ns = hot_ns(i);
    for (int step = 0; step < 50; ++step)
      ns = in_state(i, estimate::lost_among_others(last, kPool, kRate * 4 * ns));
    row.outcome = timing(ns, 0.005);
    must(small_.table().put_row(device_, setting_, std::nullopt, row));
    small_.row(device_, setting_, key_of(i), 96 * kLevelBytes, timing(in_state(i, 1), 0.005));
  }
  for (int i = 0; i < 24; ++i) {
    table::Plan plan;
    plan.model = fmt::format("net{:02}.onnx", i);
    plan.identity = "plan of " + plan.model;
    plan.weight_bytes = (3 + i % 6) * kLevelBytes;
    double alone = 0;
    for (int k = 0; k < 8; ++k) {
      const int kernel = (7 * i + 5 * k) % kKernels;
      plan.kernels.push_back({"a", key_of(kernel), 1 + i % 4});
      alone += (1 + i % 4) * hot_ns(kernel);
    }
    must(small_.table().put_plan(plan));
    double ns = alone;
    for (int step = 0; step < 50; ++step)
      ns = kC0 + alone / hot_ns(0) *
                     in_state(0, estimate::lost_among_others(last, plan.weight_bytes,
                                                             kRate * (ns - kC0)));
    table::ModelRow row;
    row.name = plan.model;
    row.plan_identity = plan.identity;
    auto measured = timing(ns, 0.01);
    measured.ci_low_ns = 0.998 * ns;
    measured.ci_high_ns = 1.002 * ns;
    row.outcome = measured;
    must(small_.table().put_model_row(device_, setting_, std::nullopt, row));
  }
  Selection selection = must(select_rows(small_.table(), {}, ir::Catalogue::own()));
  selection.device.l2_bytes = 1 << 20;
  selection.memory.emplace();
  selection.memory->levels = {{2e6, 1, 5}, {15e6, 2, 40}, {std::nullopt, 4, 170}};
  const table::MemoryRamp ramp{last.lo_bytes, last.hi_bytes};
  selection.memory->last = table::Eviction{ramp, ramp, ramp, std::nullopt};
  const FitResult result = must(fit_composition(small_.table(), selection, {}));
  EXPECT_NEAR(result.fit.foreign_bytes_per_ns / kRate, 1, 0.15);
  EXPECT_EQ(result.fit.foreign_share, 1);
  EXPECT_LT(result.fit.foreign_share_sd, 0.3) << "all models say the same";
  for (const LeftOutModel& left : result.left_out)
    EXPECT_NEAR(left.predicted_ns / left.measured.median_ns, 1, 0.04) << left.name;
  // A prediction lets in what its own time does.
  selection.fit = result.fit;
  const table::Plan plan = must(small_.table().find_plan("plan of net10.onnx")).value();
  const Prediction shared = must(predict(small_.table(), selection, plan, {}));
  EXPECT_NEAR(shared.composition.foreign_bytes,
              result.fit.foreign_bytes_per_ns * *shared.latency_ns,
              0.3 * shared.composition.foreign_bytes);
  // Without a fit, and without looks, nobody knows of others: rows count as measured.
  Selection unfitted = selection;
  unfitted.fit.reset();
  for (const LeftOutModel& left : result.left_out) {
    const table::Plan of_model = must(small_.table().find_plan("plan of " + left.name)).value();
    EXPECT_NEAR(left.unfitted_ns, *must(predict(small_.table(), unfitted, of_model, {})).latency_ns,
                1e-6 * left.unfitted_ns);
  }
  // With looks it does; rows come first in a fit all the same.
  for (const double ms : {0.0, 1.0, 2.0, 4.0, 8.0, 16.0}) {
    const double lost = estimate::lost_among_others(last, kPool, 3 * ms * 1e6);
    unfitted.memory->waits.push_back(
        {static_cast<std::int64_t>(kPool), ms * 1e6, 40 * std::pow(170.0 / 40, lost)});
  }
  const FitResult looked = must(fit_composition(small_.table(), unfitted, {}));
  EXPECT_EQ(looked.fit.foreign_bytes_per_ns, result.fit.foreign_bytes_per_ns);
  double change = 0;
  for (std::size_t i = 0; i < looked.left_out.size(); ++i) {
    const LeftOutModel& left = looked.left_out[i];
    const table::Plan of_model = must(small_.table().find_plan("plan of " + left.name)).value();
    EXPECT_NEAR(left.unfitted_ns, *must(predict(small_.table(), unfitted, of_model, {})).latency_ns,
                1e-6 * left.unfitted_ns);
    change = std::max(change, std::abs(left.unfitted_ns / result.left_out[i].unfitted_ns - 1));
  }
  EXPECT_GT(change, 0.005);
  // What is not known of the share is in the interval.
  selection.fit->foreign_share_sd = 0;
  const Prediction sure = must(predict(small_.table(), selection, plan, {}));
  selection.fit->foreign_share_sd = 0.8;
  const Prediction unsure = must(predict(small_.table(), selection, plan, {}));
  EXPECT_EQ(unsure.latency_ns, sure.latency_ns);
  EXPECT_GT(unsure.sd_log, sure.sd_log);
  selection.fit->foreign_share = 0;
  const Prediction none = must(predict(small_.table(), selection, plan, {}));
  EXPECT_LT(*none.latency_ns, *shared.latency_ns);
  selection.fit->foreign_share_sd = 0;
  EXPECT_LT(must(predict(small_.table(), selection, plan, {})).sd_log, none.sd_log);
}

TEST_F(FitTest, AGroupIsLeftOutTogether) {
  for (int i = 0; i < 10; ++i) model(fmt::format("net{}.onnx", i), 10 + 5 * i);
  // Two of one family, 20 % slower than their kernels: each alone would teach the fit about the
  // other.
  model("twin_a.onnx", 12, 1.2);
  model("twin_b.onnx", 14, 1.2);
  FitRequest request;
  request.groups = {{"twin_a.onnx", "twins"}, {"twin_b.onnx", "twins"}};
  const FitResult together = must(fit(request));
  for (const LeftOutModel& left : together.left_out) {
    if (left.group != "twins") continue;
    EXPECT_NEAR(left.predicted_ns / left.measured.median_ns, 1 / 1.2, 0.01) << left.name;
  }
}

TEST_F(FitTest, ModelsOfOneFileNameAreOneGroupOnlyIfTheirWeightsAgree) {
  for (int i = 0; i < 6; ++i) model(fmt::format("net{}.onnx", i), 10 + 5 * i);
  // The first two are one model with two batches; the third is another one of another folder.
  model("model.onnx", 12, 1, 0.002, false, 4.000e6, "small, batch 1");
  model("model.onnx", 14, 1, 0.002, false, 4.001e6, "small, batch 2");
  model("model.onnx", 40, 1, 0.002, false, 9e6, "large");
  std::vector<std::string> groups;
  for (const LeftOutModel& left : must(fit()).left_out)
    if (left.name == "model.onnx") groups.push_back(left.group);
  EXPECT_THAT(groups,
              ::testing::UnorderedElementsAre("model.onnx", "model.onnx", "model.onnx (2)"));
  // Who says so has them all in one.
  FitRequest request;
  request.groups = {{"model.onnx", "family"}};
  for (const LeftOutModel& left : must(fit(request)).left_out)
    EXPECT_EQ(left.group, left.name == "model.onnx" ? "family" : left.name);
}

TEST_F(FitTest, GroupsAreKeptWithTheFitThoughNewerRowsOvertakeIt) {
  for (int i = 0; i < 6; ++i) model(fmt::format("net{}.onnx", i), 10 + 5 * i);
  const auto selection = [&] {
    return must(select_rows(small_.table(), {}, ir::Catalogue::own()));
  };
  EXPECT_THAT(must(kept_groups(small_.table(), selection())), IsEmpty());
  FitRequest request;
  request.groups = {{"net0.onnx", "twins"}, {"net1.onnx", "twins"}};
  must(small_.table().put_fit(
      device_, setting_, {std::string(kCompositionFormat), 0, encode(must(fit(request)).fit)}));
  EXPECT_EQ(must(kept_groups(small_.table(), selection())), request.groups);
  model("newer.onnx", 33);
  EXPECT_FALSE(selection().fit) << "its rows are newer";
  EXPECT_EQ(must(kept_groups(small_.table(), selection())), request.groups);
  must(small_.table().put_fit(device_, setting_, {std::string(kCompositionFormat), 0, "rubbish"}));
  EXPECT_THAT(must(kept_groups(small_.table(), selection())), IsEmpty());
}

TEST_F(FitTest, GroupsOfAFormerFormatAreKept) {
  for (int i = 0; i < 6; ++i) model(fmt::format("net{}.onnx", i), 10 + 5 * i);
  FitRequest request;
  request.groups = {{"net0.onnx", "twins"}, {"net1.onnx", "twins"}};
  std::string former = encode(must(fit(request)).fit);
  former.replace(former.find(kCompositionFormat), kCompositionFormat.size(), kAllResultsFormat);
  must(small_.table().put_fit(device_, setting_, {std::string(kAllResultsFormat), 0, former}));
  const auto selection = must(select_rows(small_.table(), {}, ir::Catalogue::own()));
  EXPECT_EQ(must(kept_groups(small_.table(), selection)), request.groups);
}

// A runtime that was installed anew is another setting, whose rows come first.
TEST_F(FitTest, GroupsOfAnEarlierBuildAreKept) {
  for (int i = 0; i < 6; ++i) model(fmt::format("net{}.onnx", i), 10 + 5 * i);
  FitRequest request;
  request.groups = {{"net0.onnx", "twins"}, {"net1.onnx", "twins"}};
  must(small_.table().put_fit(
      device_, setting_, {std::string(kCompositionFormat), 0, encode(must(fit(request)).fit)}));
  const auto anew = small_.setting(test::setting_of(1, "replay", "1.0", "b2"));
  small_.row(device_, anew, key(100), std::nullopt, timing(kShort, 0.005));
  const auto selection = must(select_rows(small_.table(), {.build = "b2"}, ir::Catalogue::own()));
  ASSERT_EQ(selection.setting_ids.front(), anew);
  ASSERT_EQ(selection.setting_ids.size(), 2U);
  EXPECT_EQ(must(kept_groups(small_.table(), selection)), request.groups);
}

TEST_F(FitTest, AModelWeighsByHowWellItIsKnown) {
  for (int i = 0; i < 8; ++i) model(fmt::format("net{}.onnx", i), 10 + 5 * i);
  model("noisy.onnx", 20, 1.3, 0.3);
  const FitResult result = must(fit());
  EXPECT_EQ(result.fit.scores.size(), 8U) << "how far off the noisy one is says nothing";
  EXPECT_NEAR(result.fit.c1_ns, kC1, 60);
  EXPECT_LT(result.fit.sd_log, 0.03) << "its error is that of its measurement";
}

TEST_F(FitTest, WidelyMeasuredModelsArePredictedButTeachNothingWhereAskedFor) {
  for (int i = 0; i < 8; ++i) model(fmt::format("net{}.onnx", i), 10 + 5 * i);
  model("noisy.onnx", 20, 3, 0.05);
  FitRequest request;
  request.max_half_width = 0.03;
  const FitResult result = must(fit(request));
  EXPECT_EQ(result.fit.scores.size(), 8U);
  EXPECT_NEAR(result.fit.c1_ns, kC1, 80) << "the noisy one would call for more";
  const auto noisy = std::find_if(result.left_out.begin(), result.left_out.end(),
                                  [](const auto& m) { return m.name == "noisy.onnx"; });
  ASSERT_NE(noisy, result.left_out.end());
  EXPECT_FALSE(noisy->calibrates);
}

TEST_F(FitTest, ModelsWithoutRowsAreNamed) {
  for (int i = 0; i < 5; ++i) model(fmt::format("net{}.onnx", i), 10 + 5 * i);
  table::Plan plan;
  plan.model = "lacking.onnx";
  plan.identity = "lacking";
  plan.kernels = {{"a", key(777), 1}};
  must(small_.table().put_plan(plan));
  table::ModelRow row;
  row.name = "lacking.onnx";
  row.plan_identity = "lacking";
  row.outcome = timing(5e3);
  must(small_.table().put_model_row(device_, setting_, std::nullopt, row));
  const FitResult result = must(fit());
  ASSERT_EQ(result.excluded.size(), 1U);
  EXPECT_EQ(result.excluded[0].first, "lacking.onnx");
}

TEST_F(FitTest, OneModelIsAnUpdate) {
  model("a.onnx", 10);
  const FitResult result = must(fit());
  ASSERT_EQ(result.left_out.size(), 1U);
  // Nothing but the prior predicts it, which knows less than the fit.
  EXPECT_DOUBLE_EQ(result.left_out[0].predicted_ns, result.left_out[0].unfitted_ns);
  EXPECT_LT(result.left_out[0].predicted_ns, result.left_out[0].measured.median_ns);
  EXPECT_GT(result.fit.scale, 1);
  EXPECT_LT(result.fit.scale, kScale + 0.01);
  EXPECT_GT(result.left_out[0].interval.high, result.left_out[0].measured.median_ns);
  EXPECT_GT(result.fit.covariance.at(Unknown::kC1, Unknown::kC1), 0);
}

TEST_F(FitTest, AModelIsLeftOutByItsPlan) {
  for (int i = 0; i < 4; ++i) model(fmt::format("net{}.onnx", i), 10 + 5 * i);
  const auto selection = must(select_rows(small_.table(), {}, ir::Catalogue::own()));
  const auto without = [&](const std::string& identity) {
    return must(LeaveOneOut::prepare(small_.table(), selection, {})).without(identity).value();
  };
  EXPECT_EQ(without("plan of net2.onnx").scores.size(), 3U);
  EXPECT_EQ(without("no such plan").scores.size(), 4U);
  EXPECT_EQ(without("no such plan"), must(fit()).fit);
}

// Who judges predictions must not have seen a relative of what is predicted.
TEST_F(FitTest, RelativesAreLeftOutOfAModelThatWasNotMeasured) {
  for (int i = 0; i < 4; ++i)
    model(fmt::format("net{}.onnx", i), 10 + 5 * i, 1, 0.002, false, 1e6 * (i + 1));
  const auto selection = must(select_rows(small_.table(), {}, ir::Catalogue::own()));
  FitRequest request;
  request.groups = {{"net0.onnx", "twins"}, {"net1.onnx", "twins"}, {"large.onnx", "twins"}};
  const LeaveOneOut models = must(LeaveOneOut::prepare(small_.table(), selection, request));
  const auto scores = [&](const std::string& name, double weights) {
    table::Plan plan;
    plan.model = name;
    plan.identity = "another batch";
    plan.weight_bytes = 1;  // of what a run reads, which goes by the batch
    plan.kernels = {weights_of(weights)};
    return models.without_relatives(plan).value().scores.size();
  };
  EXPECT_EQ(scores("net2.onnx", 3.01e6), 3U) << "the same model in another shape";
  EXPECT_EQ(scores("net2.onnx", 4e6), 4U) << "another model of that name";
  EXPECT_EQ(scores("large.onnx", 9e6), 2U) << "of the group of two";
  EXPECT_EQ(scores("other.onnx", 1e6), 4U);
}

// Where no campaign could time a call, nothing is known of it but that it is short.
TEST_F(FitTest, ACallThatNobodyTimedIsUnsure) {
  Selection selection = must(select_rows(small_.table(), {}, ir::Catalogue::own()));
  selection.sum_spread.evicted_byte_ns = 0.004;
  const CoefficientPrior timed = prior_of(selection, KnownCall{1300, false});
  EXPECT_EQ(timed.mean.c2_ns_per_byte, 0.004);
  EXPECT_LT(timed.sd[Unknown::kC0], 1000);
  for (const std::optional<KnownCall>& call :
       {std::optional<KnownCall>(), std::optional(KnownCall{0, false})}) {
    const CoefficientPrior untimed = prior_of(selection, call);
    EXPECT_EQ(untimed.mean.c2_ns_per_byte, 0) << "as a prediction without a fit has it";
    EXPECT_GT(untimed.sd[Unknown::kC0], 5000);
  }
}

TEST_F(FitTest, ManyModelsAreLeftOutTogether) {
  for (int i = 0; i < 70; ++i) model(fmt::format("net{:03}.onnx", i), 5 + i % 60);
  const FitResult result = must(fit());
  EXPECT_EQ(result.left_out.size(), 70U);
  EXPECT_EQ(result.fit.scores.size(), 70U);
  for (const LeftOutModel& left : result.left_out)
    EXPECT_NEAR(left.predicted_ns / left.measured.median_ns, 1, 0.01) << left.name;
}

TEST_F(FitTest, WithoutTheOnlyModelThereIsNoFit) {
  model("net.onnx", 10);
  const auto selection = must(select_rows(small_.table(), {}, ir::Catalogue::own()));
  const LeaveOneOut models = must(LeaveOneOut::prepare(small_.table(), selection, {}));
  EXPECT_FALSE(models.without("plan of net.onnx"));
  EXPECT_TRUE(models.without("another"));
  EXPECT_TRUE(models.holds("plan of net.onnx"));
  EXPECT_FALSE(models.holds("another"));
}

TEST_F(FitTest, NoModelIsTooFew) {
  const auto result = fit();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Code::Refused);
  EXPECT_THAT(result.error().message, HasSubstr("oplat profile --model"));
  // Why one that was measured cannot take part is said, and the command measures this setting.
  table::Setting threads = test::setting_of();
  threads.threads = 4;
  const auto four = small_.setting(threads);
  table::Plan plan;
  plan.model = plan.identity = "net.onnx";
  plan.kernels = {{"a", key(300), 1}};
  must(small_.table().put_plan(plan));
  table::ModelRow row;
  row.name = row.plan_identity = "net.onnx";
  row.outcome = timing(1e6, 0.01);
  must(small_.table().put_model_row(device_, four, std::nullopt, row));
  small_.row(device_, four, key(100), std::nullopt, timing(kShort, 0.005));
  const auto selection = must(select_rows(small_.table(), {.threads = 4}, ir::Catalogue::own()));
  const auto refused = fit_composition(small_.table(), selection, {});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("net.onnx: 1 of its kernels have no row"));
  EXPECT_THAT(refused.error().message, HasSubstr("--threads 4"));
}

TEST_F(FitTest, WhatWasMeasuredTooWidelyIsNamedWhereNoneIsLeft) {
  for (int i = 0; i < 7; ++i) model(fmt::format("wide{}.onnx", i), 20 + i, 1, 0.052);
  FitRequest strict;
  strict.max_half_width = 0.03;
  const auto result = fit(strict);
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("wide0.onnx (+-5.2 %), wide1.onnx (+-5.2 %), "));
  EXPECT_THAT(result.error().message, HasSubstr("wide4.onnx (+-5.2 %) and 2 more are ignored"));
  EXPECT_THAT(result.error().message, HasSubstr("wider than +-3 % (--max-half-width 0.03)"));
  FitRequest request;
  request.max_half_width = 0.06;
  EXPECT_EQ(must(fit(request)).fit.scores.size(), 7U);
}

TEST_F(FitTest, PredictionsUseItUntilMoreIsMeasured) {
  for (int i = 0; i < 24; ++i) model(fmt::format("net{:02}.onnx", i), 5 + 3 * i);
  const FitResult result = must(fit());
  must(small_.table().put_fit(device_, setting_,
                              {std::string(kCompositionFormat), 0, encode(result.fit)}));
  table::Plan plan;
  plan.model = "new.onnx";
  plan.kernels = {{"a", key(100), 30}};
  auto selection = must(select_rows(small_.table(), {}, ir::Catalogue::own()));
  ASSERT_TRUE(selection.fit);
  Prediction prediction = must(predict(small_.table(), selection, plan, {}));
  EXPECT_TRUE(prediction.composition.fitted);
  EXPECT_EQ(prediction.composition.calibration_models, 24);
  EXPECT_NEAR(prediction.composition.scale, kScale, 0.005);
  EXPECT_NEAR(*prediction.latency_ns, kC0 + 30 * (kScale * kShort + kC1), 1000);
  const double kernels = 30 * kShort;
  EXPECT_NEAR(*prediction.latency_ns,
              kernels + prediction.composition.overhead_ns(
                            {.ns = kernels, .scaled_ns = prediction.composition.scale * kernels}),
              1e-6);
  EXPECT_NEAR(prediction.coverage.time.at(estimate::Source::Measured) +
                  prediction.coverage.overhead.value(),
              1, 1e-12);

  small_.empty_call(device_, setting_, kC0);  // a further campaign
  selection = must(select_rows(small_.table(), {}, ir::Catalogue::own()));
  EXPECT_FALSE(selection.fit);
  ASSERT_FALSE(selection.warnings.empty());
  EXPECT_THAT(selection.warnings.back(), HasSubstr("oplat fit"));
  prediction = must(predict(small_.table(), selection, plan, {}));
  EXPECT_FALSE(prediction.composition.fitted);
}

TEST_F(FitTest, ThatItsModelsWereMeasuredUnderLoadIsSaid) {
  table::Plan plan;
  plan.model = "new.onnx";
  plan.kernels = {{"a", key(100), 30}};
  const auto predicted = [&] {
    must(small_.table().put_fit(device_, setting_,
                                {std::string(kCompositionFormat), 0, encode(must(fit()).fit)}));
    return must(predict(small_.table(), must(select_rows(small_.table(), {}, ir::Catalogue::own())),
                        plan, {}));
  };
  for (int i = 0; i < 9; ++i) model(fmt::format("net{}.onnx", i), 10 + 5 * i, 1, 0.002, i < 3);
  EXPECT_EQ(must(fit()).under_load, 3);
  EXPECT_THAT(predicted().warnings, IsEmpty()) << "a third does not decide over the others";
  model("net9.onnx", 55, 1, 0.002, true);
  EXPECT_EQ(must(fit()).under_load, 4);
  EXPECT_THAT(
      predicted().warnings,
      ElementsAre(HasSubstr("4 of the table's 10 whole models were measured on a busy machine")));
}

TEST(LoadWarning, CountsInPlainEnglish) {
  EXPECT_THAT(load_warning({.timings = 1, .under_load = 1}),
              HasSubstr("the table's only whole model was measured on a busy machine, and counts"));
  EXPECT_THAT(load_warning({.timings = 2, .under_load = 1}),
              HasSubstr("1 of the table's 2 whole models was measured on a busy machine, and "
                        "counts"));
  EXPECT_THAT(load_warning({.timings = 3, .under_load = 2}),
              HasSubstr("2 of the table's 3 whole models were measured on a busy machine, and "
                        "count for"));
}

TEST_F(FitTest, ModelsThatAreHardlyKnownMakeNoIntervalNarrow) {
  for (int i = 0; i < 25; ++i) model(fmt::format("busy{:02}.onnx", i), 12 + 4 * i, 1, 0.002, true);
  const CompositionFit fitted = must(fit()).fit;
  EXPECT_THAT(fitted.scores, IsEmpty());
  EXPECT_GE(fitted.sd_log, kCompositionSd);
  EXPECT_EQ(fitted.moments.sd_log, 0) << "that spread has a machine's moments in it";
}

TEST_F(FitTest, TimesOutOfAllProportionAreLeftAside) {
  for (int i = 0; i < 5; ++i) model(fmt::format("net{}.onnx", i), 10 + 5 * i);
  model("tiny.onnx", 20, 1e-200);
  model("huge.onnx", 20, 1e200);
  const FitResult result = must(fit());
  EXPECT_EQ(result.fit.scores.size(), 5U);
  EXPECT_EQ(result.excluded.size(), 2U);
  EXPECT_EQ(must(decode_composition(encode(result.fit))), result.fit);
  // So are bytes that caches lose, and counts of kernels that take no time.
  table::Plan plan = must(small_.table().find_plan("plan of net0.onnx")).value();
  plan.kernels.front().key = "Relu/14{}(f32[1,100000])->(f32[1,100000])";
  plan.kernels.front().count = 1'000'000'000;
  small_.row(device_, setting_, plan.kernels.front().key, std::nullopt, timing(1e-6, 0.005));
  plan.weight_bytes = 1e12;
  must(small_.table().put_plan(plan));
  const FitResult fewer = must(fit());
  EXPECT_EQ(fewer.excluded.size(), 3U);
  EXPECT_EQ(must(decode_composition(encode(fewer.fit))), fewer.fit);
}

TEST_F(FitTest, ModelsUnderLoadCountForLittle) {
  for (int i = 0; i < 4; ++i) model(fmt::format("net{}.onnx", i), 10 + 5 * i);
  const CompositionFit quiet = must(fit()).fit;
  // Twice as many that took half again as long, each of them known to 0.2 % by its own blocks.
  for (int i = 0; i < 8; ++i) model(fmt::format("busy{}.onnx", i), 12 + 4 * i, 1.5, 0.002, true);
  const CompositionFit both = must(fit()).fit;
  EXPECT_NEAR(both.scale, quiet.scale, 0.02);
  EXPECT_NEAR(both.c1_ns, quiet.c1_ns, 60);
}

TEST_F(FitTest, ModelsUnderLoadCountForMoreWhereLoadAddsLittle) {
  // Two groups, so that only two fits leave something out.
  FitRequest request;
  for (int i = 0; i < 4; ++i) {
    model(fmt::format("net{}.onnx", i), 10 + 5 * i);
    request.groups[fmt::format("net{}.onnx", i)] = "quiet";
  }
  for (int i = 0; i < 30; ++i) {
    model(fmt::format("busy{}.onnx", i), 12 + 4 * i, 1.04, 0.002, true);
    request.groups[fmt::format("busy{}.onnx", i)] = "busy";
  }
  const double before = must(fit(request)).fit.scale;
  // Models that were measured quiet and loaded, and took the same.
  for (const table::StoredModelRow& stored : must(small_.table().model_rows())) {
    for (const double load : {0.0, 1.0}) {
      table::Block block;
      block.value_ns = 1e6;
      block.rounds = 3;
      block.other_load = load;
      must(small_.table().add_model_block(stored.id, block));
    }
  }
  EXPECT_GT(must(fit(request)).fit.scale, before + 0.002);
}

TEST_F(FitTest, AFitOfTheTimeBeforeScaleAnswers) {
  const std::string record =
      R"({"schema":"oplat.composition/1","c0_ns":700,"c1_ns":2,"curve":null,"sd_log":0.04,"measured_correlation":0.3,"scores":[0.5]})";
  must(small_.table().put_fit(device_, setting_,
                              {std::string(kFormerCompositionFormats.back()), 0, record}));
  table::Plan plan;
  plan.model = "old.onnx";
  plan.kernels = {{"a", key(100), 3}};
  const auto selection = must(select_rows(small_.table(), {}, ir::Catalogue::own()));
  ASSERT_TRUE(selection.fit);
  EXPECT_DOUBLE_EQ(*must(predict(small_.table(), selection, plan, {})).latency_ns,
                   700 + 3 * (2 + kShort));
  // A new one goes before it, and knows of bytes that caches lose beyond the row's own 800 KB.
  CompositionFit scaled;
  scaled.c0_ns = 700;
  scaled.scale = 1.5;
  scaled.scale_int8 = 1.25;
  scaled.c2_ns_per_byte = 0.5;
  scaled.curve = estimate::ReuseCurve{estimate::Ramp{1e4, 1e5}, {1e6, 1e7}};
  plan.weight_bytes = 1e6;  // half of the way from 1e5 to 1e7
  plan.kernels.front().key = "Relu/14{}(f32[1,100000])->(f32[1,100000])";
  small_.row(device_, setting_, plan.kernels.front().key, std::nullopt, timing(kShort, 0.005));
  const auto predicted = [&] {
    const auto chosen = must(select_rows(small_.table(), {}, ir::Catalogue::own()));
    return must(predict(small_.table(), chosen, plan, {})).latency_ns.value();
  };
  must(small_.table().put_fit(device_, setting_,
                              {std::string(kCompositionFormat), 0, encode(scaled)}));
  const auto of_share = [](double share) {
    return 700 + 0.5 * share * 3 * (400000 - 131072) + 3 * 1.5 * kShort;
  };
  EXPECT_NEAR(predicted(), of_share(0.5 - std::log(8.0) / std::log(100.0)), 1e-6);
  // Those of the time between counted what the model loses, and the plan's own bytes.
  const auto put = [&](CountedResults counted) {
    scaled.counted = counted;
    must(small_.table().put_fit(device_, setting_,
                                {std::string(kCompositionFormat), 0, encode(scaled)}));
  };
  put(CountedResults::Left);
  EXPECT_NEAR(predicted(), of_share(0.5), 1e-6);
  put(CountedResults::All);
  plan.activation_bytes = 123456;
  EXPECT_NEAR(predicted(), 700 + 0.5 * 123456 + 3 * 1.5 * kShort, 1e-6);
}

TEST_F(FitTest, WhatModelsAreGivenCountsOnceAllTheirPlansSayIt) {
  for (int i = 0; i < 5; ++i) model(fmt::format("net{}.onnx", i), 10 + 5 * i);
  EXPECT_EQ(must(fit()).fit.counted, CountedResults::ByReaders);
  table::Plan plan = must(small_.table().plans()).at(2);
  plan.kernels[1].input_bytes.reset();  // as an earlier oplat kept it
  must(small_.table().put_plan(plan));
  const FitResult old = must(fit());
  EXPECT_EQ(old.fit.counted, CountedResults::WithScratch);
  EXPECT_TRUE(old.silent_on_inputs.empty()) << "plans of this runtime need not say it";
  // As oplat fit keeps it.
  must(small_.table().put_fit(device_, setting_,
                              {std::string(kCompositionFormat), 0, encode(old.fit)}));
  EXPECT_EQ(must(select_rows(small_.table(), {}, ir::Catalogue::own())).fit->counted,
            CountedResults::WithScratch);
}

TEST_F(FitTest, ModelsWhosePlansCouldSayWhatTheyAreGivenAreNamed) {
  setting_ = small_.setting(test::setting_of(1, "onnxruntime"));
  SetUp();
  for (int i = 0; i < 5; ++i) model(fmt::format("net{}.onnx", i), 10 + 5 * i);
  model("wide.onnx", 40, 1, 0.5);  // not known well enough to calibrate
  const auto fitted = [&] {
    const auto chosen =
        must(select_rows(small_.table(), {.runtime = "onnxruntime"}, ir::Catalogue::own()));
    return must(fit_composition(small_.table(), chosen, {.max_half_width = 0.1}));
  };
  const auto silence = [&](const std::string& name) {
    for (table::Plan& plan : must(small_.table().plans())) {
      if (plan.model != name) continue;
      plan.kernels[0].input_bytes.reset();
      must(small_.table().put_plan(plan));
    }
  };
  silence("wide.onnx");
  EXPECT_EQ(fitted().fit.counted, CountedResults::ByReaders);
  silence("net2.onnx");
  EXPECT_EQ(fitted().fit.counted, CountedResults::WithScratch);
  EXPECT_EQ(fitted().silent_on_inputs, std::vector<std::string>{"net2.onnx"});
  // Measured again since, under another build of the runtime.
  setting_ = small_.setting(test::setting_of(1, "onnxruntime", "1.0", "b2"));
  SetUp();
  model("net2.onnx", 20, 1, 0.002, false, 0, "net2 of b2");
  EXPECT_EQ(fitted().fit.counted, CountedResults::ByReaders);
}

TEST_F(FitTest, AFitOfAnotherSettingDoesNotAnswer) {
  for (int i = 0; i < 5; ++i) model(fmt::format("net{}.onnx", i), 10 + 5 * i);
  const FitResult result = must(fit());
  const table::SettingId other = small_.setting(test::setting_of(2));
  must(small_.table().put_fit(device_, other,
                              {std::string(kCompositionFormat), 0, encode(result.fit)}));
  EXPECT_FALSE(must(select_rows(small_.table(), {.threads = 1}, ir::Catalogue::own())).fit);
}

TEST(IntervalQuantile, IsConformalFromNineteenModelsOn) {
  std::vector<double> scores;
  for (int i = 1; i <= 19; ++i) scores.push_back(0.1 * i);
  // 20 * 0.9 = 18th smallest; 20 * 0.83 = 16.6: between the 16th and the 17th; 20 * 0.03 = 0.6:
  // there is none before the first.
  EXPECT_NEAR(interval_quantile(0.9, {19, scores}), 1.8, 1e-12);
  EXPECT_NEAR(interval_quantile(0.83, {19, scores}), 1.66, 1e-12);
  EXPECT_NEAR(interval_quantile(0.03, {19, scores}), 0.1, 1e-12);
  EXPECT_NEAR(interval_quantile(0.95, {19, scores}), 1.9, 1e-12);
  // 20 * 0.99 = 19.8 is beyond the largest: the t-quantile with 23 degrees of freedom, 2.807.
  EXPECT_NEAR(interval_quantile(0.99, {19, scores}), 2.8073, 1e-3);
  scores.pop_back();
  EXPECT_NEAR(interval_quantile(0.9, {18, scores}), 1.7171, 1e-3);
  EXPECT_NEAR(interval_quantile(0.9, {1, {}}), 2.0150, 1e-3);
}

// Models whose kernels have rows do not say that estimates of others are better than they are said
// to be, or worse.
TEST(IntervalQuantile, OfWhatScoresSayNothingOfIsTheNormalOne) {
  constexpr double kNormal = 1.6448536270;
  const std::vector<double> small(19, 0.5);
  const std::vector<double> large(19, 2.5);
  EXPECT_NEAR(interval_quantile(0.9, {19, small, 0}), 0.5, 1e-12);
  EXPECT_NEAR(interval_quantile(0.9, {19, small, 1}), kNormal, 1e-9);
  EXPECT_NEAR(interval_quantile(0.9, {19, large, 1}), kNormal, 1e-9);
  // 0.25 * 0.5^2 + 0.75 * 1.6449^2 = 2.09166; 0.75 * 2.5^2 + 0.25 * 1.6449^2 = 5.36389.
  EXPECT_NEAR(interval_quantile(0.9, {19, small, 0.75}), std::sqrt(2.09166), 1e-5);
  EXPECT_NEAR(interval_quantile(0.9, {19, large, 0.25}), std::sqrt(5.36389), 1e-5);
  EXPECT_NEAR(interval_quantile(0.9, {19, small, 7}), kNormal, 1e-9) << "no share is above 1";
  // Few models leave the spread of a composition unsure, not that of other parts: 2.0150 of one.
  EXPECT_NEAR(interval_quantile(0.9, {1, {}, 1}), kNormal, 1e-9);
  EXPECT_NEAR(interval_quantile(0.9, {1, {}, 0.5}),
              std::sqrt((2.0150484 * 2.0150484 + kNormal * kNormal) / 2), 1e-6);
}

TEST(IntervalQuantile, HoldsTheScoresOfAtMostEighteenModels) {
  std::vector<double> scores(17, 0.5);
  scores.back() = 9;
  // 17 * 0.9 = 15.3: sixteen inside. One outlier changes nothing, two do.
  const double alone = interval_quantile(0.9, {17, scores});
  EXPECT_NEAR(alone, 1.7207, 1e-3);
  scores[15] = 8;
  EXPECT_EQ(interval_quantile(0.9, {17, scores}), 8);
  EXPECT_EQ(interval_quantile(0.8, {17, scores}),
            interval_quantile(0.8, {17, std::vector<double>()}));
  // Of fewer than ten models nothing is known of outliers.
  EXPECT_LT(interval_quantile(0.9, {9, std::vector<double>(9, 8)}), 2);
  EXPECT_EQ(interval_quantile(0.01, {10, std::vector<double>(10, 3)}), 3);
}

}  // namespace
}  // namespace oplat::predict
