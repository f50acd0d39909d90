// SPDX-License-Identifier: Apache-2.0
/// Keys that QNNPACK runs, keys that it does not, and keys that contradict themselves.
#include <gtest/gtest.h>

#include "ir/key.hpp"
#include "runtimes/qnnpack/spec.hpp"

namespace oplat::runtimes::qnnpack {
namespace {

Read read(const std::string& text) {
  const auto key = ir::parse(text);
  EXPECT_TRUE(key) << text << ": " << key.error().message;
  return read_spec(*key);
}

std::string conv(const std::string& attributes, const std::string& operands,
                 const std::string& result) {
  return "caffe2:Int8Conv{" + attributes + "}(" + operands + ")->(" + result + ")";
}

const std::string kAttributes =
    "dilations=[1,1],group=1,kernels=[3,3],order=NHWC,pads=[1,1,1,1],strides=[2,2]";
const std::string kOperands = "u8[1,8,8,4],u8c[6,3,3,4],i32c[6]";

TEST(QnnpackSpec, ReadsWhatAConvolutionNeeds) {
  const auto result = read(conv(kAttributes, kOperands, "u8[1,4,4,6]"));
  const auto* spec = std::get_if<Spec>(&result);
  ASSERT_NE(spec, nullptr);
  EXPECT_EQ(spec->kind, Kind::Conv);
  EXPECT_EQ(spec->filter, (Dims{6, 3, 3, 4}));
  EXPECT_EQ(spec->fan_in(), 36);
  EXPECT_EQ(spec->window.strides, (std::array<std::int64_t, 2>{2, 2}));
  EXPECT_FALSE(spec->relu);
  EXPECT_GT(spec->bytes(2, 1), spec->bytes(1, 1) + 4 * 36 * 6 - 1);
}

TEST(QnnpackSpec, TheSameOperandTwiceIsOneTensor) {
  const auto result = read("caffe2:Int8Sum{order=NHWC}(u8[1,2,2,4],&0)->(u8[1,2,2,4])");
  const auto* spec = std::get_if<Spec>(&result);
  ASSERT_NE(spec, nullptr);
  EXPECT_EQ(spec->source, (std::vector<std::size_t>{0, 0}));
}

TEST(QnnpackSpec, ContradictionsFail) {
  for (const std::string& key : {
           conv(kAttributes, kOperands, "u8[1,5,4,6]"),
           conv(kAttributes, "u8[1,8,8,4],u8c[6,3,3,5],i32c[6]", "u8[1,4,4,6]"),
           conv(kAttributes, "u8[1,8,8,4],u8c[6,3,3,4],i32c[7]", "u8[1,4,4,6]"),
           conv(kAttributes, "u8[1,8,8,4],u8c[6,5,3,4],i32c[6]", "u8[1,4,4,6]"),
           conv("dilations=[1,1],group=0,kernels=[3,3],pads=[1,1,1,1],strides=[2,2]", kOperands,
                "u8[1,4,4,6]"),
           conv("kernels=[3,3],pads=[1,1,1,1],strides=[0,2]", kOperands, "u8[1,4,4,6]"),
           conv("kernels=[99999999999,3]", kOperands, "u8[1,4,4,6]"),
           conv(kAttributes, "-", "u8[1,4,4,6]"),
           std::string("caffe2:Int8FC{order=NHWC}(u8[1,7],u8c[5,8],i32c[5])->(u8[1,5])"),
           std::string("caffe2:Int8Sum{order=NHWC}(u8[1,2,2,4],u8[1,2,2,5])->(u8[1,2,2,4])"),
           std::string("caffe2:Int8ChannelShuffle{group=3}(u8[1,2,2,4])->(u8[1,2,2,4])"),
           std::string("caffe2:Int8Flatten{}(u8[2,2])->(u8[1,3])"),
           std::string("caffe2:Int8Concat{axis=9}(u8[2,2],u8[2,2])->(u8[2,4])"),
       }) {
    EXPECT_TRUE(std::holds_alternative<table::Failed>(read(key))) << key;
  }
}

TEST(QnnpackSpec, WhatHasNoKernelIsUnsupportedWithAReason) {
  for (const auto& [key, reason] : std::vector<std::pair<std::string, std::string>>{
           {conv("kernels=[3,3],pads=[0,0,1,1],strides=[2,2]", kOperands, "u8[1,4,4,6]"),
            "differ at the two ends"},
           {conv("kernels=[3,3],order=NCHW,pads=[1,1,1,1],strides=[2,2]", kOperands, "u8[1,4,4,6]"),
            "order"},
           {conv(kAttributes, "f32[1,8,8,4],f32c[6,3,3,4],f32c[6]", "u8[1,4,4,6]"), "f32"},
           {conv(kAttributes, "u8[?,8,8,4],u8c[6,3,3,4],i32c[6]", "u8[?,4,4,6]"), "not known"},
           {conv(kAttributes, "u8[0,8,8,4],u8c[6,3,3,4],i32c[6]", "u8[0,4,4,6]"), "0 elements"},
           {"caffe2:Conv{kernels=[1,1]}(f32[1,8,8,4],f32c[6,1,1,4])->(f32[1,8,8,6])", "int8 only"},
           {"caffe2:Int8Mystery{}(u8[1,4])->(u8[1,4])", "no kernel"},
           {"caffe2:Int8Sum{}(u8[1,4],u8[1,4],u8[1,4])->(u8[1,4])", "3 operands"},
           {"MatMul/13{}(f32[2,2],f32[2,2])->(f32[2,2])", "MatMul"},
       }) {
    const auto result = read(key);
    const auto* unsupported = std::get_if<table::Unsupported>(&result);
    ASSERT_NE(unsupported, nullptr) << key;
    EXPECT_NE(unsupported->reason.find(reason), std::string::npos) << unsupported->reason;
  }
}

TEST(QnnpackSpec, TheDispatchKeyIsRunHereToo) {
  const auto result = read(std::string(plan::kDispatchKey));
  ASSERT_TRUE(std::holds_alternative<Spec>(result));
  EXPECT_EQ(std::get<Spec>(result).kind, Kind::FloatRelu);
}

}  // namespace
}  // namespace oplat::runtimes::qnnpack
