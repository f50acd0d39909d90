// SPDX-License-Identifier: Apache-2.0
/// Kernels of kinds without rows: whose rows answer, how sure they are, and bytes.
#include "estimate/learned/relatives.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <deque>

namespace oplat::estimate {
namespace {

ir::Work work_of(double bytes) {
  ir::Work work;
  work.flops = bytes / 8;
  work.bytes_in = bytes / 2;
  work.bytes_out = bytes / 2;
  return work;
}

/// Rows of three operators that take 1, 4 and 16 times the machine's bound, each in two forms; the
/// second form takes a tenth more.
struct Made {
  std::deque<ir::Description> descriptions;
  std::vector<Relatives::Row> rows;
  Machine machine{.overhead_ns = 1000, .flops_per_ns = 10, .bytes_per_ns = 10, .processors = 1};

  Made() {
    const std::array<std::string_view, 3> ops = {"Add", "Erf", "Pow"};
    for (std::size_t op = 0; op < ops.size(); ++op) {
      for (int form = 0; form < 2; ++form) {
        for (int size = 0; size < 12; ++size) {
          ir::Description description;
          description.slice = fmt::format("{} form {}", ops[op], form);
          description.work = work_of(1000 * std::exp2(size));
          descriptions.push_back(description);
          const double factor = std::pow(4.0, static_cast<double>(op)) * (form == 0 ? 1 : 1.1);
          rows.push_back({ops[op], &descriptions.back(),
                          std::log(factor * machine.bound_ns(description.work))});
        }
      }
    }
  }
};

TEST(Relatives, AnotherFormOfTheOperatorAnswers) {
  const Made made;
  const auto relatives = Relatives::learn(made.rows, made.machine);
  ASSERT_TRUE(relatives);
  const ir::Work work = work_of(50'000);
  const double bound = std::log(made.machine.bound_ns(work));
  for (const auto& [op, factor] : {std::pair("Add", 1.0), std::pair("Erf", 4.0)}) {
    const auto answer = relatives->answer(op, work, 0);
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->kin, Relatives::Kin::Operator);
    EXPECT_NEAR(answer->log_ns - bound - std::log(factor), 0.05, 0.06) << op;
    // Forms differ by a tenth, and no spread is below 0.1.
    EXPECT_DOUBLE_EQ(answer->sd_log, 0.1);
  }
}

TEST(Relatives, OtherOperatorsAnswerForOneWithoutRowsAndAreFarLessSure) {
  const Made made;
  const auto relatives = Relatives::learn(made.rows, made.machine);
  ASSERT_TRUE(relatives);
  const auto answer = relatives->answer("Softplus", work_of(50'000), 0);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->kin, Relatives::Kin::Any);
  // Add is asked from 4 and 16, Pow from 1 and 4: factors up to 8, a 90 % interval that holds them.
  EXPECT_GT(answer->sd_log, 0.9);
  EXPECT_LT(answer->sd_log, 2.0);
}

TEST(Relatives, WhatComputesTheSameComesBeforeOtherOperators) {
  const Made made;
  const auto relatives = Relatives::learn(made.rows, made.machine);
  ASSERT_TRUE(relatives);
  const ir::Work work = work_of(50'000);
  const auto fused = relatives->answer("com.microsoft:FusedErf", work, 0);
  ASSERT_TRUE(fused);
  EXPECT_EQ(fused->log_ns, relatives->answer("Erf", work, 0)->log_ns);
  EXPECT_EQ(fused->kin, Relatives::Kin::Any);
}

TEST(Relatives, WhatHasStepsIsAnsweredByWhatHasSteps) {
  Made made;
  // Of steps of a nanosecond, and no slower than they say.
  for (int size = 0; size < 12; ++size) {
    ir::Description description;
    description.slice = "Elu";
    description.work = work_of(1000 * std::exp2(size));
    description.work.steps = 500 * std::exp2(size);
    made.descriptions.push_back(description);
    made.rows.push_back(
        {"Elu", &made.descriptions.back(), std::log(made.machine.bound_ns(description.work))});
  }
  const auto relatives = Relatives::learn(made.rows, made.machine);
  ASSERT_TRUE(relatives);
  ir::Work work = work_of(500'000);
  work.steps = 1e6;
  const auto answer = relatives->answer("Unheard", work, 0);
  ASSERT_TRUE(answer);
  EXPECT_NEAR(answer->log_ns, std::log(made.machine.bound_ns(work)), 0.5)
      << "not 4 or 16 times as long, as others of its bytes";
}

TEST(Relatives, RowsWithoutStepsKnowTheRestOfWhatHasSteps) {
  const Made made;
  const auto relatives = Relatives::learn(made.rows, made.machine);
  ASSERT_TRUE(relatives);
  ir::Work work = work_of(50'000);
  // Pow takes 16 times the bound; steps are ns, whatever that is a multiple of.
  const double rest = std::exp(relatives->answer("Pow", work, 0)->log_ns);
  work.steps = 1e6;
  EXPECT_NEAR(std::exp(relatives->answer("Pow", work, 0)->log_ns), rest + 1e6, 1e4);
}

TEST(Relatives, OfOtherOperatorsTheMedianOfSlowRowsAnswers) {
  Made made;
  // A machine that takes three times as long for a step, whatever the operator.
  for (const std::string_view op : {"TopK", "Unique"}) {
    for (int size = 0; size < 6; ++size) {
      ir::Description description;
      description.slice = op;
      description.work = work_of(1000);
      description.work.steps = 1e5 * std::exp2(size);
      made.descriptions.push_back(description);
      made.rows.push_back(
          {op, &made.descriptions.back(), std::log(3 * made.machine.bound_ns(description.work))});
    }
  }
  const auto learned = Relatives::learn(made.rows, made.machine);
  ASSERT_TRUE(learned);
  const auto relatives = Relatives::load(learned->save());
  ASSERT_TRUE(relatives);
  ir::Work work = work_of(50'000'000);
  work.steps = 1e9;
  const auto answer = relatives->answer("Unheard", work, 0);
  ASSERT_TRUE(answer);
  EXPECT_NEAR(answer->log_ns, std::log(3 * made.machine.bound_ns(work)), 1e-6);
  EXPECT_EQ(answer->rows, 12U);
}

TEST(Relatives, AStateWithoutRowsIsAnsweredFromTheOthers) {
  const Made made;
  const auto relatives = Relatives::learn(made.rows, made.machine);
  ASSERT_TRUE(relatives);
  EXPECT_EQ(relatives->answer("Add", work_of(50'000), 2)->log_ns,
            relatives->answer("Add", work_of(50'000), 0)->log_ns);
}

TEST(Relatives, WorkThatIsNotKnownHasNoAnswer) {
  const Made made;
  const auto relatives = Relatives::learn(made.rows, made.machine);
  ir::Work work = work_of(50'000);
  work.complete = false;
  EXPECT_FALSE(relatives->answer("Add", work, 0));
}

TEST(Relatives, FewRowsTeachNothing) {
  const Made made;
  EXPECT_FALSE(Relatives::learn(std::span(made.rows).first(29), made.machine));
}

TEST(Relatives, BytesComeBackAndDamagedOnesAreNamed) {
  const Made made;
  const auto relatives = Relatives::learn(made.rows, made.machine);
  const std::string bytes = relatives->save();
  const auto again = Relatives::load(bytes);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->save(), bytes);
  EXPECT_EQ(again->answer("Erf", work_of(7000), 0)->log_ns,
            relatives->answer("Erf", work_of(7000), 0)->log_ns);
  for (std::size_t size = 0; size < bytes.size(); size += 7) {
    const auto damaged = Relatives::load(std::string_view(bytes).substr(0, size));
    ASSERT_FALSE(damaged) << size;
    EXPECT_EQ(damaged.error().code, Code::Input);
  }
  std::string rate = bytes;
  rate.replace(8, 8, std::string(8, '\0'));  // operations a ns
  EXPECT_FALSE(Relatives::load(rate));
}

}  // namespace
}  // namespace oplat::estimate
