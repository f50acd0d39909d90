// SPDX-License-Identifier: Apache-2.0
#include "app/plan_source.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/model_inputs.hpp"
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

TEST(ModelInputs, OnlyPlansWithLengthsConditionsOrBodiesMayDependOnValues) {
  const auto depends = [](std::vector<table::PlanKernel> kernels) {
    table::Plan plan;
    plan.kernels = std::move(kernels);
    return may_depend_on_values(plan);
  };
  EXPECT_FALSE(depends({{"n0", "Relu/14{}(f32[4])->(f32[4])", 1},
                        {"n1", "Tile/13{}(f32[2,256],i64c[2]=[3,1])->(f32[6,256])", 1},
                        {"n2", "Gather/13{axis=0}(f32c[9,4],i64[3])->(f32[3,4])", 1}}));
  EXPECT_TRUE(depends({{"n0", "Tile/13{}(f32[2,256],i64[2])->(f32[6,256])", 1}}));
  EXPECT_TRUE(depends({{"n0", "If/16{}(bool[])->(f32[4])", 1}}));
  EXPECT_TRUE(depends({{"n0_1_0", "Relu/14{}(f32[4])->(f32[4])", 1}})) << "of a body";
  EXPECT_TRUE(depends({})) << "what would run is left out";
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
