// SPDX-License-Identifier: Apache-2.0
#include "app/inspect.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/app/recording.hpp"
#include "unit/estimate/small_table.hpp"

namespace oplat::app {
namespace {

using test::must;
using ::testing::HasSubstr;

constexpr const char* kStem =
    "Conv/11{dilations=[1,1],group=1,kernel_shape=[3,3],pads=[1,1,1,1],strides=[1,1]}(f32[1,2,4,4],"
    "f32c[8,2,3,3],f32c[8])->(f32[1,8,4,4])";

TEST(SumKernels, CountsWorkByOperatorAndModule) {
  const report::InspectionReport report = sum_kernels({{"/stem/conv/Conv", kStem, 1},
                                                       {"/body/0/MatMul", test::kMatMul, 2},
                                                       {"/body/1/Copy", test::kCopy250, 1},
                                                       {"", test::kReshape, 1}},
                                                      1);
  EXPECT_EQ(report.total.calls, 5);
  EXPECT_EQ(report.total.uncounted, 1);  // nobody knows what the copy computes
  EXPECT_DOUBLE_EQ(report.total.flops, 2.0 * 128 * 18 + 2 * 2.0 * 512 * 512);
  // The view has no results of its own.
  EXPECT_DOUBLE_EQ(report.total.activation_bytes, 4 * (128 + 2 * 512 + 250));
  ASSERT_EQ(report.operators.size(), 4U);
  EXPECT_EQ(report.operators[0].name, "MatMul");
  EXPECT_EQ(report.operators[0].calls, 2);
  EXPECT_DOUBLE_EQ(report.operators[0].parameters, 512 * 512);
  ASSERT_EQ(report.modules.size(), 3U);
  EXPECT_EQ(report.modules[0].name, "stem");
  EXPECT_DOUBLE_EQ(report.modules[0].parameters, 8 * 2 * 9 + 8);
  EXPECT_EQ(report.modules[1].name, "body");
  EXPECT_EQ(report.modules[1].calls, 3);
  EXPECT_EQ(report.modules[2].name, "");
}

TEST(SumKernels, ModulesAreListedBehindTheOneThatTheyAreIn) {
  const auto names = [](std::int64_t depth) {
    std::vector<std::string> found;
    for (const auto& part : sum_kernels({{"a.x.n1", test::kCopy250, 1},
                                         {"b.n2", test::kCopy250, 1},
                                         {"a.y.n3", test::kCopy250, 1}},
                                        depth)
                                .modules)
      found.push_back(part.name);
    return found;
  };
  using ::testing::ElementsAre;
  EXPECT_THAT(names(0), ElementsAre());
  EXPECT_THAT(names(1), ElementsAre("a", "b"));
  EXPECT_THAT(names(2), ElementsAre("a", "a/x", "a/y", "b"));
}

class InspectTest : public RecordingTest {};

TEST_F(InspectTest, AFileThatSaysItsSizesNeedsNoRuntime) {
  const report::InspectionReport report = must(inspect({.model = path(kModel)}, events_));
  EXPECT_EQ(report.sizes_from, "the file");
  EXPECT_EQ(report.batch, 1);
  EXPECT_EQ(report.total.calls, 1);
  EXPECT_DOUBLE_EQ(report.total.parameters, 0);
  EXPECT_DOUBLE_EQ(report.total.activation_bytes, 8 * 4);
  ASSERT_EQ(report.operators.size(), 1U);
  EXPECT_EQ(report.operators[0].name, "Relu");
  EXPECT_THAT(events_.warnings, ::testing::IsEmpty());
}

TEST_F(InspectTest, WhatIsNotAModelIsNamed) {
  const std::string text = write("notes.txt", {"no model"});
  for (const std::string& model : {path("none.onnx"), text}) {
    const auto report = inspect({.model = model}, events_);
    ASSERT_FALSE(report) << model;
    EXPECT_EQ(report.error().code, Code::Input);
    EXPECT_THAT(report.error().message, HasSubstr(model));
  }
}

TEST_F(InspectTest, AnUnknownRuntimeIsRefusedBeforeTheModelIsRead) {
  InspectRequest request{.model = path("none.onnx")};
  request.runtime.runtime = "nothing";
  const auto report = inspect(request, events_);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, Code::Runtime);
  EXPECT_THAT(report.error().message, HasSubstr("nothing"));
}

}  // namespace
}  // namespace oplat::app
