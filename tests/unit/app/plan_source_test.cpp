// SPDX-License-Identifier: Apache-2.0
#include "app/plan_source.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/model_inputs.hpp"
#include "app/rules_plan.hpp"
#include "unit/estimate/small_table.hpp"
#include "unit/formats/models.hpp"

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

/// The batch of a plan by rules, of a model with a float input of each of these shapes.
std::int64_t rules_batch(const std::vector<formats::onnx::testing::Names>& inputs,
                         const formats::ShapeOptions& shapes = {}) {
  using namespace formats::onnx::testing;
  formats::onnx::wire::Model model = empty_model();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    add_input(model, fmt::format("x{}", i), inputs[i]);
    add_node(*model.mutable_graph(), "Relu", {fmt::format("x{}", i)}, {fmt::format("y{}", i)});
    add_output(model, fmt::format("y{}", i), inputs[i]);
  }
  const auto folder = test::must(base::TemporaryFolder::create("oplat-rules"));
  const std::string path = (folder.path() / "net.onnx").string();
  test::must(base::write_file(path, model.SerializeAsString()));
  return test::must(read_rules_model(path, shapes)).batch;
}

TEST(RulesPlan, TheBatchIsTheOneSaidOrNamedOrShared) {
  EXPECT_EQ(rules_batch({{"4", "3", "8", "8"}}), 4);
  EXPECT_EQ(rules_batch({{"200", "batch", "40"}}, {.shapes = {{"x0", {200, 3, 40}}}, .batch = {}}),
            3)
      << "time comes first, and the model names the batch";
  EXPECT_EQ(rules_batch({{"200", "batch", "40"}}, {.shapes = {}, .batch = 5}), 5);
  EXPECT_EQ(rules_batch({{"4", "8"}, {"4", "3"}, {"7"}}), 4) << "a list of numbers has no batch";
  EXPECT_EQ(rules_batch({{"4", "8"}, {"16", "3"}}), 1) << "inputs that share no dimension";
  EXPECT_EQ(rules_batch({{"0", "8"}, {"4", "3"}}), 4) << "an empty input is not the batch";
}

TEST(RulesPlan, OfABatchOfNothingThereIsNone) {
  using namespace formats::onnx::testing;
  formats::onnx::wire::Model model = empty_model();
  add_input(model, "x", {"0", "8"});
  add_node(*model.mutable_graph(), "Relu", {"x"}, {"y"});
  add_output(model, "y", {"0", "8"});
  const auto folder = test::must(base::TemporaryFolder::create("oplat-rules"));
  const std::string path = (folder.path() / "net.onnx").string();
  test::must(base::write_file(path, model.SerializeAsString()));
  RulesAsked asked = test::must(rules_asked("rules:onnxruntime", {}));
  asked.options.insert("block8");
  const auto made =
      plan_model_by_rules(test::must(read_rules_model(path, {})), asked.set, asked.options);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, Code::Input);
  EXPECT_THAT(
      made.error().message,
      HasSubstr("net.onnx: input 'x' has the shape [0,8], which holds nothing to compute with; "
                "set the batch with --batch"));
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
