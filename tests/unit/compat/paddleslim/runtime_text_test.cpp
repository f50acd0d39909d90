// SPDX-License-Identifier: Apache-2.0
/// Kernels of Paddle's own operators as PaddleSlim's tables name them; texts as in shared
/// systems/paddleslim.md, D.3.
#include "compat/paddleslim/runtime_text.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace oplat::compat::paddleslim {

using namespace ir;  // NOLINT: the file is about keys

namespace {

std::string text_of(std::string_view key) {
  const auto parsed = parse(key);
  if (!parsed) return "no key: " + parsed.error().message;
  return paddle_runtime_text(*parsed).value_or("none");
}

TEST(PaddleRuntimeText, SaysWhatTablesSay) {
  const std::vector<std::pair<std::string_view, std::string_view>> cases = {
      {"paddle.onednn:fused_conv2d@onednn_layout=[0]{data_format=NCHW,dilations=[1,1],fuse_"
       "activation=relu,groups=1,"
       "padding_algorithm=EXPLICIT,paddings=[0,0],strides=[1,1]}(f32[1,32,112,112],f32c[64,32,1,1],"
       "f32c[64])->"
       "(f32[1,64,112,112])",
       "conv2d in=(1, 32, 112, 112) weight=(64, 32, 1, 1) out=(1, 64, 112, 112) pad=0 stride=1 "
       "group=1 dilation=1 "
       "quant=None bit_length=None"},
      // oneDNN has one operator for both kinds of convolution.
      {"paddle.onednn:fused_conv2d{dilations=[1,1],groups=32,paddings=[1,1],strides=[2,2]}(f32[1,"
       "32,112,112],"
       "f32c[32,1,3,3],f32c[32])->(f32[1,32,56,56])",
       "depthwise_conv2d in=(1, 32, 112, 112) weight=(32, 1, 3, 3) out=(1, 32, 56, 56) pad=1 "
       "stride=2 group=32 "
       "dilation=1 quant=None bit_length=None"},
      {"paddle:conv2d{dilations=[1,1],groups=1,paddings=[1,1,2,2],strides=[2,1]}(f32[1,3,8,8],f32c["
       "4,3,3,3])->"
       "(f32[1,4,4,10])",
       "conv2d in=(1, 3, 8, 8) weight=(4, 3, 3, 3) out=(1, 4, 4, 10) pad=2 stride=1 group=1 "
       "dilation=1 quant=None "
       "bit_length=None"},
      {"paddle:pool2d{adaptive=true,global_pooling=false,paddings=[0,0],pooling_type=avg,strides=["
       "1,1]}"
       "(f32[1,8,7,7],i64c[2]=1)->(f32[1,8,1,1])",
       "pool2d in=(1, 8, 7, 7) out=(1, 8, 1, 1) stride=1 kernel=1x1 pad=0 flag_global=1 type=avg)"},
      {"paddle.onednn:pool2d{adaptive=false,global_pooling=false,paddings=[1,1],pooling_type=max,"
       "strides=[2,2]}"
       "(f32[1,8,8,8],i64c[2]=[3,3])->(f32[1,8,4,4])",
       "pool2d in=(1, 8, 8, 8) out=(1, 8, 4, 4) stride=2 kernel=3x3 pad=1 flag_global=0 type=max)"},
      {"paddle:add{}(f32[1,8,4,4],f32[1,8,4,4])->(f32[1,8,4,4])",
       "elementwise_add X=(1, 8, 4, 4) Y=(1, 8, 4, 4) axis=-1 out=(1, 8, 4, 4)"},
      {"paddle:multiply{}(f32[1,8,1,1],f32[1,8,4,4])->(f32[1,8,4,4])",
       "elementwise_mul X=(1, 8, 1, 1) Y=(1, 8, 4, 4) axis=-1 out=(1, 8, 4, 4)"},
      {"paddle:add{}(f32[2,8],&0)->(f32[2,8])",
       "elementwise_add X=(2, 8) Y=(2, 8) axis=-1 out=(2, 8)"},
      {"paddle.onednn:hardswish{}(f32[1,8])->(f32[1,8])", "hard_swish in=(1, 8) out=(1, 8)"},
      {"paddle:matmul{transpose_x=false,transpose_y=false}(f32[1,8],f32c[8,10])->(f32[1,10])",
       "matmul_v2 X=(1, 8) Y=(8, 10) out=(1, 10) quant=None bit_length=None"},
      {"paddle.onednn:fc{in_num_col_dims=1}(f32[1,8],f32c[8,10],f32c[10])->(f32[1,10])",
       "fc in=(1, 8) weight=(8, 10) out=(1, 10)"},
      {"paddle:concat{}(f32[1,4,8,8],f32[1,6,8,8],i32c[1]=[1])->(f32[1,10,8,8])",
       "concat in=(1, 4, 8, 8)(1, 6, 8, 8) axis=1 out=(1, 10, 8, 8)"},
      {"paddle:flatten{start_axis=1,stop_axis=3}(f32[1,8,1,1])->(f32[1,8])",
       "flatten_contiguous_range in=(1, 8, 1, 1) start_axis=1 stop_axis=None out=(1, 8)"},
      {"paddle.onednn:shuffle_channel{group=2}(f32[1,8,4,4])->(f32[1,8,4,4])",
       "shuffle_channel in=(1, 8, 4, 4) group=2  out=(1, 8, 4, 4)"},
      {"paddle:batch_norm{data_format=NCHW}(f32[1,8,4,4],f32c[8],f32c[8],f32c[8],f32c[8])->(f32[1,"
       "8,4,4])",
       "batch_norm in=(1, 8, 4, 4) out=(1, 8, 4, 4)"},
      {"paddle:squeeze{}(f32[1,8,1,1],i64c[2]=[2,3])->(f32[1,8])",
       "squeeze2 in=(1, 8, 1, 1) axes=[2, 3]  out=(1, 8)"},
      {"paddle:split{}(f32[1,8,4,4],i64c[2]=4,i32c[1]=[1])->(f32[1,4,4,4],f32[1,4,4,4])",
       "split in=(1, 8, 4, 4) axis=1 sections=[4, 4]"},
      {"paddle:dropout{mode=upscale_in_train}(f32[1,8],-,f32c[1])->(f32[1,8])",
       "dropout in=(1, 8)"},
      {"paddle:reshape{}(f32[1,8,4,4],i64c[2]=[1,128])->(f32[1,128])",
       "reshape2 in=(1, 8, 4, 4) out=(1, 128)"},
  };
  for (const auto& [key, text] : cases) EXPECT_EQ(text_of(key), text) << key;
}

TEST(PaddleRuntimeText, SaysNothingOfWhatTablesHaveNoWordsFor) {
  for (const std::string_view key : {
           "Relu/14{}(f32[1,8])->(f32[1,8])",                              // of another runtime
           "paddle:fly{}(f32[1,8])->(f32[1,8])",                           // unknown
           "paddle:conv2d{}(f32[1,3,8,8],f32c[4,3,3,3])->(f32[1,4,6,6])",  // attributes
                                                                           // missing
           "paddle:conv2d{dilations=[1],groups=1,paddings=[0,0],strides=[1,1]}(f32[1,3,8,8]"
           ",f32c[4,3,3,3])->(f32[1,4,6,6])",
           "paddle:conv2d{dilations=[1,1],groups=1,paddings=[0,0],strides=[1,1]}(f32[1,3,8]"
           ",f32c[4,3,3])->(f32[1,4,6])",
           "paddle:pool2d{paddings=[0,0],strides=[1,1]}(f32[1,8,7,7],i64c[2])->(f32[1,8,1,"
           "1])",                                             // no kernel
           "paddle:concat{}(f32[1,4],f32[1,4])->(f32[1,8])",  // no axis
           "paddle:relu{}()->(f32[1,8])",
           "paddle:relu{}(-)->(f32[1,8])",
           "paddle:relu{}(f32[1,8])->()",
       }) {
    EXPECT_EQ(text_of(key), "none") << key;
  }
}

}  // namespace
}  // namespace oplat::compat::paddleslim
