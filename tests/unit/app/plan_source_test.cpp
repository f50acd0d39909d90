// SPDX-License-Identifier: Apache-2.0
#include "app/plan_source.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/estimate/small_table.hpp"

namespace oplat::app {
namespace {

using ::testing::HasSubstr;

TEST(PlanSource, IsParsedFromAWord) {
  EXPECT_EQ(test::must(parse_plan_source("auto")).from, PlanFrom::Auto);
  EXPECT_EQ(test::must(parse_plan_source("cached")).from, PlanFrom::Cached);
  EXPECT_EQ(test::must(parse_plan_source("runtime")).from, PlanFrom::Runtime);
  EXPECT_EQ(test::must(parse_plan_source("rules")).from, PlanFrom::Rules);
  const PlanSource named = test::must(parse_plan_source("rules:paddle-lite"));
  EXPECT_EQ(named.from, PlanFrom::Rules);
  EXPECT_EQ(named.rules, "paddle-lite");
}

TEST(PlanSource, OfAnUnknownWordTheErrorListsTheOthers) {
  for (const char* word : {"", "cache", "rules:none_such", "RULES"}) {
    SCOPED_TRACE(word);
    const auto wrong = parse_plan_source(word);
    ASSERT_FALSE(wrong);
    EXPECT_NE(wrong.error().code, Code::Internal);
  }
  EXPECT_THAT(parse_plan_source("cache").error().message,
              HasSubstr("auto, cached, runtime, rules or rules:NAME"));
}

TEST(PlanSource, RowsMayBeOfARuntimeWithRulesAlone) {
  EXPECT_TRUE(check_rows_runtime("paddle_lite"));
  EXPECT_TRUE(check_rows_runtime("replay"));
  const Status unknown = check_rows_runtime("repaly");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, Code::Runtime);
  EXPECT_THAT(unknown.error().message, HasSubstr("did you mean replay?"));
}

}  // namespace
}  // namespace oplat::app
