// SPDX-License-Identifier: Apache-2.0
/// What a memo keeps and what it does not.
#include "estimate/memo.hpp"

#include <gtest/gtest.h>

namespace oplat::estimate {
namespace {

Estimate estimate_of(double ns) {
  Estimate estimate;
  estimate.median_ns = ns;
  return estimate;
}

std::optional<Estimate> recalled(const Memo& memo, const Query& query) {
  std::optional<Estimate> answer;
  memo.recall({&query, 1}, {&answer, 1});
  return answer;
}

TEST(MemoTest, TellsKeysAndFootprintsApart) {
  Memo memo;
  const Query queries[] = {{"a", std::nullopt, false},
                           {"a", 0.0, false},
                           {"a", 4096.0, false},
                           {"b", std::nullopt, false},
                           {"a", 4096.0, false, {1e6, 0}}};
  const std::optional<Estimate> answers[] = {estimate_of(1), estimate_of(2), estimate_of(3),
                                             std::nullopt, estimate_of(5)};
  memo.keep(queries, answers);
  EXPECT_EQ(recalled(memo, queries[0])->median_ns, 1);
  EXPECT_EQ(recalled(memo, queries[1])->median_ns, 2);
  EXPECT_EQ(recalled(memo, queries[2])->median_ns, 3);
  EXPECT_FALSE(recalled(memo, queries[3])) << "what nothing answered may be answered later";
  EXPECT_EQ(recalled(memo, queries[4])->median_ns, 5) << "others bring something in";
  EXPECT_FALSE(recalled(memo, {"a", 8192.0, false}));
  EXPECT_FALSE(recalled(memo, {"a", 4096.0, false, {2e6, 0}}));
}

TEST(MemoTest, LeavesQuestionsAloneThatAreAnsweredOrAskForASentence) {
  Memo memo;
  const Query query{"a", std::nullopt, false};
  std::optional<Estimate> answer = estimate_of(1);
  memo.keep({&query, 1}, {&answer, 1});
  answer = estimate_of(7);
  memo.recall({&query, 1}, {&answer, 1});
  EXPECT_EQ(answer->median_ns, 7);
  EXPECT_FALSE(recalled(memo, {"a", std::nullopt, true}));
}

}  // namespace
}  // namespace oplat::estimate
