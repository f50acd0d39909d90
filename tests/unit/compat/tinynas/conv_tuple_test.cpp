// SPDX-License-Identifier: Apache-2.0
/// A convolution of a TinyNAS library, its key, and back.
#include "compat/tinynas/conv_tuple.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "ir/catalogue.hpp"
#include "ir/work.hpp"
#include "unit/compat/all_domains.hpp"

namespace oplat::compat::tinynas {

using namespace ir;  // NOLINT: the file is about keys

namespace {

const ConvTuple kRegular{ConvType::Regular, 1, 16, 56, 56, 32, 3, 2, false, 1};
const ConvTuple kFused{ConvType::Regular, 32, 64, 7, 9, 256, 1, 1, true, 1};
const ConvTuple kDepthwise{ConvType::Depthwise, 8, 24, 15, 15, 24, 5, 2, false, 1};

rc::Gen<ConvTuple> any_tuple() {
  return rc::gen::exec([] {
    const auto size = [](std::int64_t from, std::int64_t to) {
      return *rc::gen::inRange(from, to + 1);
    };
    ConvTuple conv;
    conv.type = *rc::gen::element(ConvType::Regular, ConvType::Depthwise);
    conv.batch = size(1, 256);
    conv.out_c = size(2, 5000);
    conv.group = conv.type == ConvType::Regular ? *rc::gen::element<std::int64_t>(1, 1, 2, 7) : 1;
    conv.in_c = conv.type == ConvType::Regular ? conv.group * size(1, 5000) : conv.out_c;
    // A group for each channel is the other type.
    if (conv.group > 1 && conv.in_c == conv.group) conv.in_c *= 2;
    conv.in_h = size(0, 600);
    conv.in_w = size(0, 600);
    conv.kernel = size(1, 11);
    conv.stride = size(1, 4);
    conv.fused = *rc::gen::arbitrary<bool>();
    return conv;
  });
}

TEST(ConvTuple, KeysAreThoseOfTheFormat) {
  EXPECT_EQ(key_text_of(kRegular, Dtype::F32),
            "tinynas:Conv{group=1,kernel_shape=[3,3],strides=[2,2]}(f32[1,16,56,56],f32c[32,16,3,3]"
            ")->(f32[1,32,28,28])");
  EXPECT_EQ(key_text_of(kFused, Dtype::F16),
            "tinynas:Conv{group=1,kernel_shape=[1,1],strides=[1,1]}(f16[32,64,7,9],f16c[256,64,1,1]"
            ",f16[32,256,7,9])->(&2)");
  EXPECT_EQ(key_text_of(kDepthwise, Dtype::I8),
            "tinynas:Conv{group=24,kernel_shape=[5,5],strides=[2,2]}(i8[8,24,15,15],i8c[24,1,5,5])-"
            ">(i8[8,24,7,7])");
}

TEST(ConvTuple, BothWaysToTheTextAgreeAndLeadBack) {
  for (const Dtype dtype : {Dtype::F32, Dtype::F16, Dtype::I8, Dtype::I4}) {
    EXPECT_TRUE(rc::check("key_text_of == print(key_of); conv_tuple_of is its inverse", [dtype] {
      const ConvTuple conv = *any_tuple();
      const Key key = key_of(conv, dtype);
      const std::string text = key_text_of(conv, dtype);
      RC_ASSERT(text == print(key));
      const auto parsed = parse(text);
      RC_ASSERT(parsed.has_value());
      RC_ASSERT(*parsed == key);
      RC_ASSERT(conv_tuple_of(*parsed) == std::optional(conv));
    }));
  }
}

TEST(ConvTuple, DepthwiseHasOutChannelsWhateverInChannelsSays) {
  ConvTuple odd = kDepthwise;
  odd.in_c = 3;
  EXPECT_EQ(key_text_of(odd, Dtype::F32), key_text_of(kDepthwise, Dtype::F32));
  EXPECT_EQ(conv_tuple_of(key_of(odd, Dtype::F32)), std::optional(kDepthwise));
}

TEST(ConvTuple, OneChannelComesBackAsRegular) {
  const ConvTuple one{ConvType::Depthwise, 1, 1, 8, 8, 1, 3, 1, false, 1};
  const auto back = conv_tuple_of(key_of(one, Dtype::F32));
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(back->type, ConvType::Regular);
  EXPECT_EQ(key_text_of(*back, Dtype::F32), key_text_of(one, Dtype::F32));
}

TEST(ConvTuple, OtherKeysAreNoTuples) {
  const std::string others[] = {
      // another domain, operator, a version, a tag
      "Conv{group=1,kernel_shape=[1,1],strides=[1,1]}(f32[1,8,4,4],f32c[8,8,1,1])->(f32[1,8,4,4])",
      "tinynas:Pool{group=1,kernel_shape=[1,1],strides=[1,1]}(f32[1,8,4,4],f32c[8,8,1,1])->(f32[1,"
      "8,4,4])",
      "tinynas:Conv/"
      "1{group=1,kernel_shape=[1,1],strides=[1,1]}(f32[1,8,4,4],f32c[8,8,1,1])->(f32[1,8,4,4])",
      "tinynas:Conv@block=8{group=1,kernel_shape=[1,1],strides=[1,1]}(f32[1,8,4,4],f32c[8,8,1,1])->"
      "(f32[1,8,4,4])",
      // attributes missing, more, of another form
      "tinynas:Conv{kernel_shape=[1,1],strides=[1,1]}(f32[1,8,4,4],f32c[8,8,1,1])->(f32[1,8,4,4])",
      "tinynas:Conv{group=1,kernel_shape=[1,1],pads=[0,0],strides=[1,1]}(f32[1,8,4,4],f32c[8,8,1,1]"
      ")->(f32[1,8,4,4])",
      "tinynas:Conv{group=1,kernel_shape=[1,2],strides=[1,1]}(f32[1,8,4,4],f32c[8,8,1,2])->(f32[1,"
      "8,4,4])",
      "tinynas:Conv{group=1,kernel_shape=[1,1],strides=1}(f32[1,8,4,4],f32c[8,8,1,1])->(f32[1,8,4,"
      "4])",
      "tinynas:Conv{group=1,kernel_shape=[1,1],strides=[0,0]}(f32[1,8,4,4],f32c[8,8,1,1])->(f32[1,"
      "8,4,4])",
      "tinynas:Conv{group=?,kernel_shape=[1,1],strides=[1,1]}(f32[1,8,4,4],f32c[8,8,1,1])->(f32[1,"
      "8,4,4])",
      // operands: unknown, of two types, too few, too many, no constant, other channels
      "tinynas:Conv{group=1,kernel_shape=[1,1],strides=[1,1]}(f32[1,8,?,4],f32c[8,8,1,1])->(f32[1,"
      "8,4,4])",
      "tinynas:Conv{group=1,kernel_shape=[1,1],strides=[1,1]}(f32[1,8,4,4],f16c[8,8,1,1])->(f32[1,"
      "8,4,4])",
      "tinynas:Conv{group=1,kernel_shape=[1,1],strides=[1,1]}(f32[1,8,4,4])->(f32[1,8,4,4])",
      "tinynas:Conv{group=1,kernel_shape=[1,1],strides=[1,1]}(f32[1,8,4,4],f32c[8,8,1,1],-,-)->("
      "f32[1,8,4,4])",
      "tinynas:Conv{group=1,kernel_shape=[1,1],strides=[1,1]}(f32[1,8,4,4],f32[8,8,1,1])->(f32[1,8,"
      "4,4])",
      "tinynas:Conv{group=2,kernel_shape=[1,1],strides=[1,1]}(f32[1,8,4,4],f32c[8,8,1,1])->(f32[1,"
      "8,4,4])",
      // results: of another size, not written over, none
      "tinynas:Conv{group=1,kernel_shape=[1,1],strides=[2,2]}(f32[1,8,5,5],f32c[8,8,1,1])->(f32[1,"
      "8,3,3])",
      "tinynas:Conv{group=1,kernel_shape=[1,1],strides=[1,1]}(f32[1,8,4,4],f32c[8,8,1,1],f32[1,8,4,"
      "4])->(f32[1,8,4,4])",
      "tinynas:Conv{group=1,kernel_shape=[1,1],strides=[1,1]}(f32[1,8,4,4],f32c[8,8,1,1],f32[1,8,4,"
      "4])->(&0)",
      "tinynas:Conv{group=1,kernel_shape=[1,1],strides=[1,1]}(f32[1,8,4,4],f32c[8,8,1,1])->()",
  };
  for (const std::string& text : others) {
    const auto key = parse(text);
    ASSERT_TRUE(key.has_value()) << text << ": " << key.error().message;
    EXPECT_FALSE(conv_tuple_of(*key)) << text;
  }
}

TEST(ConvTuple, PrecisionsAreElementTypes) {
  EXPECT_EQ(dtype_of_precision("FP32"), Dtype::F32);
  EXPECT_EQ(dtype_of_precision("fp16"), Dtype::F16);
  EXPECT_EQ(dtype_of_precision("Fp16_DamoYolo"), Dtype::F16);
  EXPECT_EQ(dtype_of_precision("INT8"), Dtype::I8);
  EXPECT_EQ(dtype_of_precision("int4"), Dtype::I4);
  EXPECT_EQ(dtype_of_precision("FP8"), std::nullopt);
  EXPECT_EQ(dtype_of_precision(""), std::nullopt);
}

TEST(ConvTuple, TypesHaveTheNamesOfLibraries) {
  EXPECT_EQ(parse_conv_type("Regular"), ConvType::Regular);
  EXPECT_EQ(parse_conv_type("Depthwise"), ConvType::Depthwise);
  EXPECT_EQ(parse_conv_type("regular"), std::nullopt);
  for (const ConvType type : {ConvType::Regular, ConvType::Depthwise})
    EXPECT_EQ(parse_conv_type(name(type)), type);
}

TEST(ConvTuple, TheCatalogueCountsItsWork) {
  // 32 x 28 x 28 results of 16 x 3 x 3 multiply-adds.
  EXPECT_EQ(work(key_of(kRegular, Dtype::F32)).flops, std::optional(7'225'344.0));
  // 8 x 24 x 7 x 7 results of 5 x 5.
  EXPECT_EQ(work(key_of(kDepthwise, Dtype::F32)).flops, std::optional(470'400.0));
  // 32 x 256 x 7 x 9 results of 64; the residual is read: 2 bytes of each of 32 x 64 x 63 + 256 x
  // 64 + 32 x 256 x 63.
  const Work fused = work(key_of(kFused, Dtype::F16));
  EXPECT_EQ(fused.flops, std::optional(66'060'288.0));
  EXPECT_EQ(fused.bytes_in + fused.bytes_weights, 2.0 * (129'024 + 16'384 + 516'096));
  const OperatorInfo* info = compat::catalogue().find("tinynas", "Conv");
  ASSERT_NE(info, nullptr);
  EXPECT_EQ(info->overwritable, std::vector<std::size_t>{2});
}

}  // namespace
}  // namespace oplat::compat::tinynas
