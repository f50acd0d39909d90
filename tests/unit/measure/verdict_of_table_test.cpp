// SPDX-License-Identifier: Apache-2.0
/// The judgement on simulated pairs of rows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "base/random.hpp"
#include "measure/statistics.hpp"
#include "measure/verify.hpp"

namespace oplat::measure {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

/// Blocks of one row as a campaign measures them: block noise, and what a session does to this row.
table::Timing measured(double true_ns, double block_sd, int blocks, base::Random& random) {
  std::vector<table::Block> all;
  for (int i = 0; i < blocks; ++i) {
    table::Block block;
    block.process = i;
    block.value_ns = true_ns * std::exp(block_sd * random.normal());
    all.push_back(block);
  }
  return *measure::summarise(all, 0.95, 1);
}

RowCheck check_of(const char* op, const char* state, const table::Timing& before,
                  const table::Timing& after) {
  RowCheck check;
  check.row = {fmt::format("{}/1", op), 1000, op, state, before};
  check.after = after;
  check.comparison = measure::compare(before, after);
  return check;
}

/// Twenty rows of four operators; spread of blocks as in real tables: 1 to 8 %, evenly in the
/// logarithm. Sessions of one machine differ by 2 % row by row and by 1.5 % in common.
std::vector<RowCheck> session(base::Random& random, const std::function<double(int row)>& factor) {
  static const char* const kOps[] = {"Conv", "Relu", "MatMul", "Add"};
  const double common = std::exp(0.015 * random.normal());
  std::vector<RowCheck> checks;
  for (int i = 0; i < 20; ++i) {
    const double block_sd = 0.01 * std::exp(std::log(8.0) * random.uniform());
    const double before_ns = 1e3 * std::exp(8 * random.uniform());
    const double after_ns = before_ns * common * std::exp(0.02 * random.normal()) * factor(i);
    const table::Timing before = measured(before_ns, block_sd, 6, random);
    checks.push_back(check_of(kOps[i % 4], i % 2 == 0 ? "hot" : "cold", before,
                              measured(after_ns, block_sd, 5, random)));
  }
  return checks;
}

int judged(TableVerdict verdict, int trials, std::uint64_t seed,
           const std::function<double(int, base::Random&)>& factor) {
  base::Random random(seed);
  int count = 0;
  for (int i = 0; i < trials; ++i) {
    count +=
        judge(session(random, [&](int row) { return factor(row, random); }), {}).verdict == verdict
            ? 1
            : 0;
  }
  return count;
}

TEST(TableJudgement, AnUnchangedMachineIsTheSameInNearlyEveryTrial) {
  EXPECT_GE(judged(TableVerdict::Same, 400, 11, [](int, base::Random&) { return 1.0; }), 388);
}

TEST(TableJudgement, ACommonFactorIsSlowerOrFaster) {
  EXPECT_GE(judged(TableVerdict::Slower, 60, 12, [](int, base::Random&) { return 1.10; }), 57);
  EXPECT_GE(judged(TableVerdict::Slower, 60, 13, [](int, base::Random&) { return 1.5; }), 60);
  EXPECT_GE(judged(TableVerdict::Faster, 60, 14, [](int, base::Random&) { return 1 / 1.10; }), 57);
}

TEST(TableJudgement, AScatterOfRatiosIsAnotherMachine) {
  EXPECT_GE(judged(TableVerdict::AnotherMachine, 60, 15,
                   [](int, base::Random& r) { return std::exp(0.3 * r.normal()); }),
            57);
  // Two fifths faster on the whole, but by factors from 0.2 to 2.
  EXPECT_GE(judged(TableVerdict::AnotherMachine, 60, 16,
                   [](int, base::Random& r) { return std::exp(-0.5 + 0.6 * r.normal()); }),
            57);
}

TEST(TableJudgement, OneClassThatSlowsDownIsSlowerAndNamed) {
  base::Random random(17);
  // Row 2, 6, 10, ...: MatMul, all hot.
  const auto checks = session(random, [](int row) { return row % 4 == 2 ? 1.6 : 1.0; });
  const Judgement judgement = judge(checks, {});
  EXPECT_EQ(judgement.verdict, TableVerdict::Slower);
  EXPECT_EQ(judgement.outlying, 5);
  EXPECT_NEAR(*judgement.ratio, 1.0, 0.05);
  ASSERT_FALSE(judgement.classes.empty());
  EXPECT_EQ(judgement.classes.front().op, "MatMul");
  EXPECT_EQ(judgement.classes.front().state, "hot");
  EXPECT_EQ(judgement.classes.front().rows, 5);
  EXPECT_NEAR(judgement.classes.front().ratio, 1.6, 0.1);
  EXPECT_TRUE(judgement.classes.front().moved);
  EXPECT_FALSE(judgement.classes.back().moved);
  EXPECT_THAT(judgement.reasons, Contains(HasSubstr("5 of 20 rows are slower and 0 faster")));
}

table::Timing exact(double ns) { return {ns, 0.001, ns, ns, 0.95, ns, ns, ns, 5, 5}; }

std::vector<RowCheck> exact_rows(const std::vector<double>& ratios) {
  std::vector<RowCheck> checks;
  for (double ratio : ratios)
    checks.push_back(check_of("Relu", "hot", exact(1e4), exact(1e4 * ratio)));
  return checks;
}

TEST(TableJudgement, MedianHasTheIntervalOfOrderStatistics) {
  std::vector<double> ratios;
  for (int i = 1; i <= 20; ++i) ratios.push_back(1 + 0.001 * i);
  const Judgement judgement = judge(exact_rows(ratios), {});
  EXPECT_NEAR(*judgement.ratio, 1.0105, 1e-6);
  // The 6th and the 15th of 20: coverage 95.9 %, the usual table of the sign test.
  EXPECT_NEAR(judgement.interval->low, 1.006, 1e-9);
  EXPECT_NEAR(judgement.interval->high, 1.015, 1e-9);
  const Judgement few = judge(exact_rows({1.0, 1.01, 1.02, 1.03, 1.04}), {});
  EXPECT_NEAR(few.interval->low, 1.0, 1e-9);
  EXPECT_NEAR(few.interval->high, 1.04, 1e-9);
  EXPECT_EQ(few.verdict, TableVerdict::Same);
}

TEST(TableJudgement, TooFewRowsAreUnclear) {
  EXPECT_EQ(judge({}, {}).verdict, TableVerdict::Unclear);
  EXPECT_EQ(judge(exact_rows({1, 1, 1, 1}), {}).verdict, TableVerdict::Unclear);
  auto checks = exact_rows(std::vector<double>(11, 1.0));
  for (std::size_t i = 0; i < 6; ++i) {
    checks[i].after.reset();
    checks[i].comparison.reset();
  }
  const Judgement judgement = judge(checks, {});  // 5 of 11
  EXPECT_EQ(judgement.verdict, TableVerdict::Unclear);
  EXPECT_EQ(judgement.compared, 5);
  EXPECT_EQ(judgement.left, 6);
  EXPECT_THAT(judgement.reasons, Contains(HasSubstr("only 5 of 11 rows")));
}

TEST(TableJudgement, AMedianThatMayBeAnythingIsUnclear) {
  // Each row may be off by a third: nothing is proved, but nothing is known either.
  std::vector<RowCheck> checks;
  for (int i = 0; i < 6; ++i) {
    const double before = 1e4, after = before * (i % 2 == 0 ? 1.3 : 1 / 1.3);
    const table::Timing vague{after, 0.4,   after / 1.6, after * 1.6, 0.95,
                              after, after, after,       5,           5};
    checks.push_back(check_of("Relu", "hot", exact(before), vague));
  }
  EXPECT_EQ(judge(checks, {}).verdict, TableVerdict::Unclear);
}

TEST(TableJudgement, LoadExplainsDifferencesButNotSameness) {
  auto slower = exact_rows(std::vector<double>(20, 1.3));
  auto equal = exact_rows(std::vector<double>(20, 1.01));
  EXPECT_EQ(judge(slower, {}).verdict, TableVerdict::Slower);
  for (std::size_t i = 0; i < 10; ++i) slower[i].under_load = true;
  EXPECT_EQ(judge(slower, {}).verdict, TableVerdict::Slower)
      << "half of the rows were measured in peace";
  slower[10].under_load = true;
  const Judgement judgement = judge(slower, {});
  EXPECT_EQ(judgement.verdict, TableVerdict::Unclear);
  EXPECT_EQ(judgement.under_load, 11);
  EXPECT_THAT(
      judgement.reasons,
      Contains(HasSubstr(
          "busy during 11 of 20 rows; from the times alone the verdict would be \"slower\"")));
  for (auto& check : equal) check.under_load = true;
  EXPECT_EQ(judge(equal, {}).verdict, TableVerdict::Same);
}

TEST(TableJudgement, LoadWhenTheTableWasMadeIsTold) {
  auto faster = exact_rows(std::vector<double>(20, 0.7));
  for (auto& check : faster) check.row.under_load = true;
  const Judgement judgement = judge(faster, {});
  EXPECT_EQ(judgement.verdict, TableVerdict::Faster);
  EXPECT_THAT(judgement.reasons,
              Contains(HasSubstr("busy when 20 of 20 rows of the table were measured")));
}

TEST(TableJudgement, AKernelThatFailsNowIsNotTheSame) {
  auto checks = exact_rows(std::vector<double>(20, 1.0));
  checks[3].after = table::Failed{"worker ended: signal 4"};
  checks[3].comparison.reset();
  const Judgement judgement = judge(checks, {});
  EXPECT_EQ(judgement.verdict, TableVerdict::Unclear);
  EXPECT_EQ(judgement.refused, 1);
  EXPECT_THAT(
      judgement.reasons,
      Contains(HasSubstr("1 of 20 kernels with times in the table cannot be measured now")));
}

TEST(TableJudgement, FactsThatDecideMakeAnotherMachineWhateverTheTimes) {
  const auto checks = exact_rows(std::vector<double>(20, 1.0));
  std::vector<FactDifference> facts = {{"memory", "16.0 GiB", "32.0 GiB", false}};
  const Judgement more_memory = judge(checks, facts);
  EXPECT_EQ(more_memory.verdict, TableVerdict::Same);
  EXPECT_THAT(more_memory.reasons, Contains("memory is 32.0 GiB here, 16.0 GiB in the table"));
  facts.push_back({"llc", "32.0 MiB", "16.0 MiB", true});
  EXPECT_EQ(judge(checks, facts).verdict, TableVerdict::AnotherMachine);
}

}  // namespace
}  // namespace oplat::measure
