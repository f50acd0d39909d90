// SPDX-License-Identifier: Apache-2.0
/// Canonical form: what is filled, dropped and shortened.
#include <gtest/gtest.h>

#include <limits>

#include "unit/ir/key_samples.hpp"

namespace oplat::ir {
namespace {

TEST(Canonical, SamplesAreAlreadyCanonical) {
  for (std::size_t i = 0; i < sample_keys().size(); ++i) {
    // The Resize sample shows constants and leaves out four defaults that decide code; filled in,
    // it is another text.
    if (i == 6) continue;
    EXPECT_EQ(canonical(sample_keys()[i]), sample_keys()[i]);
  }
  EXPECT_EQ(canonical(sample_keys()[6]),
            "Resize/"
            "13{coordinate_transformation_mode=asymmetric,exclude_outside=0,mode=nearest,nearest_"
            "mode=round_prefer_"
            "floor}(f32[1,64,20,20],-,f32c[4]=[1.0,1.0,2.0,2.0],-)->(f32[1,64,40,40])");
}

TEST(Canonical, OfAConcatInEightBitsItCountsWhichOperandsAreCopied) {
  const std::string head = "com.microsoft:QLinearConcat/1{axis=3}";
  const std::string tail = "->(u8[1,7,7,20])";
  const auto operands = [&](std::string_view result, std::string_view first,
                            std::string_view second) {
    return fmt::format("{}({},u8[1,7,7,8],{},u8[1,7,7,12],{}){}", head, result, first, second,
                       tail);
  };
  const std::string one_alike =
      operands("f32c[]=1.0,u8c[]=0", "f32c[]=0.5,u8c[]=0", "f32c[]=1.0,u8c[]=0");
  EXPECT_EQ(
      canonical(operands("f32c[]=0.25,u8c[]=3", "f32c[]=0.125,u8c[]=3", "f32c[]=0.25,u8c[]=3")),
      one_alike);
  EXPECT_EQ(
      canonical(operands("f32c[]=0.75,u8c[]=0", "f32c[]=0.75,u8c[]=9", "f32c[]=0.75,u8c[]=0")),
      one_alike)
      << "a zero point of its own is no copy";
  EXPECT_EQ(canonical(one_alike), one_alike);
  // Where the values are not said, nothing is made up.
  const std::string unsaid = operands("f32c[]=0.25,u8c[]", "f32c[],u8c[]", "f32c[]=0.25,u8c[]");
  EXPECT_EQ(canonical(unsaid), unsaid);
}

TEST(Canonical, DefaultsOfTheVersionAreFilled) {
  EXPECT_EQ(canonical("Softmax/11{}(f32[2,3])->(f32[2,3])"),
            "Softmax/11{axis=1}(f32[2,3])->(f32[2,3])");
  EXPECT_EQ(canonical("Softmax/13{}(f32[2,3])->(f32[2,3])"),
            "Softmax/13{axis=-1}(f32[2,3])->(f32[2,3])");
  EXPECT_EQ(canonical("Softmax/13{axis=0}(f32[2,3])->(f32[2,3])"),
            "Softmax/13{axis=0}(f32[2,3])->(f32[2,3])");
  // A source that does not say which version is not second-guessed.
  EXPECT_EQ(canonical("Softmax{}(f32[2,3])->(f32[2,3])"), "Softmax{}(f32[2,3])->(f32[2,3])");
}

TEST(Canonical, AttributesThatChangeNoWorkAreDropped) {
  EXPECT_EQ(
      canonical("BatchNormalization/15{consumed_inputs=[0],epsilon=0.5}(f32[1,2])->(f32[1,2])"),
      "BatchNormalization/15{training_mode=0}(f32[1,2])->(f32[1,2])");
  EXPECT_EQ(canonical("LeakyRelu/16{alpha=0.1}(f32[1])->(f32[1])"),
            "LeakyRelu/16{}(f32[1])->(f32[1])");
  EXPECT_EQ(canonical("com.microsoft:Attention/1{do_rotary=0,num_heads=1}()->()"),
            "com.microsoft:Attention/1{num_heads=1,unidirectional=0}()->()");
  EXPECT_EQ(canonical("com.microsoft:Attention/1{do_rotary=1,num_heads=1}()->()"),
            "com.microsoft:Attention/1{do_rotary=1,num_heads=1,unidirectional=0}()->()");
}

TEST(Canonical, DerivedAttributes) {
  EXPECT_EQ(canonical("Transpose/13{}(f32[2,3,4])->(f32[4,3,2])"),
            "Transpose/13{perm=[2,1,0]}(f32[2,3,4])->(f32[4,3,2])");
  EXPECT_EQ(
      canonical(
          "GRU/"
          "14{direction=bidirectional}(f32[3,2,5],f32c[2,12,5],f32c[2,12,4])->(f32[3,2,2,4],-)"),
      "GRU/"
      "14{activations=[Sigmoid,Tanh,Sigmoid,Tanh],direction=bidirectional,hidden_size=4,layout=0,"
      "linear_before_"
      "reset=0}(f32[3,2,5],f32c[2,12,5],f32c[2,12,4])->(f32[3,2,2,4],-)");
  EXPECT_EQ(canonical("Resize/13{mode=cubic}()->()"),
            "Resize/"
            "13{coordinate_transformation_mode=half_pixel,cubic_coeff_a=-0.75,exclude_outside=0,"
            "mode=cubic}()->()");
}

TEST(Canonical, OneSpellingOfTheDefaultDomain) {
  EXPECT_EQ(canonical("ai.onnx:Relu/14{}(f32[1])->(f32[1])"), "Relu/14{}(f32[1])->(f32[1])");
}

TEST(Canonical, FloatsAreThoseOf32Bits) {
  Key key = key_of("Gemm/13{transA=0,transB=0}()->()");
  key.attributes.emplace_back("alpha", double{0.1F});
  key.attributes.emplace_back("beta", double{std::numeric_limits<float>::max()});
  canonicalise(key);
  EXPECT_EQ(print(key), "Gemm/13{alpha=0.1,beta=3.4028235e+38,transA=0,transB=0}()->()");
  EXPECT_EQ(static_cast<float>(*key.attribute("alpha")->real()), 0.1F);
  // A foreign system's doubles are its own.
  EXPECT_EQ(canonical("x:y{a=0.10000000149011612}()->()"), "x:y{a=0.10000000149011612}()->()");
}

TEST(Canonical, ConstantsInTheirShortestForm) {
  EXPECT_EQ(canonical("Foo{}(i64c[3]=[7,7,7])->()"), "Foo{}(i64c[3]=7)->()");
  EXPECT_EQ(canonical("Foo{}(i64c[]=[7])->()"), "Foo{}(i64c[]=7)->()");
  EXPECT_EQ(canonical("Foo{}(i64c[1]=7)->()"), "Foo{}(i64c[1]=[7])->()");
  EXPECT_EQ(canonical("Foo{}(i64c[2]=[7,8])->()"), "Foo{}(i64c[2]=[7,8])->()");
  EXPECT_EQ(canonical("Foo{}(i64c[2]=[?,?])->()"), "Foo{}(i64c[2]=[?,?])->()");
  EXPECT_EQ(canonical("Foo{}(i64c[0]=[])->()"), "Foo{}(i64c[0]=[])->()");
}

TEST(Canonical, ValuesThatDecideNothingAreNotPrinted) {
  // Floats unless the catalogue says so, weights, and tensors that are not constants.
  EXPECT_EQ(canonical("Add/14{}(f32[1],f32c[]=0.5)->(f32[1])"),
            "Add/14{}(f32[1],f32c[])->(f32[1])");
  EXPECT_EQ(canonical("Pow/15{}(f32[1],f32c[]=2.0)->(f32[1])"),
            "Pow/15{}(f32[1],f32c[]=2.0)->(f32[1])");
  EXPECT_EQ(canonical("Foo{}(i8c[65]=0,i8c[64]=0,i8[2]=0)->()"),
            "Foo{}(i8c[65]=0,i8c[64]=0,i8[2])->()");
  // Zero points of activations and the bias share a key; that of the weights chooses the kernel.
  EXPECT_EQ(canonical("QLinearConv/"
                      "10{dilations=[1],group=1,kernel_shape=[1],pads=[0,0],strides=[1]}(u8[1,1,4],"
                      "f32c[],u8c[]="
                      "3,i8c[1,1,1]=[5],f32c[],i8c[]=0,f32c[],u8c[]=4,i32c[1]=[9])->(u8[1,1,4])"),
            "QLinearConv/"
            "10{dilations=[1],group=1,kernel_shape=[1],pads=[0,0],strides=[1]}(u8[1,1,4],f32c[],"
            "u8c[],i8c[1,1,1],"
            "f32c[],i8c[]=0,f32c[],u8c[],i32c[1])->(u8[1,1,4])");
}

TEST(Canonical, AliasesNameTheTensorItself) {
  const TensorEntry moving{Dtype::F32, false, Shape::of({1}), {}};
  const TensorEntry constant{Dtype::I64, true, Shape::of({}), Value(3)};
  Key key = key_of("Foo{}()->()");
  key.operands = {moving, AliasEntry{0}, AliasEntry{1}, constant, AliasEntry{3}};
  key.results = {AliasEntry{2}};
  canonicalise(key);
  EXPECT_EQ(print(key), "Foo{}(f32[1],&0,&0,i64c[]=3,i64c[]=3)->(&0)");
}

TEST(Canonical, ForeignKeysAreOnlySorted) {
  Key key = key_of("paddle_lite:conv2d{}(f32[1,3,8,8],f32c[4,3,3,3]=0.5)->(f32[1,4,8,8])");
  key.attributes = {{"pads", Unknown{}}, {"auto_pad", "SAME_UPPER"}};
  canonicalise(key);
  EXPECT_EQ(print(key),
            "paddle_lite:conv2d{auto_pad=SAME_UPPER,pads=?}(f32[1,3,8,8],f32c[4,3,3,3]=0.5)->(f32["
            "1,4,8,8])");
}

}  // namespace
}  // namespace oplat::ir
