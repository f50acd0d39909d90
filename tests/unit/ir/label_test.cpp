// SPDX-License-Identifier: Apache-2.0
#include "ir/label.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "compat/registry.hpp"
#include "ir/catalogue.hpp"

namespace oplat::ir {
namespace {

struct LabelExample {
  const char* key;
  const char* label;
  const char* type;
};

/// A kernel of each kind, as runtimes and tables of other systems have them.
const LabelExample kLabelExamples[] = {
    {"com.microsoft.nchwc:Conv/1@block=16{activation=HardSwish,dilations=[1,1],group=1,"
     "kernel_shape=[3,3],pads=[1,1,1,1],strides=[2,2]}(f32[1,3,224,224],f32c[16,3,3,3],f32c[16])->"
     "(f32[1,16,112,112])",
     "Conv 3x3 s2, 16 ch, 1x3x224x224 -> 1x16x112x112, HardSwish", "Conv"},
    {"com.microsoft.nchwc:Conv/1@block=16{activation=Relu,dilations=[1,1],group=1,kernel_shape=[3,"
     "3],pads=[1,1,1,1],strides=[1,1]}(f32[1,64,56,56],f32c[64,64,3,3],f32c[64],f32[1,64,56,56])->"
     "(&3)",
     "Conv 3x3, 64 ch, 1x64x56x56, residual, Relu", "Conv"},
    {"com.microsoft.nchwc:Conv/1@block=16{activation=Clip,activation_params=[0.0,6.0],dilations=[1,"
     "1],group=96,kernel_shape=[3,3],pads=[0,0,1,1],strides=[2,2]}(f32[1,96,112,112],f32c[96,1,3,3]"
     ",f32c[96])->(f32[1,96,56,56])",
     "Conv 3x3 s2 depthwise, 96 ch, 1x96x112x112 -> 1x96x56x56, Clip(0, 6)", "Conv depthwise"},
    {"com.microsoft:FusedConv/1{activation=Relu,dilations=[2,2],group=4,kernel_shape=[1,3],pads=[0,"
     "2,0,2],strides=[1,2]}(f32[1,64,8,8],f32c[32,16,1,3])->(f32[1,32,8,4])",
     "Conv 1x3 s1x2 d2 4 groups, 32 ch, 1x64x8x8 -> 1x32x8x4, Relu", "Conv"},
    {"com.microsoft:QLinearConv/1{channels_last=1,dilations=[1,1],group=1,kernel_shape=[3,3],pads=["
     "1,1,1,1],strides=[1,1]}(u8[1,56,56,64],f32c[],u8c[],i8c[128,64,3,3],f32c[128],i8c[128]=0,"
     "f32c[],u8c[],i32c[128])->(u8[1,56,56,128])",
     "QLinearConv 3x3, 128 ch, 1x56x56x64 -> 1x56x56x128, u8", "QLinearConv"},
    {"Gemm/13{alpha=1.0,beta=1.0,transA=0,transB=1}(f32[1,1280],f32c[1000,1280],f32c[1000])->(f32[1"
     ",1000])",
     "Gemm 1x1280 by 1280x1000 -> 1x1000", "Gemm"},
    {"MatMul/13{}(f16[12,197,64],f16[12,64,197])->(f16[12,197,197])",
     "MatMul 12x197x64 by 12x64x197 -> 12x197x197, f16", "MatMul"},
    {"com.microsoft:MatMulNBits/1{K=768,N=3072,bits=4,block_size=32}(f32[1,128,768],u8c[3072,24,16]"
     ",f32c[73728])->(f32[1,128,3072])",
     "MatMulNBits 4 bit, 1x128x768 by 768x3072 -> 1x128x3072", "MatMulNBits"},
    {"com.microsoft:Attention/1{num_heads=12,unidirectional=0}(f32[1,128,768],f32c[768,2304],f32c["
     "2304],i32[1,128],-,-)->(f32[1,128,768],-)",
     "Attention 12 heads, 1x128x768", "Attention"},
    {"com.microsoft:GroupQueryAttention/1{kv_num_heads=4,num_heads=16}(f32[1,8,1024],f32[1,8,256],"
     "f32[1,8,256])->(f32[1,8,1024],f32[1,4,8,64],f32[1,4,8,64])",
     "GroupQueryAttention 16 heads on 4, 1x8x1024 -> 1x8x1024 and 2 more", "GroupQueryAttention"},
    {"MaxPool/12{ceil_mode=0,dilations=[1,1],kernel_shape=[3,3],pads=[1,1,1,1],storage_order=0,"
     "strides=[2,2]}(f32[1,64,112,112])->(f32[1,64,56,56],-)",
     "MaxPool 3x3 s2, 1x64x112x112 -> 1x64x56x56", "MaxPool"},
    {"Mul/14{}(f32[1,64,56,56],&0)->(&0)", "Mul 1x64x56x56", "Mul"},
    {"Mul/14{}(f32[1,64,56,56],f32[1,64,1,1])->(&0)", "Mul 1x64x56x56 and 1x64x1x1 -> 1x64x56x56",
     "Mul"},
    {"Concat/13{axis=1}(f32[1,8,4,4],f32[1,8,4,4],f32[1,8,4,4])->(f32[1,24,4,4])",
     "Concat axis 1, 1x8x4x4 and 2 more -> 1x24x4x4", "Concat"},
    {"Transpose/13{perm=[0,2,1,3]}(f32[1,197,3,64])->(f32[1,3,197,64])",
     "Transpose perm 0 2 1 3, 1x197x3x64 -> 1x3x197x64", "Transpose"},
    {"Cast/13{to=7}(f32[1,128])->(i64[1,128])", "Cast 1x128, f32 -> i64", "Cast"},
    {"com.microsoft.nchwc:ReorderInput/1@block=16{channels_last=0}(f32[1,3,8,8])->(f32[1,16,8,8])",
     "ReorderInput blocks of 16, 1x3x8x8 -> 1x16x8x8", "ReorderInput"},
    {"LSTM/14{activations=[Sigmoid,Tanh,Tanh],direction=bidirectional,hidden_size=512,"
     "input_forget=0,layout=0}(f32[20,4,64],f32c[2,2048,64],f32c[2,2048,512],f32c[2,4096],-,f32c[2,"
     "4,512],f32c[2,4,512])->(f32[20,2,4,512],-,-)",
     "LSTM 512 hidden, bidirectional, 20x4x64 -> 20x2x4x512", "LSTM"},
    {"Gather/13{axis=0}(f32c[30522,256],i64[1,64])->(f32[1,64,256])",
     "Gather axis 0, 30522x256 and 1x64 -> 1x64x256, i64 -> f32", "Gather"},
    {"Loop/13@steps=80{}(i64[],bool[],any[*])->(any[*])", "Loop 80 steps, scalar and 2 more -> *",
     "Loop"},
    {"torch:module{class=\"nets.Block\",repr=\"Block()\"}(f32[1,64,56,56])->(f32[1,128,28,28])",
     "module nets.Block, 1x64x56x56 -> 1x128x28x28", "module"},
    {"paddle_lite:conv2d{activation=?,bias=?,bit_length=None,dilations=[?,1],group=1,pads=[?,?,1,1]"
     ",quant=None,strides=[?,2]}(f32[1,3,224,224],f32c[24,3,3,3])->(f32[1,24,112,112])",
     "conv2d 3x3 s2, 24 ch, 1x3x224x224 -> 1x24x112x112", "conv2d"},
    {"paddle_lite:hard_swish{}(f32[?,24,112,112])->(f32[?,24,112,112])", "hard_swish ?x24x112x112",
     "hard_swish"},
    {"tinynas:Conv{group=1,kernel_shape=[3,3],strides=[2,2]}(f32[1,16,56,56],f32c[32,16,3,3],f32[1,"
     "32,28,28])->(&2)",
     "Conv 3x3 s2, 32 ch, 1x16x56x56 -> 1x32x28x28, residual", "Conv"},
    {"caffe2:Int8ConvRelu{dilations=[1,1],group=1,kernels=[3,3],order=NHWC,pads=[1,1,1,1],strides=["
     "2,2]}(u8[1,224,224,3],u8c[32,3,3,3],i32c[32])->(u8[1,112,112,32])",
     "Int8ConvRelu 3x3 s2, 32 ch, 1x224x224x3 -> 1x112x112x32, u8", "Int8ConvRelu"},
};

TEST(Label, SaysWhatTellsKernelsApart) {
  for (const LabelExample& example : kLabelExamples) {
    const KernelLabel label = label_of(example.key, compat::catalogue());
    EXPECT_EQ(label.text, example.label) << example.key;
    EXPECT_EQ(label.type, example.type) << example.key;
  }
}

TEST(Label, OfATextThatNobodyUnderstoodIsTheText) {
  EXPECT_EQ(
      label_of("paddle_lite:other{text=\"yolo_box size=3\"}(any[*])->(any[*])", compat::catalogue())
          .text,
      "yolo_box size=3 *");
  EXPECT_EQ(label_of("Conv(", compat::catalogue()).text, "Conv(");
  EXPECT_EQ(label_of("", compat::catalogue()).text, "");
}

TEST(Label, NamesOfUntrustedFilesStayPrintable) {
  const KernelLabel label = label_of(
      "torch:module{class=\"a\\u001bb\",repr=\"\"}(f32[1])->(f32[1])", compat::catalogue());
  EXPECT_THAT(label.text, ::testing::Not(::testing::HasSubstr("\x1b")));
}

TEST(Label, StaysShortWhateverAKeyHolds) {
  std::string ones = "1";
  for (int i = 0; i < 5000; ++i) ones += ",1";
  for (const char* op : {"Conv", "MaxPool", "Transpose", "Gemm", "Concat", "LSTM", "Attention"}) {
    const std::string tensor = "f32[" + ones + "]";
    const std::string key = std::string(op) + "/1{activation_params=[" + ones + "],kernel_shape=[" +
                            ones + "],perm=[" + ones + "],strides=[" + ones + "]}(" + tensor + "," +
                            tensor + "," + tensor + ")->(" + tensor + ")";
    EXPECT_LT(label_of(key, compat::catalogue()).text.size(), 300U) << op;
  }
}

TEST(Label, ADomainMaySayMore) {
  class Words final : public KeyDomain {
   public:
    std::string_view name() const override { return "mine"; }
    std::optional<KernelWords> words(const Key& key) const override {
      KernelWords words = common_words(key);
      words.size = "very small";
      words.fused = {"Tanh"};
      return words;
    }
  };
  const Words domain;
  const KeyDomain* const domains[] = {&domain};
  const Catalogue catalogue(domains);
  EXPECT_EQ(label_of("mine:Fold{}(f32[2])->(f32[2])", catalogue).text, "Fold very small, 2, Tanh");
}

TEST(ShapeText, SaysWhatIsUnknown) {
  EXPECT_EQ(shape_text(Shape::of({1, 3})), "1x3");
  EXPECT_EQ(shape_text(Shape{}), "scalar");
  EXPECT_EQ(shape_text(Shape{false, {}}), "*");
  EXPECT_EQ(shape_text(Shape{true, {std::nullopt, 3}}), "?x3");
}

}  // namespace
}  // namespace oplat::ir
