// SPDX-License-Identifier: Apache-2.0
/// auto_pad as pads, against the formulas of the ONNX operator pages worked out by hand.
#include <gtest/gtest.h>

#include <ostream>

#include "unit/ir/key_samples.hpp"

namespace oplat::ir {
namespace {

struct Padding {
  std::string before;  ///< attributes, operands and results
  std::string after;   ///< attributes
};

void PrintTo(const Padding& padding, std::ostream* out) { *out << padding.before; }

class WindowTest : public ::testing::TestWithParam<Padding> {};

TEST_P(WindowTest, AttributesInFull) {
  const std::string& before = GetParam().before;
  Key key = key_of(before);
  canonicalise(key);
  Key expected = key_of(before);
  expected.attributes = key_of("x" + GetParam().after + "()->()").attributes;
  EXPECT_EQ(print(key), print(expected));
}

INSTANTIATE_TEST_SUITE_P(
    Convolutions, WindowTest,
    ::testing::Values(
        // Everything left to the defaults.
        Padding{"Conv/11{}(f32[1,3,8,8],f32c[4,3,3,3])->(f32[1,4,6,6])",
                "{dilations=[1,1],group=1,kernel_shape=[3,3],pads=[0,0,0,0],strides=[1,1]}"},
        // Stride 1: two in all, one on each side.
        Padding{"Conv/"
                "11{auto_pad=SAME_UPPER,kernel_shape=[3,3]}(f32[1,3,8,8],f32c[4,3,3,3])->(f32[1,4,"
                "8,8])",
                "{dilations=[1,1],group=1,kernel_shape=[3,3],pads=[1,1,1,1],strides=[1,1]}"},
        // Even size, stride 2: (112 - 1) x 2 + 3 - 224 = 1, behind.
        Padding{"Conv/"
                "11{auto_pad=SAME_UPPER,strides=[2,2]}(f32[1,3,224,224],f32c[32,3,3,3])->(f32[1,32,"
                "112,112])",
                "{dilations=[1,1],group=1,kernel_shape=[3,3],pads=[0,0,1,1],strides=[2,2]}"},
        // The same, in front.
        Padding{"Conv/"
                "11{auto_pad=SAME_LOWER,strides=[2,2]}(f32[1,3,224,224],f32c[32,3,3,3])->(f32[1,32,"
                "112,112])",
                "{dilations=[1,1],group=1,kernel_shape=[3,3],pads=[1,1,0,0],strides=[2,2]}"},
        // Odd size, stride 2: (113 - 1) x 2 + 3 - 225 = 2; even one: 1.
        Padding{"Conv/"
                "11{auto_pad=SAME_UPPER,strides=[2,2]}(f32[1,3,225,224],f32c[32,3,3,3])->(f32[1,32,"
                "113,112])",
                "{dilations=[1,1],group=1,kernel_shape=[3,3],pads=[1,0,1,1],strides=[2,2]}"},
        // Dilation 2 makes 3 reach over 5: four in all.
        Padding{
            "Conv/"
            "11{auto_pad=SAME_UPPER,dilations=[2,2]}(f32[1,3,9,9],f32c[4,3,3,3])->(f32[1,4,9,9])",
            "{dilations=[2,2],group=1,kernel_shape=[3,3],pads=[2,2,2,2],strides=[1,1]}"},
        // Even kernel: three in all, the odd one behind or in front.
        Padding{"Conv/11{auto_pad=SAME_UPPER}(f32[1,3,9],f32c[4,3,4])->(f32[1,4,9])",
                "{dilations=[1],group=1,kernel_shape=[4],pads=[1,2],strides=[1]}"},
        Padding{"Conv/11{auto_pad=SAME_LOWER}(f32[1,3,9],f32c[4,3,4])->(f32[1,4,9])",
                "{dilations=[1],group=1,kernel_shape=[4],pads=[2,1],strides=[1]}"},
        // A stride beyond the kernel never needs a negative pad.
        Padding{"Conv/11{auto_pad=SAME_UPPER,strides=[4]}(f32[1,3,8],f32c[4,3,1])->(f32[1,4,2])",
                "{dilations=[1],group=1,kernel_shape=[1],pads=[0,0],strides=[4]}"},
        // Grouped; VALID overrides other pads.
        Padding{
            "Conv/"
            "11{auto_pad=VALID,group=2,pads=[9,9,9,9]}(f32[1,4,8,8],f32c[4,2,3,3])->(f32[1,4,6,6])",
            "{dilations=[1,1],group=2,kernel_shape=[3,3],pads=[0,0,0,0],strides=[1,1]}"},
        // Three spatial dimensions.
        Padding{
            "Conv/22{auto_pad=SAME_UPPER}(f32[1,1,4,5,6],f32c[2,1,1,2,3])->(f32[1,2,4,5,6])",
            "{dilations=[1,1,1],group=1,kernel_shape=[1,2,3],pads=[0,0,1,0,1,1],strides=[1,1,1]}"},
        // Channels last: 7 x 9 is the image, although the weights are [M, C, ...].
        Padding{"com.microsoft:QLinearConv/"
                "1{auto_pad=SAME_UPPER,channels_last=1,strides=[2,2]}(u8[1,7,10,4],f32c[],u8c[],"
                "i8c[8,4,3,3],f32c[],i8c[]=0,f32c[],u8c[],-)->(u8[1,4,5,8])",
                "{channels_last=1,dilations=[1,1],group=1,kernel_shape=[3,3],pads=[1,0,1,1],"
                "strides=[2,2]}"},
        // The fused activation stays.
        Padding{"com.microsoft:FusedConv/"
                "1{activation=HardSigmoid,activation_params=[0.20000000298023224,0.5]}"
                "(f32[1,3,8,8],f32c[4,3,1,1])->(f32[1,4,8,8])",
                "{activation=HardSigmoid,activation_params=[0.2,0.5],dilations=[1,1],group=1,"
                "kernel_shape=[1,1],"
                "pads=[0,0,0,0],strides=[1,1]}"},
        // An unknown image leaves auto_pad as it is, and so does one of unknown rank.
        Padding{"Conv/11{auto_pad=SAME_UPPER}(f32[1,3,?,8],f32c[4,3,3,3])->(f32[1,4,?,8])",
                "{auto_pad=SAME_UPPER,dilations=[1,1],group=1,kernel_shape=[3,3],strides=[1,1]}"},
        Padding{"Conv/11{}(f32[*],f32[*])->(f32[*])", "{auto_pad=NOTSET,group=1}"},
        // Absurd numbers are left alone.
        Padding{"Conv/"
                "11{auto_pad=SAME_UPPER,strides=[0,9223372036854775807]}(f32[1,3,8,8],f32c[4,3,3,3]"
                ")->(f32[1,4,8,8])",
                "{auto_pad=SAME_UPPER,dilations=[1,1],group=1,kernel_shape=[3,3],strides=[0,"
                "9223372036854775807]}"},
        Padding{"Conv/"
                "11{auto_pad=SAME_UPPER,dilations=[9223372036854775807,1]}(f32[1,3,8,8],f32c[4,3,3,"
                "3])->(f32[1,4,8,8])",
                "{auto_pad=SAME_UPPER,dilations=[9223372036854775807,1],group=1,kernel_shape=[3,3],"
                "strides=[1,1]}"}));

INSTANTIATE_TEST_SUITE_P(
    Transposed, WindowTest,
    ::testing::Values(
        Padding{"ConvTranspose/11{strides=[2,2]}(f32[1,16,8,8],f32c[16,8,2,2])->(f32[1,8,16,16])",
                "{dilations=[1,1],group=1,kernel_shape=[2,2],output_padding=[0,0],pads=[0,0,0,0],"
                "strides=[2,2]}"},
        // The result is 8 x 2 = 16 long; without padding it would be 7 x 2 + 3 = 17: one too many,
        // cut behind.
        Padding{
            "ConvTranspose/"
            "11{auto_pad=SAME_UPPER,strides=[2,2]}(f32[1,16,8,8],f32c[16,8,3,3])->(f32[1,8,16,16])",
            "{dilations=[1,1],group=1,kernel_shape=[3,3],output_padding=[0,0],pads=[0,0,1,1],"
            "strides=[2,2]}"},
        Padding{
            "ConvTranspose/"
            "11{auto_pad=SAME_LOWER,strides=[2,2]}(f32[1,16,8,8],f32c[16,8,3,3])->(f32[1,8,16,16])",
            "{dilations=[1,1],group=1,kernel_shape=[3,3],output_padding=[0,0],pads=[1,1,0,0],"
            "strides=[2,2]}"},
        // output_shape decides; auto_pad still says where the odd one goes.
        Padding{"ConvTranspose/"
                "11{auto_pad=SAME_UPPER,output_shape=[16],strides=[2]}(f32[1,16,8],f32c[16,8,3])->("
                "f32[1,8,16])",
                "{auto_pad=SAME_UPPER,dilations=[1],group=1,kernel_shape=[3],output_padding=[0],"
                "output_shape=[16],"
                "strides=[2]}"}));

INSTANTIATE_TEST_SUITE_P(
    Pooling, WindowTest,
    ::testing::Values(
        Padding{"MaxPool/"
                "12{auto_pad=SAME_UPPER,kernel_shape=[3,3],strides=[2,2]}(f32[1,64,112,112])->(f32["
                "1,64,56,56])",
                "{ceil_mode=0,dilations=[1,1],kernel_shape=[3,3],pads=[0,0,1,1],storage_order=0,"
                "strides=[2,2]}"},
        // Version 8 knows neither dilations nor ceil_mode.
        Padding{"MaxPool/8{kernel_shape=[2,2]}(f32[1,64,8,8])->(f32[1,64,7,7])",
                "{kernel_shape=[2,2],pads=[0,0,0,0],storage_order=0,strides=[1,1]}"},
        Padding{
            "AveragePool/11{kernel_shape=[2,2]}(f32[1,64,8,8])->(f32[1,64,7,7])",
            "{ceil_mode=0,count_include_pad=0,kernel_shape=[2,2],pads=[0,0,0,0],strides=[1,1]}"},
        Padding{"AveragePool/19{kernel_shape=[2,2]}(f32[1,64,8,8])->(f32[1,64,7,7])",
                "{ceil_mode=0,count_include_pad=0,dilations=[1,1],kernel_shape=[2,2],pads=[0,0,0,0]"
                ",strides=[1,1]}"},
        Padding{"com.microsoft.nchwc:MaxPool/"
                "1@block=16{auto_pad=VALID,kernel_shape=[3,3]}(f32[1,64,8,8])->(f32[1,64,6,6])",
                "{ceil_mode=0,dilations=[1,1],kernel_shape=[3,3],pads=[0,0,0,0],storage_order=0,"
                "strides=[1,1]}"},
        Padding{"com.microsoft:QLinearAveragePool/"
                "1{auto_pad=SAME_LOWER,channels_last=1,kernel_shape=[2,3]}"
                "(u8[1,5,6,32],f32c[],u8c[],f32c[],u8c[])->(u8[1,5,6,32])",
                "{ceil_mode=0,channels_last=1,count_include_pad=0,kernel_shape=[2,3],pads=[1,1,0,1]"
                ",strides=[1,1]}"}));

}  // namespace
}  // namespace oplat::ir
