// SPDX-License-Identifier: Apache-2.0
/// Shapes of what Paddle's operators make.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>

#include "formats/paddle/shapes.hpp"

namespace oplat::formats::paddle {

using namespace ir;  // NOLINT: the file is about keys

namespace {

using ::testing::HasSubstr;
using Dims = std::vector<std::int64_t>;

PaddleTensor of(Dims dims) { return {.dims = std::move(dims), .values = {}}; }
PaddleTensor numbers(Dims values) {
  return {.dims = {static_cast<std::int64_t>(values.size())}, .values = values};
}
Value ints(const Dims& values) { return Value::ints(values); }

struct Case {
  std::string op;
  std::vector<NamedValue> attributes;
  PaddleSlots operands;
  std::string slot;
  Dims dims;
};

void PrintTo(const Case& one, std::ostream* out) { *out << one.op; }

Result<PaddleSlots> infer(const Case& c, std::size_t count = 1) {
  return infer_paddle({.op = c.op,
                       .attributes = c.attributes,
                       .operands = c.operands,
                       .results = {{c.slot, count}}});
}

class PaddleShape : public ::testing::TestWithParam<Case> {};

TEST_P(PaddleShape, IsInferred) {
  const Case& c = GetParam();
  const auto results = infer(c);
  ASSERT_TRUE(results) << results.error().message;
  ASSERT_TRUE(results->contains(c.slot));
  EXPECT_EQ(results->at(c.slot).front().dims, c.dims);
}

const PaddleTensor kImage = of({2, 8, 15, 16});
const PaddleTensor kFilter = of({12, 4, 3, 3});

INSTANTIATE_TEST_SUITE_P(
    Windows, PaddleShape,
    ::testing::Values(
        Case{"conv2d",
             {{"groups", 2}, {"strides", ints({2, 2})}, {"paddings", ints({1, 1})}},
             {{"Input", {kImage}}, {"Filter", {kFilter}}},
             "Output",
             {2, 12, 8, 8}},
        Case{"conv2d",
             {{"groups", 2}, {"paddings", ints({0, 1, 2, 3})}},
             {{"Input", {kImage}}, {"Filter", {kFilter}}},
             "Output",
             {2, 12, 14, 19}},
        Case{"conv2d",
             {{"groups", 2}, {"strides", ints({2, 3})}, {"padding_algorithm", "SAME"}},
             {{"Input", {kImage}}, {"Filter", {kFilter}}},
             "Output",
             {2, 12, 8, 6}},
        Case{"conv2d",
             {{"groups", 2},
              {"padding_algorithm", "VALID"},
              {"paddings", ints({1, 1})},
              {"dilations", ints({2, 2})}},
             {{"Input", {kImage}}, {"Filter", {kFilter}}},
             "Output",
             {2, 12, 11, 12}},
        Case{"conv2d",
             {{"groups", 2}, {"data_format", "NHWC"}},
             {{"Input", {of({2, 15, 16, 8})}}, {"Filter", {kFilter}}},
             "Output",
             {2, 13, 14, 12}},
        Case{"conv2d_transpose",
             {{"strides", ints({2, 2})}, {"paddings", ints({1, 1})}},
             {{"Input", {kImage}}, {"Filter", {of({8, 5, 4, 4})}}},
             "Output",
             {2, 5, 30, 32}},
        Case{"conv2d_transpose",
             {{"strides", ints({2, 2})}, {"output_padding", ints({1, 1})}},
             {{"Input", {kImage}}, {"Filter", {of({8, 5, 3, 3})}}},
             "Output",
             {2, 5, 32, 34}},
        Case{"pool2d",
             {{"ksize", ints({3, 3})}, {"strides", ints({2, 2})}, {"paddings", ints({0, 0})}},
             {{"X", {kImage}}},
             "Out",
             {2, 8, 7, 7}},
        Case{"pool2d",
             {{"ksize", ints({3, 3})}, {"strides", ints({2, 2})}, {"ceil_mode", "true"}},
             {{"X", {kImage}}},
             "Out",
             {2, 8, 7, 8}},
        Case{"pool2d",
             {{"ksize", ints({1, 1})}, {"global_pooling", "true"}},
             {{"X", {kImage}}},
             "Out",
             {2, 8, 1, 1}},
        Case{"pool2d",
             {{"ksize", ints({4, 5})}, {"adaptive", "true"}},
             {{"X", {kImage}}},
             "Out",
             {2, 8, 4, 5}},
        Case{"nearest_interp_v2",
             {{"scale", List{2.0, 2.0}}, {"out_h", -1}, {"out_w", -1}},
             {{"X", {kImage}}},
             "Out",
             {2, 8, 30, 32}},
        Case{"bilinear_interp_v2",
             {{"scale", List{}}, {"out_h", 20}, {"out_w", 21}},
             {{"X", {kImage}}},
             "Out",
             {2, 8, 20, 21}},
        Case{"bilinear_interp_v2",
             {{"out_h", -1}, {"out_w", -1}},
             {{"X", {kImage}}, {"OutSize", {numbers({9, 10})}}},
             "Out",
             {2, 8, 9, 10}},
        Case{"pad3d",
             {{"paddings", ints({1, 2, 3, 4, 0, 0})}},
             {{"X", {of({1, 8, 1, 15, 16})}}},
             "Out",
             {1, 8, 1, 22, 19}},
        Case{"pad2d", {{"paddings", ints({1, 2, 3, 4})}}, {{"X", {kImage}}}, "Out", {2, 8, 18, 23}},
        Case{"pad",
             {{"paddings", ints({0, 0, 0, 0, 1, 2, 3, 4})}},
             {{"X", {kImage}}},
             "Out",
             {2, 8, 18, 23}},
        Case{"pixel_shuffle", {{"upscale_factor", 2}}, {{"X", {kImage}}}, "Out", {2, 2, 30, 32}}));

INSTANTIATE_TEST_SUITE_P(
    Movements, PaddleShape,
    ::testing::Values(
        Case{"reshape2", {{"shape", ints({0, -1, 4})}}, {{"X", {of({2, 3, 8})}}}, "Out", {2, 6, 4}},
        Case{"reshape2",
             {{"shape", ints({1})}},
             {{"X", {of({2, 3})}}, {"Shape", {numbers({3, -1})}}},
             "Out",
             {3, 2}},
        Case{"flatten_contiguous_range",
             {{"start_axis", 1}, {"stop_axis", -1}},
             {{"X", {of({2, 3, 4})}}},
             "Out",
             {2, 12}},
        Case{"flatten2", {{"axis", 2}}, {{"X", {of({2, 3, 4})}}}, "Out", {6, 4}},
        Case{"transpose2", {{"axis", ints({0, 2, 1})}}, {{"X", {of({2, 3, 4})}}}, "Out", {2, 4, 3}},
        Case{"concat", {{"axis", -1}}, {{"X", {of({2, 3}), of({2, 5})}}}, "Out", {2, 8}},
        Case{"stack", {{"axis", -1}}, {{"X", {of({2, 3}), of({2, 3})}}}, "Y", {2, 3, 2}},
        Case{"squeeze2", {{"axes", ints({-1})}}, {{"X", {of({2, 1, 1})}}}, "Out", {2, 1}},
        Case{"squeeze2", {}, {{"X", {of({2, 1, 1})}}}, "Out", {2}},
        Case{"unsqueeze2", {{"axes", ints({0, 3})}}, {{"X", {of({2, 3})}}}, "Out", {1, 2, 3, 1}},
        Case{"expand_v2", {{"shape", ints({4, -1, 3})}}, {{"X", {of({2, 1})}}}, "Out", {4, 2, 3}},
        Case{"tile", {{"repeat_times", ints({2, 1, 3})}}, {{"X", {of({2, 1})}}}, "Out", {2, 2, 3}},
        Case{"slice",
             {{"axes", ints({1})}, {"starts", ints({-3})}, {"ends", ints({2147483647})}},
             {{"Input", {of({2, 8})}}},
             "Out",
             {2, 3}},
        Case{"slice",
             {{"axes", ints({0})},
              {"starts", ints({1})},
              {"ends", ints({2})},
              {"decrease_axis", ints({0})}},
             {{"Input", {of({2, 8})}}},
             "Out",
             {8}},
        Case{"strided_slice",
             {{"axes", ints({1})},
              {"starts", ints({7})},
              {"ends", ints({-100})},
              {"strides", ints({-2})}},
             {{"Input", {of({2, 8})}}},
             "Out",
             {2, 4}},
        Case{"strided_slice",
             {{"axes", ints({1})},
              {"starts", ints({6})},
              {"ends", ints({-1})},
              {"strides", ints({-1})}},
             {{"Input", {of({2, 8})}}},
             "Out",
             {2, 7}},
        Case{"gather", {{"axis", 1}}, {{"X", {of({2, 8})}}, {"Index", {of({3})}}}, "Out", {2, 3}},
        Case{"gather_nd", {}, {{"X", {of({2, 8, 5})}}, {"Index", {of({3, 2})}}}, "Out", {3, 5}},
        Case{"lookup_table_v2",
             {},
             {{"Ids", {of({2, 7})}}, {"W", {of({100, 16})}}},
             "Out",
             {2, 7, 16}},
        Case{"top_k_v2", {{"k", 5}, {"axis", -1}}, {{"X", {of({2, 8})}}}, "Indices", {2, 5}},
        Case{
            "arg_max", {{"axis", 1}, {"keepdims", "true"}}, {{"X", {of({2, 8})}}}, "Out", {2, 1}}));

INSTANTIATE_TEST_SUITE_P(
    Numbers, PaddleShape,
    ::testing::Values(
        Case{"elementwise_add",
             {{"axis", 1}},
             {{"X", {kImage}}, {"Y", {of({8})}}},
             "Out",
             {2, 8, 15, 16}},
        Case{"elementwise_mul",
             {{"axis", -1}},
             {{"X", {kImage}}, {"Y", {of({2, 8, 1, 1})}}},
             "Out",
             {2, 8, 15, 16}},
        Case{"matmul_v2",
             {{"trans_y", "true"}},
             {{"X", {of({2, 5, 3})}}, {"Y", {of({7, 3})}}},
             "Out",
             {2, 5, 7}},
        Case{"matmul_v2", {}, {{"X", {of({3})}}, {"Y", {of({3, 4})}}}, "Out", {4}},
        Case{"mul",
             {{"x_num_col_dims", 1}},
             {{"X", {of({2, 3, 4})}}, {"Y", {of({12, 5})}}},
             "Out",
             {2, 5}},
        Case{"fc",
             {{"in_num_col_dims", 1}},
             {{"Input", {of({2, 3, 4})}}, {"W", {of({12, 5})}}},
             "Out",
             {2, 5}},
        Case{"reduce_mean",
             {{"dim", ints({-1, -2})}, {"keep_dim", "true"}},
             {{"X", {kImage}}},
             "Out",
             {2, 8, 1, 1}},
        Case{"reduce_sum",
             {{"dim", ints({0})}, {"reduce_all", "true"}},
             {{"X", {kImage}}},
             "Out",
             {}},
        Case{"range",
             {},
             {{"Start", {numbers({0})}}, {"End", {numbers({7})}}, {"Step", {numbers({2})}}},
             "Out",
             {4}},
        Case{"fill_constant", {{"shape", ints({2, 3})}}, {}, "Out", {2, 3}},
        Case{"fill_constant_batch_size_like",
             {{"shape", ints({-1, 3})}},
             {{"Input", {kImage}}},
             "Out",
             {2, 3}},
        Case{"rnn",
             {{"hidden_size", 6}, {"is_bidirec", "true"}, {"num_layers", 1}},
             {{"Input", {of({9, 2, 4})}}},
             "Out",
             {9, 2, 12}},
        Case{"quantize_linear", {}, {{"X", {kImage}}, {"Scale", {of({1})}}}, "Y", {2, 8, 15, 16}},
        Case{"yolo_box",
             {{"anchors", ints({1, 2, 3, 4})}, {"class_num", 80}},
             {{"X", {of({1, 170, 13, 13})}}},
             "Boxes",
             {1, 338, 4}},
        Case{"prior_box",
             {{"aspect_ratios", List{1.0, 2.0}},
              {"flip", "true"},
              {"max_sizes", List{60.0}},
              {"min_sizes", List{30.0}}},
             {{"Input", {of({1, 8, 5, 6})}}},
             "Boxes",
             {5, 6, 4, 4}},
        Case{"multiclass_nms3",
             {{"keep_top_k", 100}},
             {{"BBoxes", {of({2, 1000, 4})}}, {"Scores", {of({2, 80, 1000})}}},
             "Out",
             {200, 6}}));

TEST(PaddleShapes, SplitsIntoItsSections) {
  const Case even{
      "split", {{"axis", 1}, {"num", 3}, {"sections", List{}}}, {{"X", {of({2, 12})}}}, "Out", {}};
  const auto thirds = infer(even, 3);
  ASSERT_TRUE(thirds) << thirds.error().message;
  EXPECT_EQ(thirds->at("Out").at(2).dims, (Dims{2, 4}));
  const Case listed{"split",
                    {{"axis", 1}, {"num", 0}, {"sections", ints({3, -1})}},
                    {{"X", {of({2, 12})}}},
                    "Out",
                    {}};
  const auto rest = infer(listed, 2);
  ASSERT_TRUE(rest) << rest.error().message;
  EXPECT_EQ(rest->at("Out").at(1).dims, (Dims{2, 9}));
  EXPECT_FALSE(infer(even, 2));
  EXPECT_FALSE(infer(listed, 3));
}

TEST(PaddleShapes, ValuesOfShapesAreFollowed) {
  const auto values = [](const Case& c) {
    const auto results = infer(c);
    EXPECT_TRUE(results) << results.error().message;
    return results ? results->at(c.slot).front().values.value_or(Dims{-99}) : Dims{};
  };
  EXPECT_EQ(values({"shape", {}, {{"Input", {kImage}}}, "Out", {}}), (Dims{2, 8, 15, 16}));
  EXPECT_EQ(
      values({"scale", {{"scale", 0.5}, {"bias", 1.0}}, {{"X", {numbers({4, 6})}}}, "Out", {}}),
      (Dims{3, 4}));
  EXPECT_EQ(values({"scale", {{"scale", 0.5}}, {{"X", {numbers({3})}}}, "Out", {}}), (Dims{-99}));
  EXPECT_EQ(values({"elementwise_floordiv",
                    {},
                    {{"X", {numbers({7, -7})}}, {"Y", {numbers({2})}}},
                    "Out",
                    {}}),
            (Dims{3, -4}));
  EXPECT_EQ(values({"concat", {{"axis", 0}}, {{"X", {numbers({7}), numbers({2, 3})}}}, "Out", {}}),
            (Dims{7, 2, 3}));
  EXPECT_EQ(values({"slice",
                    {{"axes", ints({0})}, {"starts", ints({1})}, {"ends", ints({3})}},
                    {{"Input", {numbers({4, 5, 6, 7})}}},
                    "Out",
                    {}}),
            (Dims{5, 6}));
  EXPECT_EQ(
      values(
          {"gather", {}, {{"X", {numbers({4, 5, 6})}}, {"Index", {numbers({2, 0})}}}, "Out", {}}),
      (Dims{6, 4}));
  EXPECT_EQ(values({"reduce_prod", {}, {{"X", {numbers({4, 5})}}}, "Out", {}}), (Dims{20}));
}

TEST(PaddleShapes, WhatDoesNotGoTogetherIsRefused) {
  const auto refused = [](const Case& c, Code code, const std::string& why) {
    const auto results = infer(c);
    ASSERT_FALSE(results) << c.op;
    EXPECT_EQ(results.error().code, code) << results.error().message;
    EXPECT_THAT(results.error().message, HasSubstr(why));
  };
  refused({"conv2d", {}, {{"Input", {kImage}}, {"Filter", {kFilter}}}, "Output", {}}, Code::Input,
          "in 1 groups does not fit an image of 8 channels");
  refused({"conv2d", {}, {{"Input", {kImage}}}, "Output", {}}, Code::Input,
          "operand Filter is missing");
  refused({"conv2d",
           {{"groups", 2}},
           {{"Input", {of({1, 8, 2, 2})}}, {"Filter", {kFilter}}},
           "Output",
           {}},
          Code::Input, "a window of 3");
  refused({"conv2d",
           {{"groups", 2}, {"padding_algorithm", "MAYBE"}},
           {{"Input", {kImage}}, {"Filter", {kFilter}}},
           "Output",
           {}},
          Code::Input, "expected EXPLICIT");
  refused({"pool2d", {{"ksize", ints({0, 1})}}, {{"X", {kImage}}}, "Out", {}}, Code::Input,
          "ksize is [0,1]");
  refused({"reshape2", {{"shape", ints({5, -1})}}, {{"X", {of({2, 3})}}}, "Out", {}}, Code::Input,
          "6 elements");
  refused({"reshape2", {{"shape", ints({-1, -1})}}, {{"X", {of({2, 3})}}}, "Out", {}}, Code::Input,
          "[-1,-1]");
  refused({"reshape2", {}, {{"X", {of({2, 3})}}, {"Shape", {of({2})}}}, "Out", {}}, Code::Missing,
          "only known at run time");
  refused({"transpose2", {{"axis", ints({0, 0})}}, {{"X", {of({2, 3})}}}, "Out", {}}, Code::Input,
          "not a permutation of 2 dimensions");
  refused({"concat", {{"axis", 0}}, {{"X", {of({2, 3}), of({2, 4})}}}, "Out", {}}, Code::Input,
          "along axis 0");
  refused({"concat", {{"axis", 2}}, {{"X", {of({2, 3})}}}, "Out", {}}, Code::Input,
          "axis 2 is out of range for 2 dimensions");
  refused({"matmul_v2", {}, {{"X", {of({2, 3})}}, {"Y", {of({4, 5})}}}, "Out", {}}, Code::Input,
          "[2,3] cannot be multiplied by [4,5]");
  refused({"elementwise_add", {{"axis", 0}}, {{"X", {of({2, 3})}}, {"Y", {of({3})}}}, "Out", {}},
          Code::Input, "do not fit");
  refused({"tile",
           {{"repeat_times", ints({1 << 30, 1 << 30})}},
           {{"X", {of({1 << 20, 1 << 20})}}},
           "Out",
           {}},
          Code::Input, "would have the shape");
  refused({"while", {}, {}, "Out", {}}, Code::Missing, "cannot infer");
}

}  // namespace
}  // namespace oplat::formats::paddle
