// SPDX-License-Identifier: Apache-2.0
/// The sixteen keys that every reader of keys must take unchanged, and helpers around parse().
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "ir/catalogue.hpp"
#include "ir/key.hpp"

namespace oplat::ir {

inline const std::vector<std::string>& sample_keys() {
  static const std::vector<std::string> keys = {
      R"(com.microsoft.nchwc:Conv/1@block=16{activation=Relu,dilations=[1,1],group=1,kernel_shape=[3,3],pads=[1,1,1,1],strides=[1,1]}(f32[1,64,56,56],f32c[64,64,3,3],f32c[64],f32[1,64,56,56])->(&3))",
      R"(com.microsoft.nchwc:Conv/1@block=16{activation=Clip,activation_params=[0.0,6.0],dilations=[1,1],group=96,kernel_shape=[3,3],pads=[0,0,1,1],strides=[2,2]}(f32[1,96,112,112],f32c[96,1,3,3],f32c[96])->(f32[1,96,56,56]))",
      R"(LSTM/14{activations=[Sigmoid,Tanh,Tanh],direction=forward,hidden_size=512,input_forget=0,layout=0}(f32[20,4,64],f32c[1,2048,64],f32c[1,2048,512],f32c[1,4096],-,f32c[1,4,512],f32c[1,4,512])->(f32[20,1,4,512],-,-))",
      R"(com.microsoft:QLinearConv/1{channels_last=1,dilations=[1,1],group=1,kernel_shape=[3,3],pads=[1,1,1,1],strides=[1,1]}(u8[1,56,56,64],f32c[],u8c[],i8c[64,64,3,3],f32c[64],i8c[64]=0,f32c[],u8c[],i32c[64])->(u8[1,56,56,64]))",
      R"(com.microsoft:Attention/1{num_heads=12,unidirectional=0}(f32[1,128,768],f32c[768,2304],f32c[2304],i32[1,128],-,-)->(f32[1,128,768],-))",
      R"(Slice/13{}(f32[1,7,14,384],i64c[1]=[1],i64c[1]=[9223372036854775807],i64c[1]=[2],i64c[1]=[2])->(f32[1,7,7,384]))",
      R"(Resize/13{coordinate_transformation_mode=asymmetric,mode=nearest}(f32[1,64,20,20],-,f32c[4]=[1.0,1.0,2.0,2.0],-)->(f32[1,64,40,40]))",
      R"(Mul/14{}(f32[1,64,56,56],&0)->(&0))",
      R"(NonZero/13@data="density:0.5"{}(bool[1,100])->(i64[2,?]))",
      R"(Gather/13@data="index:uniform"{axis=0}(f32c[30522,256],i64[1,64])->(f32[1,64,256]))",
      R"(Loop/13@trips=80{}(i64[],bool[],any[*])->(any[*]))",
      R"key(torch:module{class="nets.ResNetBasicBlock",repr="ResNetBasicBlock(\n  (conv1): Conv2d(64, 64)\n)"}(f32[1,64,56,56])->(f32[1,128,28,28]))key",
      R"(paddle_lite:conv2d{activation=?,bias=?,bit_length=None,dilations=[?,1],group=1,pads=[?,?,1,1],quant=None,strides=[?,2]}(f32[1,3,224,224],f32c[24,3,3,3])->(f32[1,24,112,112]))",
      R"(paddle_lite:hard_swish{}(f32[?,24,112,112])->(f32[?,24,112,112]))",
      R"(tinynas:conv{fused=1,kernel=7,stride=2,type=Regular}(any[128,3,480,480])->(any[128,192,240,240]))",
      R"(caffe2:Int8ConvRelu{kernel=3,order=NHWC,pad=1,stride=2}(u8[1,224,224,3],u8c[32,3,3,3],i32c[32])->(u8[1,112,112,32]))",
  };
  return keys;
}

/// parse() of a text that is known to be a key.
inline Key key_of(std::string_view text) {
  auto key = parse(text);
  EXPECT_TRUE(key.has_value()) << text << "\n" << (key ? "" : key.error().message);
  return key ? *key : Key{};
}

/// The canonical text of a key whose attributes are still as its source wrote them.
inline std::string canonical(std::string_view text) {
  Key key = key_of(text);
  canonicalise(key);
  return print(key);
}

}  // namespace oplat::ir
