// SPDX-License-Identifier: Apache-2.0
/// Networks whose kernels were not measured: which rows are left out, and what errors are of.
#include "estimate/unseen.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "unit/estimate/sparse_rows.hpp"

namespace oplat::estimate {
namespace {

LearnRequest quick_learning() {
  LearnRequest request;
  request.threads = 1;
  request.effort = 0.05;
  return request;
}

TEST(Unseen, RowsThatOthersHaveAnswerForThemselves) {
  const test::MadeRows rows = test::made_rows(60, 0, 5);
  // Both families have every row: nothing is left out, nothing is wrong.
  const std::vector<std::vector<std::size_t>> groups(rows.log_ns.size(), {0, 1});
  const std::vector<NetworkOfRows> networks = {{0, {{0, 1}, {1, 2}}}, {1, {{2, 1}}}};
  const auto errors =
      errors_of_unseen(rows.descriptions, rows.log_ns, groups, networks, 2, quick_learning());
  ASSERT_TRUE(errors) << errors.error().message;
  ASSERT_EQ(errors->size(), 2U);
  for (const UnseenNetwork& network : *errors) {
    EXPECT_EQ(network.error, 0);
    EXPECT_EQ(network.linear_sd, 0);
  }
}

TEST(Unseen, AFamilyIsPredictedFromTheRowsOfOthers) {
  test::MadeRows rows = test::made_rows(80, 0, 5);
  // Rows 0 to 9 are the first family's alone and take twice as long as their sizes say, which the
  // others cannot teach.
  std::vector<std::vector<std::size_t>> groups(rows.log_ns.size(), {1});
  NetworkOfRows slow{0, {}};
  for (std::size_t i = 0; i < 10; ++i) {
    groups[i] = {0};
    rows.log_ns[i] += std::log(2.0);
    slow.rows.emplace_back(i, 1);
  }
  const auto errors =
      errors_of_unseen(rows.descriptions, rows.log_ns, groups, {&slow, 1}, 2, quick_learning());
  ASSERT_TRUE(errors) << errors.error().message;
  ASSERT_EQ(errors->size(), 1U);
  EXPECT_NEAR(errors->front().error, -0.5, 0.15) << "half of what it takes";
  EXPECT_GT(errors->front().linear_sd, errors->front().root_sd);
}

TEST(Unseen, ErrorsOfOneSignAreOfOneCause) {
  // Sixteen kernels a network, each a sixteenth of it and known to 8 %: independent errors make a
  // spread of 2 %, equal ones of 8 %.
  const auto networks = [](double error) {
    std::vector<UnseenNetwork> made;
    for (int i = 0; i < 40; ++i)
      made.push_back({(i % 2 == 0 ? error : -error / (1 + error)), 0.08, 0.02, 0.08, 0.02});
    return made;
  };
  EXPECT_EQ(learned_correlation(networks(0.02)), 0);
  // sqrt(rho 0.08^2 + (1 - rho) 0.02^2) = ln 1.05 at rho = 0.33
  EXPECT_NEAR(*learned_correlation(networks(0.05)), 0.33, 0.03);
  EXPECT_NEAR(*learned_correlation(networks(0.3)), 0.9, 1e-9) << "the most";
  EXPECT_FALSE(learned_correlation(std::vector<UnseenNetwork>(9, {0.01, 0.08, 0.02, 0.08, 0.02})));
}

TEST(Unseen, KernelsWithoutARowMakeTheWholeBetterKnownThanItsPart) {
  const test::MadeRows rows = test::made_rows(80, 0, 5);
  std::vector<std::vector<std::size_t>> groups(rows.log_ns.size(), {1});
  NetworkOfRows alone{0, {{0, 1}}};
  groups[0] = {0};
  NetworkOfRows with_others = alone;
  for (std::size_t i = 40; i < 60; ++i)
    with_others.without_row.emplace_back(&rows.descriptions[i], 1);
  const std::vector<NetworkOfRows> networks = {alone, with_others};
  const auto errors =
      errors_of_unseen(rows.descriptions, rows.log_ns, groups, networks, 2, quick_learning());
  ASSERT_TRUE(errors) << errors.error().message;
  const UnseenNetwork& part = errors->front();
  const UnseenNetwork& whole = errors->back();
  EXPECT_EQ(part.linear_sd_of_whole, part.linear_sd);
  EXPECT_EQ(part.root_sd_of_whole, part.root_sd);
  EXPECT_EQ(whole.error, part.error);
  EXPECT_EQ(whole.root_sd, part.root_sd);
  EXPECT_LT(whole.root_sd_of_whole, part.root_sd);
  EXPECT_GT(whole.root_sd_of_whole, 0);
}

TEST(Unseen, TheErrorOfAWholeIsThatOfItsPartTimesTheirSpreads) {
  const UnseenNetwork known{0.01, 0, 0, 0, 0};
  const UnseenNetwork part{-0.1, 0.08, 0.06, 0.04, 0.01};
  EXPECT_EQ(error_of_whole_networks({}, 0.5), 0);
  EXPECT_DOUBLE_EQ(error_of_whole_networks({&known, 1}, 0.5), 0.01);
  EXPECT_NEAR(error_of_whole_networks({&part, 1}, 1), 0.05, 1e-12);
  EXPECT_NEAR(error_of_whole_networks({&part, 1}, 0), 0.1 / 6, 1e-12);
  const std::vector<UnseenNetwork> both = {known, part};
  EXPECT_NEAR(error_of_whole_networks(both, 1), 0.03, 1e-12);
  // Nothing of it was compared, and it is not known.
  const std::vector<UnseenNetwork> silent = {known, part, {0, 0, 0, 0.1, 0.1}};
  EXPECT_NEAR(error_of_whole_networks(silent, 1), 0.03, 1e-12);
  EXPECT_EQ(error_of_whole_networks(std::span(silent).last(1), 1), 0);
}

TEST(Unseen, TooFewRowsAreRefused) {
  const test::MadeRows rows = test::made_rows(20, 0, 5);
  const std::vector<std::vector<std::size_t>> groups(rows.log_ns.size(), {0});
  const NetworkOfRows network{0, {{0, 1}}};
  const auto errors =
      errors_of_unseen(rows.descriptions, rows.log_ns, groups, {&network, 1}, 2, quick_learning());
  ASSERT_FALSE(errors);
  EXPECT_EQ(errors.error().code, Code::Refused);
}

}  // namespace
}  // namespace oplat::estimate
