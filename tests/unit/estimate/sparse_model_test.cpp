// SPDX-License-Identifier: Apache-2.0
/// The model for few or scattered rows: what it answers, and its bytes.
#include "estimate/learned/sparse_model.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "estimate/learned/waves.hpp"
#include "unit/estimate/fit_bytes.hpp"
#include "unit/estimate/sparse_rows.hpp"

namespace oplat::estimate {
namespace {

LearnRequest quick_sparse() {
  LearnRequest request;
  request.threads = 1;
  request.effort = 0.1;
  return request;
}

const SparseModel& model() {
  static const SparseModel made = [] {
    const test::MadeRows rows = test::made_rows(70, 12, 1);
    auto fitted = SparseModel::fit(rows.descriptions, rows.log_ns, quick_sparse());
    if (!fitted) throw std::runtime_error(fitted.error().message);
    return std::move(*fitted);
  }();
  return made;
}

TEST(SparseModel, AnswersRowsThatItWasNotShown) {
  const test::MadeRows asked = test::made_rows(60, 8, 2);
  double error = 0;
  double spread = 0;
  std::size_t inside = 0;
  for (std::size_t i = 0; i < asked.log_ns.size(); ++i) {
    const auto answer = model().answer(asked.descriptions[i], Profile::Accurate);
    ASSERT_TRUE(answer);
    ASSERT_GT(answer->sd_log, 0);
    error += std::abs(answer->log_ns - asked.log_ns[i]);
    spread += std::abs(asked.log_ns[i] - 10);
    inside += std::abs(answer->log_ns - asked.log_ns[i]) <= 1.645 * answer->sd_log ? 1 : 0;
  }
  const auto count = static_cast<double>(asked.log_ns.size());
  EXPECT_LT(error / count, 0.15) << "times differ by " << spread / count;
  EXPECT_GT(static_cast<double>(inside) / count, 0.75);
  EXPECT_FLOAT_EQ(model().shares()[0] + model().shares()[1] + model().shares()[2], 1);
}

/// With two threads a kernel takes a share of its time that depends on its size.
double with_two_threads(const ir::Description& description, double log_ns) {
  return log_ns - 0.5 * std::min(1.0, description.work.bytes() / 1e6);
}

/// How far answers to rows without noise lie above them, as logarithms; of 200 other ones.
double mean_above(const SparseModel& model) {
  const test::MadeRows asked = test::made_rows(200, 0, 6);
  double above = 0;
  for (std::size_t i = 0; i < asked.log_ns.size(); ++i) {
    const auto answer = model.answer(asked.descriptions[i], Profile::Accurate);
    above += answer ? answer->log_ns - asked.log_ns[i] : std::nan("");
  }
  return above / static_cast<double>(asked.log_ns.size());
}

// Models are sums: where kernels of one kind scatter as log-normal times do, what is said of them
// is their mean, exp(sd^2 / 2) above the median.
TEST(SparseModel, SumsAreAsLongAsTheirKernels) {
  constexpr double kSd = 0.35;
  test::MadeRows rows = test::made_rows(500, 0, 5);
  base::Random random(11);
  double mean_noise = 0;
  for (double& log_ns : rows.log_ns) {
    const double noise = kSd * random.normal();
    log_ns += noise;
    mean_noise += noise / 500;
  }
  const auto model = SparseModel::fit(rows.descriptions, rows.log_ns, quick_sparse());
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_NEAR(mean_above(*model) - mean_noise, kSd * kSd / 2, 0.03);
}

// Three in a hundred take three times as long for no reason that is seen: whoever has none of those
// is not to be told a longer time for them.
TEST(SparseModel, AFewRowsThatNothingForetoldDoNotRaiseTheOthers) {
  test::MadeRows rows = test::made_rows(500, 0, 5);
  base::Random random(11);
  for (std::size_t i = 0; i < rows.log_ns.size(); ++i)
    rows.log_ns[i] += 0.08 * random.normal() + (i % 33 == 0 ? std::log(3) : 0);
  const auto model = SparseModel::fit(rows.descriptions, rows.log_ns, quick_sparse());
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_LT(mean_above(*model), 0.03);  // 0.044 where they decide by how much they are off
}

TEST(SparseModel, LearnsFromRowsOfOtherThreads) {
  const test::MadeRows one = test::made_rows(400, 0, 1);
  test::MadeRows few = test::made_rows(40, 0, 7);
  for (std::size_t i = 0; i < few.log_ns.size(); ++i)
    few.log_ns[i] = with_two_threads(few.descriptions[i], few.log_ns[i]);
  LearnRequest request = quick_sparse();
  const auto alone = SparseModel::fit(few.descriptions, few.log_ns, request);
  request.related = {one.descriptions, one.log_ns};
  const auto both = SparseModel::fit(few.descriptions, few.log_ns, request);
  ASSERT_TRUE(alone && both);
  EXPECT_EQ(both->sites(), alone->sites()) << "of its own";
  EXPECT_EQ(alone->related(), 0U);
  EXPECT_GT(both->related(), 2 * alone->sites());
  const test::MadeRows asked = test::made_rows(60, 0, 2);
  const auto error_of = [&](const SparseModel& model) {
    double sum = 0;
    for (std::size_t i = 0; i < asked.log_ns.size(); ++i) {
      const double truth = with_two_threads(asked.descriptions[i], asked.log_ns[i]);
      sum += std::abs(model.answer(asked.descriptions[i], Profile::Accurate)->log_ns - truth);
    }
    return sum / static_cast<double>(asked.log_ns.size());
  };
  EXPECT_LT(error_of(*both), 0.85 * error_of(*alone)) << error_of(*alone);
  const auto loaded = SparseModel::load(both->save());
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(error_of(*loaded), error_of(*both));
  EXPECT_EQ(loaded->related(), both->related());
}

TEST(SparseModel, IsNoSurerWhereOnlyRowsOfOtherThreadsAre) {
  const auto is_small = [](const ir::Description& d) { return d.work.flops.value_or(0) < 5e7; };
  const test::MadeRows one = test::made_rows(300, 30, 1);
  const test::MadeRows all = test::made_rows(200, 0, 7);
  test::MadeRows small;
  for (std::size_t i = 0; i < all.log_ns.size(); ++i) {
    if (!is_small(all.descriptions[i])) continue;
    small.descriptions.push_back(all.descriptions[i]);
    small.log_ns.push_back(with_two_threads(all.descriptions[i], all.log_ns[i]));
  }
  LearnRequest request = quick_sparse();
  const auto alone = SparseModel::fit(small.descriptions, small.log_ns, request);
  request.related = {one.descriptions, one.log_ns};
  const auto both = SparseModel::fit(small.descriptions, small.log_ns, request);
  ASSERT_TRUE(alone && both);
  const ir::Description copy = test::made_copy(3);
  for (const Profile profile : {Profile::Accurate, Profile::Fast}) {
    EXPECT_FALSE(both->answer(copy, profile)) << "no row of two threads is a copy";
    for (const ir::Description& far : one.descriptions) {
      const auto without = alone->answer(far, profile);
      if (!without || without->outside < 1) continue;
      const auto with = both->answer(far, profile);
      ASSERT_TRUE(with);
      EXPECT_EQ(with->outside, without->outside);
      EXPECT_GE(with->sd_log, 0.35 * with->outside);
    }
  }
}

TEST(SparseModel, AMachineNeedsItsOverheadAndAShareOfItsBound) {
  const Machine machine{5000, 2000, 100, 1};
  ir::Work work;
  work.flops = 8e9;
  work.bytes_in = 1e12;  // may be passed over
  work.bytes_out = 1e6;
  EXPECT_DOUBLE_EQ(machine.floor_ns(work, 0), 5000 + 0.5 * 4e6);
  EXPECT_DOUBLE_EQ(machine.floor_ns(work, 4), 5000 + 0.125 * 4e6);
  work.flops.reset();
  EXPECT_DOUBLE_EQ(machine.floor_ns(work, 0), 5000 + 0.5 * 1e4);
}

TEST(SparseModel, FastIsByTheTreesAlone) {
  const test::MadeRows asked = test::made_rows(5, 0, 2);
  for (std::size_t i = 0; i < asked.log_ns.size(); ++i) {
    const auto fast = model().answer(asked.descriptions[i], Profile::Fast);
    const auto accurate = model().answer(asked.descriptions[i], Profile::Accurate);
    ASSERT_TRUE(fast && accurate);
    EXPECT_NE(fast->log_ns, accurate->log_ns);
    EXPECT_GT(fast->sd_log, 0);
    EXPECT_NEAR(fast->log_ns, asked.log_ns[i], 1.5);
  }
}

TEST(SparseModel, AnUnknownSliceHasNoAnswer) {
  auto key = ir::parse("test:other{}(f32[5])->(f32[5])");
  ASSERT_TRUE(key);
  EXPECT_FALSE(model().answer(test::described(*key), Profile::Accurate));
}

TEST(SparseModel, TooFewRowsAreRefused) {
  const test::MadeRows rows = test::made_rows(29, 0, 1);
  const auto few = SparseModel::fit(rows.descriptions, rows.log_ns, quick_sparse());
  ASSERT_FALSE(few);
  EXPECT_EQ(few.error().code, Code::Refused);
  // Forty rows of one point are one row.
  const std::vector<ir::Description> same(40, rows.descriptions[0]);
  const auto one = SparseModel::fit(same, std::vector<double>(40, 9), quick_sparse());
  ASSERT_FALSE(one);
  EXPECT_EQ(one.error().code, Code::Refused);
}

TEST(SparseModel, TheSameRowsGiveTheSameBytes) {
  const test::MadeRows rows = test::made_rows(40, 0, 4);
  const auto first = SparseModel::fit(rows.descriptions, rows.log_ns, quick_sparse());
  LearnRequest on_four_threads = quick_sparse();
  on_four_threads.threads = 4;
  const auto second = SparseModel::fit(rows.descriptions, rows.log_ns, on_four_threads);
  ASSERT_TRUE(first && second);
  EXPECT_TRUE(first->save() == second->save());
}

TEST(SparseModel, StopsWhenAsked) {
  LearnRequest request = quick_sparse();
  request.progress = [](int done, int) { return done < 2; };
  const test::MadeRows rows = test::made_rows(40, 0, 4);
  const auto stopped = SparseModel::fit(rows.descriptions, rows.log_ns, request);
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, Code::Interrupted);
}

TEST(SparseModelBytes, ComeBackTheSame) {
  const std::string bytes = model().save();
  const auto loaded = SparseModel::load(bytes);
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_TRUE(loaded->save() == bytes);
  const ir::Description asked = test::made_rows(1, 0, 9).descriptions[0];
  EXPECT_EQ(loaded->answer(asked, Profile::Accurate)->log_ns,
            model().answer(asked, Profile::Accurate)->log_ns);
  EXPECT_EQ(loaded->answer(asked, Profile::Accurate)->sd_log,
            model().answer(asked, Profile::Accurate)->sd_log);
}

TEST(SparseModelBytes, OfAFitOfBeforeAreRefused) {
  const auto before = SparseModel::load(test::of_format(model().save(), "oplat.sparse", 3, 0));
  ASSERT_FALSE(before) << "its columns are of other features";
  EXPECT_EQ(before.error().code, Code::Input);
  EXPECT_NE(before.error().message.find("run oplat fit again"), std::string::npos);
}

TEST(SparseModelBytes, DamagedOnesAreRefusedOrAnswer) {
  const std::string bytes = model().save();
  const std::string body = test::unsealed(bytes);
  const ir::Description asked = test::made_rows(1, 0, 9).descriptions[0];
  base::Random random(1);
  for (int turn = 0; turn < 300; ++turn) {
    const auto cut = static_cast<std::size_t>(random.below(body.size()));
    const auto shorter = SparseModel::load(test::sealed(body.substr(0, cut)));
    EXPECT_FALSE(shorter) << "cut off after " << cut << " bytes";
    std::string damaged = body;
    // Half of the damage is where counts and rates stand.
    const auto at = static_cast<std::size_t>(random.below(turn % 2 == 0 ? 600 : body.size()));
    damaged[at] = static_cast<char>(random.below(256));
    EXPECT_EQ(SparseModel::load(damaged + bytes.substr(body.size())).has_value(), damaged == body)
        << "byte " << at;
    const auto loaded = SparseModel::load(test::sealed(damaged));
    if (!loaded) {
      // Damage to the format's number may make it a newer one, which is refused.
      const bool newer = loaded.error().message.find("reads format") != std::string::npos;
      EXPECT_TRUE(loaded.error().code == Code::Input ||
                  (newer && loaded.error().code == Code::Refused))
          << loaded.error().message;
      EXPECT_NE(loaded.error().message.find("run oplat fit again"), std::string::npos)
          << loaded.error().message;
    } else if (const auto answer = loaded->answer(asked, Profile::Accurate)) {
      EXPECT_FALSE(std::isnan(answer->log_ns)) << "byte " << at;
    }
  }
  EXPECT_FALSE(SparseModel::load(test::sealed(body + "x")));
  EXPECT_FALSE(SparseModel::load(""));
}

TEST(Waves, AreFoundWhereTimesComeInSteps) {
  test::MadeRows rows = test::made_rows(240, 0, 6);
  const Space space = Space::learn(rows.descriptions);
  Machine machine{5000, 2000, 100, 1};
  for (std::size_t i = 0; i < rows.log_ns.size(); ++i) {
    rows.log_ns[i] = log_wave_work(*rows.descriptions[i].contraction, {128, 64}, 20);
  }
  EXPECT_EQ(learn_waves(rows.descriptions, rows.log_ns, space, machine), 20);
  for (std::size_t i = 0; i < rows.log_ns.size(); ++i)
    rows.log_ns[i] = test::made_log_ns(rows.descriptions[i]);
  EXPECT_EQ(learn_waves(std::span(rows.descriptions).first(100), std::span(rows.log_ns).first(100),
                        space, machine),
            1);
}

}  // namespace
}  // namespace oplat::estimate
