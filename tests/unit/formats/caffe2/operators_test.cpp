// SPDX-License-Identifier: Apache-2.0
/// Caffe2's operators: every spelling of their arguments, shapes worked out by hand.
#include "formats/caffe2/operators.hpp"

#include <gmock/gmock.h>

#include <ostream>

namespace oplat::formats::caffe2 {

using namespace ir;  // NOLINT: the file is about keys

namespace {

using ::testing::HasSubstr;

/// The text is a key whose attributes are arguments as a net spells them and whose results are to
/// be found.
std::string completed(const std::string& text) {
  auto key = parse("caffe2:" + text + "->()");
  if (!key) return key.error().message;
  const auto status = complete_caffe2(*key);
  return status ? print(*key) : "error: " + status.error().message;
}

struct Example {
  std::string given;
  std::string expected;
};

void PrintTo(const Example& example, std::ostream* out) { *out << example.given; }

class Completed : public ::testing::TestWithParam<Example> {};

TEST_P(Completed, IsCanonical) {
  EXPECT_EQ(completed(GetParam().given), "caffe2:" + GetParam().expected);
}

const std::string kConv33 =
    "Conv{dilations=[1,1],group=1,kernels=[3,3],order=NCHW,pads=[1,1,1,1],strides=[2,2]}"
    "(f32[1,8,9,9],f32c[4,8,3,3])->(f32[1,4,5,5])";
const std::string kOperands = "(f32[1,8,9,9],f32c[4,8,3,3])";

INSTANTIATE_TEST_SUITE_P(
    Spellings, Completed,
    ::testing::Values(
        Example{"Conv{kernel=3,pad=1,stride=2}" + kOperands, kConv33},
        Example{"Conv{kernels=[3,3],pads=[1,1,1,1],strides=[2,2]}" + kOperands, kConv33},
        Example{
            "Conv{kernel_h=3,kernel_w=3,pad_b=1,pad_l=1,pad_r=1,pad_t=1,stride_h=2,stride_w=2}" +
                kOperands,
            kConv33},
        Example{
            "Conv{dilation=1,group=1,kernel=3,kernel_h=3,kernel_w=3,order=NCHW,pad=1,stride=2}" +
                kOperands,
            kConv33},
        Example{"Conv{cudnn_exhaustive_search=0,kernel=3,legacy_pad=2,stride=2,ws_nbytes_limit=9}" +
                    kOperands,
                kConv33}));

INSTANTIATE_TEST_SUITE_P(
    Windows, Completed,
    ::testing::Values(
        // VALID: (10 - 3) / 2 + 1 = 4.
        Example{"MaxPool{kernel=3,legacy_pad=1,stride=2}(f32[1,2,10,10])",
                "MaxPool{dilations=[1,1],kernels=[3,3],order=NCHW,pads=[0,0,0,0],strides=[2,2]}("
                "f32[1,2,10,10])->(f32["
                "1,2,4,4])"},
        // SAME: 5 windows reach over (5 - 1) * 2 + 3 = 11, one more than there is: it is added
        // behind.
        Example{"MaxPool{kernel=3,legacy_pad=2,stride=2}(f32[1,2,10,10])",
                "MaxPool{dilations=[1,1],kernels=[3,3],order=NCHW,pads=[0,0,1,1],strides=[2,2]}("
                "f32[1,2,10,10])->(f32["
                "1,2,5,5])"},
        // Caffe rounds up: ceil((10 - 3) / 2) + 1 = 5 where Caffe2 has 4, so a stride more behind.
        Example{"MaxPool{kernel=3,legacy_pad=3,stride=2}(f32[1,2,10,10])",
                "MaxPool{dilations=[1,1],kernels=[3,3],order=NCHW,pads=[0,0,2,2],strides=[2,2]}("
                "f32[1,2,10,10])->(f32["
                "1,2,5,5])"},
        // A kernel narrower than its stride needs no padding.
        Example{"AveragePool{kernel=1,legacy_pad=2,stride=2}(f32[1,2,4,5])",
                "AveragePool{dilations=[1,1],kernels=[1,1],order=NCHW,pads=[0,0,0,0],strides=[2,2]}"
                "(f32[1,2,4,5])->("
                "f32[1,2,2,3])"},
        Example{"Int8AveragePool{global_pooling=1,order=NHWC}(u8[2,7,5,24])",
                "Int8AveragePool{dilations=[1,1],kernels=[7,5],order=NHWC,pads=[0,0,0,0],strides=["
                "1,1]}(u8[2,7,5,24])->"
                "(u8[2,1,1,24])"},
        Example{"Int8MaxPool{kernel=2,stride=2}(u8[1,8,8,4])",
                "Int8MaxPool{dilations=[1,1],kernels=[2,2],order=NHWC,pads=[0,0,0,0],strides=[2,2]}"
                "(u8[1,8,8,4])->(u8["
                "1,4,4,4])"},
        // Depthwise, rectangular, dilated: heights (9 + 2 - 5) / 1 + 1, widths 9 - 1 + 1.
        Example{"Int8Conv{dilation_h=2,dilation_w=1,group=4,kernel_h=3,kernel_w=1,order=NHWC,pad_b="
                "1,pad_l=0,pad_r=0,"
                "pad_t=1}"
                "(u8[1,9,9,4],u8c[8,3,1,1],i32c[8])",
                "Int8Conv{dilations=[2,1],group=4,kernels=[3,1],order=NHWC,pads=[1,0,1,0],strides=["
                "1,1]}"
                "(u8[1,9,9,4],u8c[8,3,1,1],i32c[8])->(u8[1,7,9,8])"},
        Example{"Conv{kernels=[3],pads=[1,1]}(f32[1,8,9],f32c[4,8,3],f32c[4])",
                "Conv{dilations=[1],group=1,kernels=[3],order=NCHW,pads=[1,1],strides=[1]}(f32[1,8,"
                "9],f32c[4,8,3],f32c[4])"
                "->(f32[1,4,9])"}));

INSTANTIATE_TEST_SUITE_P(
    Others, Completed,
    ::testing::Values(
        Example{"NCHW2NHWC{}(f32[2,3,5,7])", "NCHW2NHWC{}(f32[2,3,5,7])->(f32[2,5,7,3])"},
        Example{"NHWC2NCHW{}(f32[2,5,7,3])", "NHWC2NCHW{}(f32[2,5,7,3])->(f32[2,3,5,7])"},
        Example{"Int8Quantize{Y_scale=0.5,Y_zero_point=3}(f32[1,2])",
                "Int8Quantize{}(f32[1,2])->(u8[1,2])"},
        Example{"Int8Dequantize{}(u8[1,2])", "Int8Dequantize{}(u8[1,2])->(f32[1,2])"},
        Example{"Int8FC{Y_scale=0.5,order=NHWC}(u8[2,1,1,20],u8c[10,20],i32c[10])",
                "Int8FC{axis=1,order=NHWC}(u8[2,1,1,20],u8c[10,20],i32c[10])->(u8[2,10])"},
        Example{"FC{axis=2,order=NCHW}(f32[2,3,4,5],f32c[7,20],f32c[7])",
                "FC{axis=2}(f32[2,3,4,5],f32c[7,20],f32c[7])->(f32[2,3,7])"},
        Example{"FC{axis=-1}(f32[6,20],f32c[7,4,5])",
                "FC{axis=1}(f32[6,20],f32c[7,4,5])->(f32[6,7])"},
        Example{"Int8Softmax{order=NHWC}(u8[1,9])",
                "Int8Softmax{axis=1,order=NHWC}(u8[1,9])->(u8[1,9])"},
        Example{"Int8Sum{order=NHWC}(u8[1,4,4,8],u8[1,4,4,8])",
                "Int8Sum{order=NHWC}(u8[1,4,4,8],u8[1,4,4,8])->(u8[1,4,4,8])"},
        Example{"Sum{order=NHWC}(f32[3],f32[3],f32[3])", "Sum{}(f32[3],f32[3],f32[3])->(f32[3])"},
        Example{"Add{}(f32[2,1,4],f32[3,1])", "Add{}(f32[2,1,4],f32[3,1])->(f32[2,3,4])"},
        Example{"Add{axis=1,broadcast=1}(f32[2,3,4],f32c[3])",
                "Add{axis=1,broadcast=1}(f32[2,3,4],f32c[3])->(f32[2,3,4])"},
        Example{"Add{broadcast=1}(f32[2,3,4],f32c[4])", "Add{}(f32[2,3,4],f32c[4])->(f32[2,3,4])"},
        Example{"Int8ChannelShuffle{group=2,kernel=1}(u8[1,4,4,6])",
                "Int8ChannelShuffle{group=2,order=NHWC}(u8[1,4,4,6])->(u8[1,4,4,6])"},
        Example{"Concat{order=NHWC}(f32[1,2,2,3],f32[1,2,2,5])",
                "Concat{add_axis=0,axis=3}(f32[1,2,2,3],f32[1,2,2,5])->(f32[1,2,2,8])"},
        Example{"Concat{add_axis=1,axis=0}(f32[2,3],f32[2,3])",
                "Concat{add_axis=1,axis=0}(f32[2,3],f32[2,3])->(f32[2,2,3])"},
        Example{"Int8Concat{}(u8[1,2,2,3],u8[4,2,2,3])",
                "Int8Concat{add_axis=0,axis=0,order=NHWC}(u8[1,2,2,3],u8[4,2,2,3])->(u8[5,2,2,3])"},
        Example{"Reshape{shape=[0,-1]}(f32[2,3,4])",
                "Reshape{shape=[2,12]}(f32[2,3,4])->(f32[2,12])"},
        Example{"Int8Flatten{}(u8[2,3,4])",
                "Int8Flatten{axis=1,order=NHWC}(u8[2,3,4])->(u8[2,12])"},
        Example{
            "SpatialBN{epsilon=0.001,is_test=1,order=NCHW}(f32[1,8,4,4],f32c[8],f32c[8],f32c[8],"
            "f32c[8])",
            "SpatialBN{order=NCHW}(f32[1,8,4,4],f32c[8],f32c[8],f32c[8],f32c[8])->(f32[1,8,4,4])"},
        Example{"Int8ResizeNearest{height_scale=2.0,width_scale=1.5}(u8[1,4,5,8])",
                "Int8ResizeNearest{height_scale=2.0,order=NHWC,width_scale=1.5}(u8[1,4,5,8])->(u8["
                "1,8,7,8])"},
        Example{"Transpose{}(f32[2,3,4])", "Transpose{axes=[2,1,0]}(f32[2,3,4])->(f32[4,3,2])"},
        Example{"Int8Transpose{axes=[0,2,1]}(u8[2,3,4])",
                "Int8Transpose{axes=[0,2,1],order=NHWC}(u8[2,3,4])->(u8[2,4,3])"},
        Example{"Dropout{is_test=1,ratio=0.5}(f32[8])", "Dropout{}(f32[8])->(f32[8])"},
        Example{"Int8LeakyRelu{}(u8[8])", "Int8LeakyRelu{alpha=0.01,order=NHWC}(u8[8])->(u8[8])"}));

TEST(Complete, SaysWhatDoesNotFit) {
  const auto expect = [](const std::string& given, const std::string& why) {
    const std::string found = completed(given);
    EXPECT_TRUE(found.starts_with("error: ")) << found;
    EXPECT_THAT(found, HasSubstr(why));
  };
  const std::string image = "(f32[1,8,9,9])";
  expect("Foo{}(f32[1])", "Foo: oplat cannot infer the result shape");
  expect("MaxPool{}" + image, "no argument states the size of the kernel");
  expect("MaxPool{kernel=10}" + image, "window of 10 does not fit an image of 9");
  expect("MaxPool{kernel=3,kernels=[2,2]}" + image, "contradict");
  expect("MaxPool{kernel_h=3}" + image, "belong together");
  expect("MaxPool{kernels=[3,3,3]}" + image, "3 kernels for an image of 2 dimensions");
  expect("MaxPool{kernel=3,pad_l=1}" + image, "belong together");
  expect("MaxPool{kernel=3,legacy_pad=2,pad=1}" + image, "has both explicit padding");
  expect("MaxPool{kernel=3,legacy_pad=4}" + image, "from 0 to 3");
  expect("MaxPool{kernel=3,stride=0}" + image, "stride is 0");
  expect("MaxPool{global_pooling=1,stride=2}" + image, "global_pooling");
  expect("MaxPool{kernel=1,legacy_pad=3,pad=1}" + image, "begins after");
  expect("Conv{dilation=2,kernel=3,legacy_pad=2}" + kOperands, "does not support a dilation");
  expect("Conv{kernel=3,order=NHCW}" + kOperands, "order is 'NHCW'");
  expect("Conv{kernel=3}(f32[1,8,9,9])", "1 operands");
  expect("Conv{kernel=3}(f32[?,8,9,9],f32c[4,8,3,3])", "unknown size");
  expect("Sum{}(f32[2],f32[3])", "operand 1 is f32[3]; expected f32[2]");
  expect("Add{}(f32[2],f32[3])", "do not broadcast");
  expect("FC{}(f32[2,5],f32c[3,4])", "rows of 5");
  expect("FC{axis=3}(f32[2,5],f32c[3,4])", "axis 3 is out of range for 2");
  expect("Concat{}(f32[2,5],f32[3,5])", "cannot be joined");
  expect("Concat{axis=5}(f32[2,5],f32[3,5])", "axis 5");
  expect("Reshape{shape=[3,-1]}(f32[4])", "cannot take");
  expect("Reshape{shape=[-1,-1]}(f32[4])", "cannot take");
  expect("Reshape{shape=[4,0]}(f32[4])", "cannot take");
  expect("Reshape{}(f32[4],i64[2])", "no argument states the shape");
  expect("Transpose{axes=[0,0]}(f32[4,4])", "not a permutation");
  expect("ChannelShuffle{group=3}" + image, "8 channels do not divide into 3 groups");
  expect("ResizeNearest{height_scale=1e+30}" + image, "height_scale");
  expect("ResizeNearest{height_scale=nan}" + image, "height_scale");
  expect("Concat{axis=0}(f32[1000000000],f32[1000000000])", "its result would have");
}

TEST(Argument, TextAndBack) {
  const std::vector<std::pair<NamedValue, std::string>> examples = {
      {{"kernel", 3}, "name: \"kernel\"\ni: 3\n"},
      {{"order", "NHWC"}, "name: \"order\"\ns: \"NHWC\"\n"},
      {{"Y_scale", 0.1}, "name: \"Y_scale\"\nf: 0.1\n"},
      {{"big", 16777216.0}, "name: \"big\"\nf: 16777216\n"},
      {{"pads", Value::ints({1, 0, -1})}, "name: \"pads\"\nints: 1\nints: 0\nints: -1\n"},
      {{"scales", List{Value(0.5), Value(2.0)}}, "name: \"scales\"\nfloats: 0.5\nfloats: 2\n"},
      {{"names", List{Value("a"), Value("")}}, "name: \"names\"\nstrings: \"a\"\nstrings: \"\"\n"},
      {{"odd \"\n\x01", "\xff'\\"}, "name: \"odd \\\"\\n\\001\"\ns: \"\\377\\'\\\\\"\n"},
      {{"nothing", Value()}, "name: \"nothing\"\n"},
  };
  for (const auto& [argument, text] : examples) {
    EXPECT_EQ(caffe2_argument_text(argument), text);
    const auto back = parse_caffe2_argument(text);
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(*back, argument) << text;
  }
}

TEST(Argument, OtherLayoutsOfTheSameText) {
  EXPECT_EQ(*parse_caffe2_argument("i: 3 name: 'kernel'"), NamedValue("kernel", 3));
  EXPECT_EQ(*parse_caffe2_argument("name:\"p\";ints:[1,2, 3]"),
            NamedValue("p", Value::ints({1, 2, 3})));
  EXPECT_EQ(*parse_caffe2_argument("name: \"x\"\ns: \"\\x41\\102\\n\""), NamedValue("x", "AB\n"));
  EXPECT_EQ(*parse_caffe2_argument("name: \"p\" ints: []"), NamedValue("p", List{}));
  EXPECT_EQ(*parse_caffe2_argument("name: \"f\" f: 0.10000000149011612"), NamedValue("f", 0.1));
  EXPECT_EQ(*parse_caffe2_argument("name: \"f\" f: 1e300"),
            NamedValue("f", std::numeric_limits<double>::infinity()));
}

TEST(Argument, WhatIsNone) {
  for (const char* text : {"",
                           "kernel",
                           "name",
                           "name:",
                           "name: kernel",
                           "name: \"a",
                           "name: \"a\" i: x",
                           "name: \"a\" i: 99999999999999999999",
                           "name: \"a\" i: 1 i: 2",
                           "name: \"a\" i: 1 ints: 2",
                           "name: \"a\" ints: [1",
                           "name: \"a\" ints: 1 floats: 1",
                           "name: \"a\" name: \"b\"",
                           "i: 3",
                           "name: \"\\q\"",
                           "name: \"\\777\"",
                           "name: \"a\" j: 3",
                           "name: \"a\" f: x",
                           "name: \"\\",
                           "name: \"\\x\"",
                           "name: \"a\" s: [\"b\"]"}) {
    const auto argument = parse_caffe2_argument(text);
    EXPECT_FALSE(argument) << text;
  }
  EXPECT_FALSE(parse_caffe2_argument("name: \"" + std::string(1 << 20, 'a') + "\""));
}

}  // namespace
}  // namespace oplat::formats::caffe2
