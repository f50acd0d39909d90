// SPDX-License-Identifier: Apache-2.0
/// The sampler asks within its budget, for each candidate once, and knows nothing that it was not
/// told.
#include "estimate/sampler.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>

#include "unit/estimate/sparse_rows.hpp"

namespace oplat::estimate {
namespace {

LearnRequest quick(std::uint64_t seed = 1) {
  LearnRequest request;
  request.seed = seed;
  request.threads = 1;
  request.effort = 0.05;
  return request;
}

/// All rounds are passed: 30 at random, then by variance, then by disagreement.
constexpr std::size_t kBudget = 60;
const test::MadeRows& rows() {
  static const test::MadeRows made = test::made_rows(110, 10, 3);
  return made;
}

std::vector<std::size_t> chosen_with(const LearnRequest& request, std::size_t budget = kBudget) {
  const auto chosen = choose(
      rows().descriptions, budget, [](std::size_t i) { return rows().log_ns[i]; }, request);
  EXPECT_TRUE(chosen) << chosen.error().message;
  return chosen.value_or(std::vector<std::size_t>{});
}

bool distinct(std::vector<std::size_t> numbers) {
  std::sort(numbers.begin(), numbers.end());
  return std::adjacent_find(numbers.begin(), numbers.end()) == numbers.end();
}

TEST(Sampler, AsksForAsManyAsTheBudgetEachOnce) {
  std::vector<std::size_t> asked;
  const auto chosen = choose(
      rows().descriptions, kBudget,
      [&](std::size_t i) -> std::optional<double> {
        asked.push_back(i);
        return rows().log_ns[i];
      },
      quick());
  ASSERT_TRUE(chosen) << chosen.error().message;
  EXPECT_EQ(asked.size(), kBudget);
  EXPECT_TRUE(distinct(asked));
  EXPECT_EQ(*chosen, asked);
}

TEST(Sampler, ChoosesTheSameWhateverTheOthersTake) {
  const std::vector<std::size_t> chosen = chosen_with(quick());
  const std::set<std::size_t> known(chosen.begin(), chosen.end());
  std::vector<double> others_differ = rows().log_ns;
  for (std::size_t i = 0; i < others_differ.size(); ++i) {
    if (!known.contains(i)) others_differ[i] = 40;
  }
  const auto again = choose(
      rows().descriptions, kBudget, [&](std::size_t i) { return others_differ[i]; }, quick());
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, chosen);
}

TEST(Sampler, LearnsFromWhatItIsTold) {
  const std::vector<std::size_t> chosen = chosen_with(quick());
  std::vector<double> other = rows().log_ns;
  for (std::size_t i = 0; i < other.size(); i += 2) other[i] += 1;
  const auto again = choose(
      rows().descriptions, kBudget, [&](std::size_t i) { return other[i]; }, quick());
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_NE(*again, chosen);
}

TEST(Sampler, TheSeedDecides) {
  EXPECT_EQ(chosen_with(quick(5)), chosen_with(quick(5)));
  EXPECT_NE(chosen_with(quick(5)), chosen_with(quick(6)));
}

TEST(Sampler, EverySliceIsAskedFor) {
  std::set<std::string> slices;
  for (const auto& each : rows().descriptions) slices.insert(each.slice);
  ASSERT_EQ(slices.size(), 2U);
  for (const std::size_t i : chosen_with(quick(), 6)) slices.erase(rows().descriptions[i].slice);
  EXPECT_TRUE(slices.empty());
}

TEST(Sampler, ABudgetBeyondTheCandidatesAsksForAll) {
  const std::vector<std::size_t> chosen = chosen_with(quick(), 1000);
  EXPECT_EQ(chosen.size(), rows().descriptions.size());
  EXPECT_TRUE(distinct(chosen));
  EXPECT_TRUE(chosen_with(quick(), 0).empty());
}

TEST(Sampler, WhatCannotBeMeasuredIsNotChosen) {
  std::size_t asked = 0;
  const auto chosen = choose(
      rows().descriptions, kBudget,
      [&](std::size_t i) -> std::optional<double> {
        ++asked;
        if (i % 4 == 0) return std::nullopt;
        if (i % 4 == 1) return std::numeric_limits<double>::quiet_NaN();
        return rows().log_ns[i];
      },
      quick());
  ASSERT_TRUE(chosen) << chosen.error().message;
  EXPECT_EQ(asked, kBudget);
  EXPECT_FALSE(chosen->empty());
  for (const std::size_t i : *chosen) EXPECT_GE(i % 4, 2U);
  const auto none = choose(
      rows().descriptions, kBudget, [](std::size_t) { return std::nullopt; }, quick());
  ASSERT_TRUE(none) << none.error().message;
  EXPECT_TRUE(none->empty());
}

TEST(Sampler, WhatIsKnownBeforeIsNotAskedFor) {
  Sampler sampler(rows().descriptions, kBudget, quick());
  for (std::size_t i = 0; i < 60; ++i) sampler.tell(i, rows().log_ns[i]);
  while (true) {
    const auto batch = sampler.next(17);
    ASSERT_TRUE(batch) << batch.error().message;
    if (batch->empty()) break;
    EXPECT_LE(batch->size(), 17U);
    for (const std::size_t i : *batch) {
      EXPECT_GE(i, 60U);
      sampler.tell(i, rows().log_ns[i]);
    }
  }
  EXPECT_EQ(sampler.asked(), kBudget);
}

TEST(Sampler, StopsWhenAsked) {
  LearnRequest request = quick();
  request.progress = [](int done, int all) {
    EXPECT_EQ(all, static_cast<int>(kBudget));
    return done < 40;
  };
  const auto chosen = choose(
      rows().descriptions, kBudget, [](std::size_t i) { return rows().log_ns[i]; }, request);
  ASSERT_FALSE(chosen);
  EXPECT_EQ(chosen.error().code, Code::Interrupted);
}

/// Asks by demand in rounds of 30 until `count` were told.
std::vector<std::size_t> chosen_by(Demand demand, std::size_t count) {
  Sampler sampler(rows().descriptions, std::move(demand), quick());
  std::vector<std::size_t> chosen;
  while (chosen.size() < count) {
    const auto batch = sampler.next(std::min<std::size_t>(30, count - chosen.size()));
    EXPECT_TRUE(batch) << batch.error().message;
    if (!batch || batch->empty()) break;
    for (const std::size_t i : *batch) {
      sampler.tell(i, rows().log_ns[i]);
      chosen.push_back(i);
    }
  }
  return chosen;
}

TEST(Sampler, DemandComesFirstAndEachOnce) {
  Demand demand;
  demand.weights.assign(rows().descriptions.size(), 0);
  for (std::size_t i = 50; i < 70; ++i) demand.weights[i] = 1;
  const std::vector<std::size_t> chosen = chosen_by(demand, 60);
  EXPECT_EQ(chosen.size(), 60U);
  EXPECT_TRUE(distinct(chosen));
  const auto asked =
      std::count_if(chosen.begin(), chosen.end(), [](std::size_t i) { return i >= 50 && i < 70; });
  EXPECT_GE(asked, 15) << "of 20 that are asked for, among 120";
}

TEST(Sampler, WeightsFollowTheTimesThatWereTold) {
  // Nothing is known of what matters at first; then the twenty from 50 on do.
  Demand demand;
  demand.weights.assign(rows().descriptions.size(), 1);
  demand.weighed_by = 80;
  std::vector<std::vector<double>> asked;
  demand.weights_by_times = [&](std::span<const double> log_ns) {
    asked.emplace_back(log_ns.begin(), log_ns.end());
    std::vector<double> weights(rows().descriptions.size(), 0);
    for (std::size_t i = 50; i < 70; ++i) weights[i] = 1;
    return weights;
  };
  const std::vector<std::size_t> chosen = chosen_by(demand, 60);
  ASSERT_EQ(asked.size(), 1U) << "in each round but the first";
  ASSERT_EQ(asked[0].size(), 80U);
  // Of those told it gets their times, of others what was learned.
  std::set<std::size_t> told(chosen.begin(), chosen.begin() + 30);
  for (std::size_t i = 0; i < 80; ++i) {
    if (told.contains(i)) {
      EXPECT_EQ(asked[0][i], rows().log_ns[i]) << i;
    } else {
      EXPECT_NEAR(asked[0][i], rows().log_ns[i], 1.5) << i;
    }
  }
  const auto is_asked = [](std::size_t i) { return i >= 50 && i < 70; };
  const auto before = std::count_if(chosen.begin(), chosen.begin() + 30, is_asked);
  const auto after = std::count_if(chosen.begin() + 30, chosen.end(), is_asked);
  EXPECT_GE(before + after, 15);
  EXPECT_GT(after, before);
}

TEST(Sampler, WhatTakesLongIsMeasuredSeldom) {
  const auto mean_of = [&](const std::vector<std::size_t>& chosen) {
    double sum = 0;
    for (std::size_t i = 30; i < chosen.size(); ++i) sum += rows().log_ns[chosen[i]];
    return sum / static_cast<double>(chosen.size() - 30);
  };
  const std::vector<double> alike(rows().descriptions.size(), 1);
  const double free = mean_of(chosen_by({alike, [](double) { return 1.0; }}, 60));
  const double dear = mean_of(chosen_by({alike, [](double ns) { return ns; }}, 60));
  EXPECT_LT(dear, free - 0.3) << "times are in logarithms";
}

TEST(Sampler, AChoiceThatIsInterruptedIsMadeAgain) {
  Demand demand;
  demand.weights.assign(rows().descriptions.size(), 1);
  int left = 0;
  demand.go_on = [&] { return left-- > 0; };
  Sampler sampler(rows().descriptions, demand, quick());
  for (std::size_t i = 0; i < 60; ++i) sampler.tell(i, rows().log_ns[i]);
  // While the kernel is searched for, between trees, between choices.
  int stops = 0;
  for (int calls = 0; calls < 10'000; ++calls) {
    left = calls;
    const auto batch = sampler.next(10);
    if (batch) {
      EXPECT_EQ(batch->size(), 10U);
      EXPECT_TRUE(distinct(*batch));
      break;
    }
    EXPECT_EQ(batch.error().code, Code::Interrupted);
    EXPECT_EQ(sampler.asked(), 0U);
    ++stops;
  }
  // Two steps of the search at least, one look after it, three trees, and the choice.
  EXPECT_GE(stops, 7);
  EXPECT_EQ(sampler.asked(), 10U);
}

TEST(Sampler, WhatWasNotMeasuredMayBeAskedForAgain) {
  Demand demand;
  demand.weights.assign(rows().descriptions.size(), 1);
  Sampler sampler(rows().descriptions, demand, quick());
  const auto first = sampler.next(rows().descriptions.size());
  ASSERT_TRUE(first);
  EXPECT_EQ(first->size(), rows().descriptions.size());
  ASSERT_TRUE(sampler.next(5));
  EXPECT_TRUE(sampler.next(5)->empty());
  sampler.put_back(first->front());
  EXPECT_EQ(sampler.next(5).value(), std::vector<std::size_t>{first->front()});
}

}  // namespace
}  // namespace oplat::estimate
