// SPDX-License-Identifier: Apache-2.0
/// Texts of PaddleSlim's latency tables as keys and back, and what estimators learn of such keys.
#include "compat/paddleslim/key.hpp"

#include <gtest/gtest.h>

#include <ostream>

#include "ir/description.hpp"
#include "ir/work.hpp"
#include "unit/compat/all_domains.hpp"

namespace oplat::compat::paddleslim {

using namespace ir;  // NOLINT: the file is about keys

namespace {

Key must_parse(std::string_view text) {
  auto key = parse(text);
  if (!key) {
    ADD_FAILURE() << key.error().message;
    return {};
  }
  return *std::move(key);
}

struct Pair {
  const char* text;
  const char* key;
};
/// Names of the tests.
void PrintTo(const Pair& pair, std::ostream* out) { *out << pair.text; }

class Texts : public ::testing::TestWithParam<Pair> {};

TEST_P(Texts, AreKeysAndBack) {
  const auto [text, printed] = GetParam();
  const Key key = paddle_key_of(text);
  EXPECT_EQ(print(key), printed);
  EXPECT_EQ(must_parse(print(key)), key);
  EXPECT_EQ(paddle_text_of(key), text);
  EXPECT_EQ(paddle_text_of(must_parse(printed)), text);
}

INSTANTIATE_TEST_SUITE_P(
    Templates, Texts,
    ::testing::Values(
        Pair{"conv2d in=(1, 3, 224, 224) weight=(24, 3, 3, 3) out=(1, 24, 112, 112) pad=1 stride=2 "
             "group=1 dilation=1 "
             "quant=None bit_length=None",
             "paddle_lite:conv2d{activation=?,bias=?,bit_length=None,dilations=[?,1],group=1,pads=["
             "?,?,1,1],quant=None,"
             "strides=[?,2]}(f32[1,3,224,224],f32c[24,3,3,3])->(f32[1,24,112,112])"},
        Pair{"depthwise_conv2d in=(-1, 16, 56, 56) weight=(16, 1, 5, 5) out=(-1, 16, 56, 56) pad=2 "
             "stride=1 group=16 "
             "dilation=1 quant=True bit_length=8",
             "paddle_lite:depthwise_conv2d{activation=?,bias=?,bit_length=8,dilations=[?,1],group="
             "16,pads=[?,?,2,2],"
             "quant=True,strides=[?,1]}(i8[?,16,56,56],i8c[16,1,5,5])->(any[?,16,56,56])"},
        Pair{"conv2d_transpose in=(1, 8, 7, 7) weight=(4, 4, 2, 2) out=(1, 4, 14, 14) pad=0 "
             "stride=2 group=1 dilation=1 "
             "quant=True bit_length=16",
             "paddle_lite:conv2d_transpose{activation=?,bias=?,bit_length=16,dilations=[?,1],group="
             "1,pads=[?,?,0,0],"
             "quant=True,strides=[?,2]}(f16[1,8,7,7],f16c[4,4,2,2])->(f16[1,4,14,14])"},
        Pair{
            "sparse_conv2d in=(1, 8, 7, 7) weight=(4, 8, 1, 1) out=(1, 4, 7, 7) pad=0 stride=1 "
            "group=1 dilation=1 "
            "quant=None bit_length=None NonZeroWeights=12",
            "paddle_lite:sparse_conv2d{NonZeroWeights=12,activation=?,bias=?,bit_length=None,"
            "dilations=[?,1],group=1,"
            "pads=[?,?,0,0],quant=None,strides=[?,1]}(f32[1,8,7,7],f32c[4,8,1,1])->(f32[1,4,7,7])"},
        Pair{"matmul_v2 X=(1, 1280) Y=(1280, 1000) out=(1, 1000) quant=None bit_length=None",
             "paddle_lite:matmul_v2{bit_length=None,quant=None}(f32[1,1280],f32[1280,1000])->(f32["
             "1,1000])"},
        Pair{"matmul X=(2, 3) Y=(3, 4) out=(2, 4) quant=True bit_length=8",
             "paddle_lite:matmul{bit_length=8,quant=True}(i8[2,3],i8[3,4])->(any[2,4])"},
        Pair{"pool2d in=(1, 24, 112, 112) out=(1, 24, 56, 56) stride=2 kernel=3x3 pad=1 "
             "flag_global=0 type=max)",
             "paddle_lite:pool2d{global_pooling=0,kernel_shape=[?,3],pads=[?,?,1,1],pooling_type="
             "max,strides=[?,2]}"
             "(f32[1,24,112,112])->(f32[1,24,56,56])"},
        Pair{"hard_swish in=(-1, 24, 112, 112) out=(-1, 24, 112, 112)",
             "paddle_lite:hard_swish{}(f32[?,24,112,112])->(f32[?,24,112,112])"},
        Pair{"shape in=(1, 24, 56, 56) out=(4,)", "paddle_lite:shape{}(f32[1,24,56,56])->(f32[4])"},
        Pair{"transpose2 in=(1, 2, 3) out=(1, 3, 2)",
             "paddle_lite:transpose2{}(f32[1,2,3])->(f32[1,3,2])"},
        Pair{"nearest_interp_v2 in=(1, 2, 3, 3) out=(1, 2, 6, 6)",
             "paddle_lite:nearest_interp_v2{}(f32[1,2,3,3])->(f32[1,2,6,6])"},
        Pair{"batch_norm in=(1, 8, 4, 4) out=(1, 8, 4, 4)",
             "paddle_lite:batch_norm{}(f32[1,8,4,4])->(f32[1,8,4,4])"},
        Pair{"layer_norm in=(1, 8) out=(1, 8)", "paddle_lite:layer_norm{}(f32[1,8])->(f32[1,8])"},
        Pair{"scale in=() out=()", "paddle_lite:scale{}(f32[])->(f32[])"},
        Pair{"reshape2 in=(1, 8, 1, 1) out=(1, 8)",
             "paddle_lite:reshape2{}(f32[1,8,1,1])->(f32[1,8])"},
        Pair{"elementwise_add X=(1, 1000) Y=(1000,) axis=-1 out=(1, 1000)",
             "paddle_lite:elementwise_add{axis=-1}(f32[1,1000],f32[1000])->(f32[1,1000])"},
        Pair{"fusion_elementwise_add_activation X=(1, 9) Y=(9,) axis=1 out=(1, 9)",
             "paddle_lite:fusion_elementwise_add_activation{axis=1}(f32[1,9],f32[9])->(f32[1,9])"},
        Pair{"concat in=(1, 16, 28, 28)(1, 16, 28, 28)(1, 4, 28, 28) axis=1 out=(1, 36, 28, 28)",
             "paddle_lite:concat{axis=1}(f32[1,16,28,28],f32[1,16,28,28],f32[1,4,28,28])->(f32[1,"
             "36,28,28])"},
        Pair{"stack in=(2, 3)(2, 3) axis=0 out=(2, 2, 3)",
             "paddle_lite:stack{axis=0}(f32[2,3],f32[2,3])->(f32[2,2,3])"},
        Pair{"split in=(1, 32, 28, 28) axis=1 sections=[16, 16]",
             "paddle_lite:split{axis=1,sections=[16,16]}(f32[1,32,28,28])->()"},
        Pair{"shuffle_channel in=(1, 32, 28, 28) group=2  out=(1, 32, 28, 28)",
             "paddle_lite:shuffle_channel{group=2}(f32[1,32,28,28])->(f32[1,32,28,28])"},
        Pair{"slice in=(1, 32, 113, 113) axes=[2, 3]",
             "paddle_lite:slice{axes=[2,3]}(f32[1,32,113,113])->()"},
        Pair{"squeeze2 in=(-1, 1280, 1, 1) axes=[2, 3]  out=(-1, 1280)",
             "paddle_lite:squeeze2{axes=[2,3]}(f32[?,1280,1,1])->(f32[?,1280])"},
        Pair{"unsqueeze2 in=(1, 36) axes=[]  out=(1, 36, 1, 1)",
             "paddle_lite:unsqueeze2{axes=[]}(f32[1,36])->(f32[1,36,1,1])"},
        Pair{
            "flatten_contiguous_range in=(1, 1280, 1, 1) start_axis=1 stop_axis=None out=(1, 1280)",
            "paddle_lite:flatten_contiguous_range{start_axis=1,stop_axis=None}(f32[1,1280,1,1])->("
            "f32[1,1280])"},
        Pair{"fc in=(1, 1280) weight=(1280, 1000) out=(1, 1000)",
             "paddle_lite:fc{}(f32[1,1280],f32c[1280,1000])->(f32[1,1000])"},
        Pair{"sum X=(1, 8) Y=(1, 8)  out=(1, 8)",
             "paddle_lite:sum{}(f32[1,8],f32[1,8])->(f32[1,8])"},
        Pair{"calib in=(1, 8) out=(1, 8)", "paddle_lite:calib{}(f32[1,8])->(f32[1,8])"},
        Pair{"floor in=(-1, -1) out=(-1, -1)", "paddle_lite:floor{}(f32[?,?])->(f32[?,?])"},
        Pair{"arg_max in=(1, 1000) axis=1  out=(1,)",
             "paddle_lite:arg_max{axis=1}(f32[1,1000])->(f32[1])"},
        Pair{"reduce_mean in=(1, 8, 4, 4) out=(1, 8) dim=[2, 3]",
             "paddle_lite:reduce_mean{dim=[2,3]}(f32[1,8,4,4])->(f32[1,8])"},
        Pair{"pad3d in=(1, 2, 3, 3, 3) out=(1, 2, 3, 3, 5) paddings=[1, 1, 0, 0, 0, 0]",
             "paddle_lite:pad3d{paddings=[1,1,0,0,0,0]}(f32[1,2,3,3,3])->(f32[1,2,3,3,5])"},
        Pair{"yolo_box in=(1, 255, 13, 13) out=(1, 507, 4) class_num=80",
             "paddle_lite:yolo_box{class_num=80}(f32[1,255,13,13])->(f32[1,507,4])"},
        Pair{"prior_box in=(1, 8, 4, 4) out=(4, 4, 3, 4) aspect_ratios=[1.0, 2.5] max_sizes=[] "
             "min_sizes=[60.0]",
             "paddle_lite:prior_box{aspect_ratios=[1.0,2.5],max_sizes=[],min_sizes=[60.0]}(f32[1,8,"
             "4,4])->(f32[4,4,3,4])"},
        Pair{"multiclass_nms3 boxs=(1, 507, 4) scores=(1, 80, 507) keep_top_k=100 nms_top_k=1000",
             "paddle_lite:multiclass_nms3{keep_top_k=100,nms_top_k=1000}(f32[1,507,4],f32[1,80,507]"
             ")->()"},
        Pair{"exp in=(1, 8) out=(1, 8) axes=None decrease_axis=None ends=None",
             "paddle_lite:exp{axes=None,decrease_axis=None,ends=None}(f32[1,8])->(f32[1,8])"},
        Pair{"dropout in=(1, 1280, 1, 1)", "paddle_lite:dropout{}(f32[1,1280,1,1])->()"},
        Pair{"rnn in=(1, 20, 64) out=(1, 20, 128)",
             "paddle_lite:rnn{}(f32[1,20,64])->(f32[1,20,128])"},
        Pair{"uniform_random shape=[-1, 1, 1, 1]",
             "paddle_lite:uniform_random{shape=[-1,1,1,1]}()->()"},
        Pair{"greater_equal X=(1,) Y=(1,) out=(1,)",
             "paddle_lite:greater_equal{}(f32[1],f32[1])->(f32[1])"},
        Pair{"fill_constant_batch_size_like in=(1, 8) shape=[-1, 8]  out=(1, 8)",
             "paddle_lite:fill_constant_batch_size_like{shape=[-1,8]}(f32[1,8])->(f32[1,8])"},
        Pair{"fill_constant", "paddle_lite:fill_constant{}()->()"},
        Pair{"expand_v2", "paddle_lite:expand_v2{}()->()"}));

// Not as the original spells them, or of no operator that it knows: kept whole, and nothing is
// claimed about them.
INSTANTIATE_TEST_SUITE_P(
    Odd, Texts,
    ::testing::Values(
        Pair{"", "paddle_lite:other{text=\"\"}(any[*])->(any[*])"},
        Pair{"other", "paddle_lite:other{text=other}(any[*])->(any[*])"},
        Pair{"lstm in=(1, 2)", "paddle_lite:other{text=\"lstm in=(1, 2)\"}(any[*])->(any[*])"},
        Pair{"relu in=(1,2) out=(1, 2)",
             "paddle_lite:other{text=\"relu in=(1,2) out=(1, 2)\"}(any[*])->(any[*])"},
        Pair{"relu in=(1, 2) out=(1, 2) ",
             "paddle_lite:other{text=\"relu in=(1, 2) out=(1, 2) \"}(any[*])->(any[*])"},
        Pair{"relu in=(1, 2) out=(1, -2)",
             "paddle_lite:other{text=\"relu in=(1, 2) out=(1, -2)\"}(any[*])->(any[*])"},
        Pair{"relu in=(1, 2) out=(1, 2",
             "paddle_lite:other{text=\"relu in=(1, 2) out=(1, 2\"}(any[*])->(any[*])"},
        Pair{"relu in=(01, 2) out=(1, 2)",
             "paddle_lite:other{text=\"relu in=(01, 2) out=(1, 2)\"}(any[*])->(any[*])"},
        Pair{"dropout in=(1)", "paddle_lite:other{text=\"dropout in=(1)\"}(any[*])->(any[*])"},
        Pair{"slice in=(1,) axes=[[1]]",
             "paddle_lite:other{text=\"slice in=(1,) axes=[[1]]\"}(any[*])->(any[*])"},
        Pair{"slice in=(1,) axes=[1e-05]", "paddle_lite:slice{axes=[1e-05]}(f32[1])->()"},
        Pair{"pool2d in=(1, 2, 4, 4) out=(1, 2, 2, 2) stride=2 kernel=3x2 pad=1 flag_global=0 "
             "type=max)",
             "paddle_lite:other{text=\"pool2d in=(1, 2, 4, 4) out=(1, 2, 2, 2) stride=2 kernel=3x2 "
             "pad=1 flag_global=0 "
             "type=max)\"}(any[*])->(any[*])"},
        Pair{"relu in=(99999999999999999999, 2) out=(1, 2)",
             "paddle_lite:other{text=\"relu in=(99999999999999999999, 2) out=(1, "
             "2)\"}(any[*])->(any[*])"}));

TEST(PaddleKey, ActivationsHaveTheTypeOfTheTable) {
  const std::string text = "swish in=(1, 8) out=(1, 8)";
  const Key key = paddle_key_of(text, Dtype::F16);
  EXPECT_EQ(print(key), "paddle_lite:swish{}(f16[1,8])->(f16[1,8])");
  EXPECT_EQ(paddle_text_of(key), text);
}

/// A model's kernel says more than a table's text does.
class Kernels : public ::testing::TestWithParam<Pair> {};

TEST_P(Kernels, HaveTheTextThatTheOriginalLooksUp) {
  const auto [text, printed] = GetParam();
  EXPECT_EQ(paddle_text_of(must_parse(printed)), text);
}

INSTANTIATE_TEST_SUITE_P(
    Full, Kernels,
    ::testing::Values(
        Pair{"conv2d in=(1, 3, 224, 224) weight=(24, 3, 3, 3) out=(1, 24, 112, 112) pad=1 stride=2 "
             "group=1 dilation=1 "
             "quant=None bit_length=None",
             "paddle_lite:conv2d{activation=relu,bias=true,bit_length=None,dilations=[1,1],group=1,"
             "pads=[1,1,1,1],"
             "quant=None,strides=[2,2]}(f32[1,3,224,224],f32c[24,3,3,3])->(f32[1,24,112,112])"},
        // One number an axis is what the program has unless the ends of an axis differ; the second
        // of either list.
        Pair{"conv2d in=(1, 8, 9, 9) weight=(8, 8, 1, 5) out=(1, 8, 9, 9) pad=2 stride=3 group=1 "
             "dilation=4 "
             "quant=None bit_length=None",
             "paddle_lite:conv2d{activation=None,bias=false,bit_length=None,dilations=[1,4],group="
             "1,pads=[0,0,2,2],"
             "quant=None,strides=[1,3]}(f32[1,8,9,9],f32c[8,8,1,5])->(f32[1,8,9,9])"},
        Pair{"conv2d in=(1, 8, 9, 9) weight=(8, 8, 2, 2) out=(1, 8, 9, 9) pad=1 stride=1 group=1 "
             "dilation=1 "
             "quant=None bit_length=None",
             "paddle_lite:conv2d{activation=None,bias=false,bit_length=None,dilations=[1,1],group="
             "1,pads=[0,1,0,3],"
             "quant=None,strides=[1,1]}(f32[1,8,9,9],f32c[8,8,2,2])->(f32[1,8,9,9])"},
        Pair{"depthwise_conv2d in=(2, 16, 5, 5) weight=(16, 1, 3, 3) out=(2, 16, 5, 5) pad=1 "
             "stride=1 group=16 "
             "dilation=1 quant=True bit_length=8",
             "paddle_lite:depthwise_conv2d{activation=relu6,bias=true,bit_length=8,dilations=[1,1],"
             "group=16,"
             "pads=[1,1,1,1],quant=True,strides=[1,1]}(i8[2,16,5,5],i8c[16,1,3,3],f32c[16])->(i8[2,"
             "16,5,5])"},
        Pair{"pool2d in=(1, 24, 9, 8) out=(1, 24, 4, 4) stride=2 kernel=2x2 pad=0 flag_global=0 "
             "type=avg)",
             "paddle_lite:pool2d{exclusive=true,global_pooling=0,kernel_shape=[3,2],pads=[1,1,0,0],"
             "pooling_type=avg,"
             "strides=[2,2]}(f32[1,24,9,8])->(f32[1,24,4,4])"},
        // What an operator does not have is None; what the text does not tell is left out.
        Pair{"flatten_contiguous_range in=(1, 8, 1, 1) start_axis=1 stop_axis=None out=(1, 8)",
             "paddle_lite:flatten_contiguous_range{start_axis=1,stop_axis=3}(f32[1,8,1,1])->(f32[1,"
             "8])"},
        Pair{"arg_max in=(1, 8) axis=None  out=(1,)", "paddle_lite:arg_max{}(f32[1,8])->(i64[1])"},
        Pair{"swish in=(1, 8) out=(1, 8)", "paddle_lite:swish{beta=1.0}(f32[1,8])->(f32[1,8])"},
        Pair{"dropout in=(1, 8)", "paddle_lite:dropout{}(f32[1,8])->(f32[1,8])"},
        Pair{"fc in=(1, 8) weight=(8, 4) out=(1, 4)",
             "paddle_lite:fc{activation=relu}(f32[1,8],f32c[8,4],f32c[4])->(f32[1,4])"},
        Pair{"expand_v2", "paddle_lite:expand_v2{}(f32[1,4])->(f32[8,4])"},
        Pair{"cast", "paddle_lite:cast{out_dtype=5}(i64[4])->(f32[4])"}));

TEST(PaddleKey, PrecisionIsToldByProducts) {
  const Key conv = must_parse(
      "paddle_lite:conv2d{activation=relu,bias=true,bit_length=None,dilations=[1,1],group=1,pads=["
      "0,0,0,0],quant=None,"
      "strides=[1,1]}(f32[1,8,4,4],f32c[4,8,1,1])->(f32[1,4,4,4])");
  const Key whole = paddle_in_precision(conv, Dtype::F32);
  EXPECT_EQ(whole, conv);
  const Key eight = paddle_in_precision(conv, Dtype::I8);
  EXPECT_EQ(print(eight),
            "paddle_lite:conv2d{activation=relu,bias=true,bit_length=8,dilations=[1,1],group=1,"
            "pads=[0,0,0,0],quant=True,"
            "strides=[1,1]}(i8[1,8,4,4],i8c[4,8,1,1])->(any[1,4,4,4])");
  EXPECT_EQ(paddle_in_precision(eight, Dtype::F32), conv);
  const Key half = paddle_in_precision(conv, Dtype::F16);
  EXPECT_EQ(print(half),
            "paddle_lite:conv2d{activation=relu,bias=true,bit_length=16,dilations=[1,1],group=1,"
            "pads=[0,0,0,0],quant=True,"
            "strides=[1,1]}(f16[1,8,4,4],f16c[4,8,1,1])->(f16[1,4,4,4])");
  // Activations are halves there, too, and stay what they are next to integers.
  const Key swish = must_parse("paddle_lite:swish{}(f32[1,8])->(f32[1,8])");
  EXPECT_EQ(print(paddle_in_precision(swish, Dtype::F16)),
            "paddle_lite:swish{}(f16[1,8])->(f16[1,8])");
  EXPECT_EQ(paddle_in_precision(swish, Dtype::I8), swish);
  const Key other = must_parse("Conv/11{}(f32[1,8])->(f32[1,8])");
  EXPECT_EQ(paddle_in_precision(other, Dtype::F16), other);
}

TEST(PaddleKey, KeysThatNoTextMakesHaveNone) {
  for (const char* text :
       {"swish{}(f32[1,8])->(f32[1,8])", "paddle_lite:swish{}(f32[1,8])->()",
        "paddle_lite:swish@t=1{}(f32[1,8])->(f32[1,8])",
        "paddle_lite:conv2d{}(f32[1,8],f32[1])->(f32[1,8])",
        "paddle_lite:pool2d{global_pooling=0,kernel_shape=[],pads=[],pooling_type=max,strides=[]}"
        "(f32[1,8])->(f32[1,8])",
        "paddle_lite:reduce_mean{dim=\"None x\"}(f32[1,8])->(f32[1,8])",
        "paddle_lite:swish{}(f32[*])->(f32[1,8])", "paddle_lite:swish{}(f32[1,8])->(&0)",
        "paddle_lite:swish/2{}(f32[1,8])->(f32[1,8])", "paddle_lite:lstm{}(f32[1,8])->(f32[1,8])",
        "paddle_lite:slice{axes=?}(f32[1,8])->()", "paddle_lite:slice{axes=\"[1]\"}(f32[1,8])->()",
        "paddle_lite:concat{axis=1}()->(f32[1,8])",
        "paddle_lite:other{text=\"swish in=(1, 8) out=(1, 8)\"}(any[*])->(any[*])"}) {
    EXPECT_EQ(paddle_text_of(must_parse(text)), std::nullopt) << text;
  }
}

TEST(PaddleKey, ConvolutionsOfKnownSizesAreAligned) {
  const auto dense =
      describe(paddle_key_of("conv2d in=(1, 32, 56, 56) weight=(64, 32, 3, 3) out=(1, 64, 28, 28) "
                             "pad=1 stride=2 group=1 dilation=1 quant=None "
                             "bit_length=None"));
  ASSERT_TRUE(dense.has_value());
  EXPECT_TRUE(dense->aligned);
  EXPECT_EQ(dense->slice, "paddle_lite:conv2d dense f32 f32c");
  EXPECT_EQ(dense->numbers[kConvStride], 2);
  EXPECT_EQ(dense->numbers[kConvKernel], 3);
  EXPECT_EQ(dense->numbers[kConvPad], 0) << "the padding keeps the size";
  EXPECT_EQ(dense->work.flops, 2.0 * 64 * 28 * 28 * 32 * 9);
  ASSERT_TRUE(dense->contraction.has_value());
  EXPECT_EQ(dense->contraction->stride, 2);
  const auto depthwise =
      describe(paddle_key_of("depthwise_conv2d in=(1, 64, 28, 28) weight=(64, 1, 5, 5) out=(1, 64, "
                             "24, 24) pad=0 stride=1 group=64 dilation=1 "
                             "quant=None bit_length=None"));
  ASSERT_TRUE(depthwise.has_value());
  EXPECT_EQ(depthwise->slice, "paddle_lite:depthwise_conv2d depthwise f32 f32c");
  EXPECT_EQ(depthwise->numbers[kConvPad], -2) << "none where two rows would keep the size";
  EXPECT_EQ(depthwise->work.flops, 2.0 * 64 * 24 * 24 * 25);
}

TEST(PaddleKey, UnknownSizesHaveNoDescription) {
  for (const char* text : {"conv2d in=(-1, 3, 8, 8) weight=(4, 3, 3, 3) out=(-1, 4, 8, 8) pad=1 "
                           "stride=1 group=1 dilation=1 quant=None "
                           "bit_length=None",
                           "swish in=(-1, 8) out=(-1, 8)", "lstm in=(1, 2)"}) {
    EXPECT_EQ(describe(paddle_key_of(text)), std::nullopt) << text;
  }
}

TEST(PaddleKey, OperationsAreCounted) {
  const auto flops = [](const char* text) { return work(paddle_key_of(text)).flops; };
  EXPECT_EQ(flops("pool2d in=(1, 24, 112, 112) out=(1, 24, 56, 56) stride=2 kernel=3x3 pad=1 "
                  "flag_global=0 type=max)"),
            24.0 * 56 * 56 * 9);
  EXPECT_EQ(flops("pool2d in=(1, 16, 28, 28) out=(1, 16, 1, 1) stride=1 kernel=1x1 pad=0 "
                  "flag_global=1 type=avg)"),
            16.0 * 28 * 28);
  EXPECT_EQ(flops("matmul_v2 X=(4, 1280) Y=(1280, 10) out=(4, 10) quant=None bit_length=None"),
            2.0 * 4 * 1280 * 10);
  EXPECT_EQ(flops("fc in=(4, 1280) weight=(1280, 10) out=(4, 10)"), 2.0 * 4 * 1280 * 10);
  EXPECT_EQ(flops("elementwise_mul X=(1, 16, 28, 28) Y=(1, 16, 1, 1) axis=-1 out=(1, 16, 28, 28)"),
            16.0 * 28 * 28);
  EXPECT_EQ(flops("hard_sigmoid in=(1, 16, 1, 1) out=(1, 16, 1, 1)"), 16.0);
  const auto product =
      describe(paddle_key_of(
                   "matmul_v2 X=(4, 1280) Y=(1280, 10) out=(4, 10) quant=None bit_length=None"))
          ->contraction;
  ASSERT_TRUE(product.has_value());
  EXPECT_EQ(product->in_c, 1280);
  EXPECT_EQ(product->out_c, 10);
}

}  // namespace
}  // namespace oplat::compat::paddleslim
