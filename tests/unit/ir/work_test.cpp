// SPDX-License-Identifier: Apache-2.0
/// Bytes and operations of kernels, each number worked out by hand.
#include "ir/work.hpp"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <cmath>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>

#include "unit/compat/all_domains.hpp"
#include "unit/ir/key_samples.hpp"

namespace oplat::ir {
namespace {

struct Example {
  std::string key;
  double flops;
};

void PrintTo(const Example& example, std::ostream* out) { *out << example.key; }

class Flops : public ::testing::TestWithParam<Example> {};

TEST_P(Flops, AreThoseWorkedOutByHand) {
  const auto counted = work(key_of(GetParam().key));
  ASSERT_TRUE(counted.flops.has_value()) << GetParam().key;
  EXPECT_EQ(*counted.flops, GetParam().flops) << GetParam().key;
}

INSTANTIATE_TEST_SUITE_P(
    Convolutions, Flops,
    ::testing::Values(
        // ResNet-50's first: 64 x 112 x 112 results, each 3 x 7 x 7 multiply-adds; the bias is not
        // counted.
        Example{"Conv/11{group=1}(f32[1,3,224,224],f32c[64,3,7,7],f32c[64])->(f32[1,64,112,112])",
                236'027'904},
        // Depthwise: 96 x 56 x 56 results of 9 multiply-adds.
        Example{sample_keys()[1], 5'419'008},
        // Fused Sum and Relu: 64 x 56 x 56 results of 576; the Sum is not counted.
        Example{sample_keys()[0], 231'211'008},
        // Two groups of 8 -> 16 channels, dilated (which changes where is read, not how often): 32
        // x 10 x 10 of 8 x 9.
        Example{
            "Conv/11{dilations=[2,2],group=2}(f32[1,16,14,14],f32c[32,8,3,3])->(f32[1,32,10,10])",
            460'800},
        // One dimension; batch of 2: 2 x 4 x 10 results of 3 x 5.
        Example{"Conv/11{}(f32[2,3,14],f32c[4,3,5])->(f32[2,4,10])", 2'400},
        // Channels last: 56 x 56 x 64 results of 64 x 9.
        Example{sample_keys()[3], 231'211'008},
        Example{"ConvInteger/10{}(u8[1,3,8,8],u8c[4,3,3,3])->(i32[1,4,6,6])", 7'776},
        // Where filters stand as [M, height, width, C].
        Example{"com.microsoft:NhwcConv/1{group=1}(f16[1,8,8,4],f16c[6,3,3,4])->(f16[1,6,6,6])",
                15'552},
        Example{"DeformConv/19{group=1}(f32[1,4,8,8],f32c[6,4,3,3],f32[1,18,6,6])->(f32[1,6,6,6])",
                15'552},
        // 16 x 8 x 8 operand elements, each into 8 x 4 x 4 results.
        Example{"ConvTranspose/11{}(f32[1,16,8,8],f32c[16,8,4,4])->(f32[1,8,16,16])", 262'144}));

INSTANTIATE_TEST_SUITE_P(
    Products, Flops,
    ::testing::Values(
        Example{"Gemm/13{transA=0,transB=1}(f32[8,512],f32c[1000,512],f32c[1000])->(f32[8,1000])",
                8'192'000},
        Example{"Gemm/13{transA=1,transB=0}(f32[512,8],f32c[512,1000])->(f32[8,1000])", 8'192'000},
        Example{"MatMul/13{}(f32[2,12,128,64],f32[2,12,64,128])->(f32[2,12,128,128])", 50'331'648},
        // A vector, and a batch that only B has: 5 x 7 results of 3.
        Example{"MatMul/13{}(f32[3],f32[5,3,7])->(f32[5,7])", 210},
        Example{
            "com.microsoft:FusedMatMul/1{transA=1}(f32[2,64,128],f32[2,64,32])->(f32[2,128,32])",
            1'048'576},
        // transBatchA: A is [K, batch, M] under transA.
        Example{"com.microsoft:FusedMatMul/"
                "1{transA=1,transBatchA=1}(f32[64,2,128],f32[2,64,32])->(f32[2,128,32])",
                1'048'576},
        Example{"QLinearMatMul/"
                "10{}(u8[4,16],f32c[],u8c[],i8c[16,8],f32c[],i8c[],f32c[],u8c[])->(u8[4,8])",
                1'024},
        Example{"com.microsoft:MatMulNBits/"
                "1{K=4096,N=1024,bits=4,block_size=32}(f32[1,4,4096],u8c[1024,128,16],"
                "f32c[131072])->(f32[1,4,1024])",
                33'554'432}));

INSTANTIATE_TEST_SUITE_P(
    EinsumAndAttention, Flops,
    ::testing::Values(
        // 8 x 1000 results of 512, and two batches of 12 heads of 128 x 64 x 128.
        Example{"Einsum/12{equation=\"ij,jk->ik\"}(f32[8,512],f32[512,1000])->(f32[8,1000])",
                8'192'000},
        Example{"Einsum/12{equation=\"bhqd, bhkd -> "
                "bhqk\"}(f32[2,12,128,64],f32[2,12,128,64])->(f32[2,12,128,128])",
                50'331'648},
        // "..." stands for one dimension of either, of which one is repeated.
        Example{"Einsum/12{equation=\"...ij,...jk->...ik\"}(f32[5,2,3],f32[1,3,7])->(f32[5,2,7])",
                420},
        Example{"Einsum/12{equation=\"ij->i\"}(f32[4,5])->(f32[4])", 20},
        // 2 x 3 x 4 and 2 x 4 x 5 products; 6 sums of 4, then 3 x 5 products of 2.
        Example{"Einsum/12{equation=\"ij,jk,kl->il\"}(f32[2,3],f32[3,4],f32[4,5])->(f32[2,5])",
                2 * 24 + 2 * 40},
        Example{"Einsum/12{equation=\"ijk,jl\"}(f32[4,2,3],f32[2,5])->(f32[4,3,5])", 2 * 120},
        Example{"Einsum/12{equation=\"ijk,jl->kl\"}(f32[4,2,3],f32[2,5])->(f32[3,5])", 24 + 2 * 30},
        // 5 tokens, each to 2 of 8 experts of 2 x 256 x 512 weights.
        Example{"com.microsoft:MoE/1{k=2}(f32[5,256],f32[5,8],f32c[8,512,256],-,f32c[8,256,512])->"
                "(f32[5,256])",
                2.0 * 5 * 2 * 2 * 256 * 512},
        Example{"com.microsoft:QMoE/1{expert_weight_bits=4,k=2}(f32[5,256],f32[5,8],"
                "u8c[8,512,128],f32c[8,512],-,u8c[8,256,256],f32c[8,256])->(f32[5,256])",
                2.0 * 5 * 2 * 2 * 256 * 512},
        // 2 heads of 4: 3 queries against 5 keys, 15 scores of (4 + 4) multiply-adds and a softmax
        // of 5.
        Example{"Attention/23{}(f32[1,2,3,4],f32[1,2,5,4],f32[1,2,5,4])->(f32[1,2,3,4])", 630},
        Example{"Attention/"
                "23{kv_num_heads=2,q_num_heads=2}(f32[1,3,8],f32[1,5,8],f32[1,5,8])->(f32[1,3,8])",
                630},
        // 1 query of 4 heads of 2 against 6 keys, of which 5 are the past: 6 x (2 x 8 + 2 x 8 + 5 x
        // 4).
        Example{"com.microsoft:GroupQueryAttention/"
                "1{kv_num_heads=2,num_heads=4}(f32[1,1,8],f32[1,1,4],f32[1,1,4],"
                "f32[1,2,5,2],f32[1,2,5,2],i32[1],i32[])->(f32[1,1,8],f32[1,2,6,2],f32[1,2,6,2])",
                312},
        // 4 taps of 2, and 2 x 2 places of 4 taps of 2.
        Example{"GridSample/16{mode=bilinear}(f32[1,3,8,8],f32[1,4,4,2])->(f32[1,3,4,4])", 384},
        Example{"RoiAlign/16{sampling_ratio=2}(f32[1,3,8,8],f32[2,4],i64[2])->(f32[2,3,2,2])",
                768}));

INSTANTIATE_TEST_SUITE_P(
    PaddleLite, Flops,
    ::testing::Values(
        // 256 x 28 x 28 operand elements, each into 128 filters of 4 x 4; the text has the result's
        // channels first, the model those of the operand.
        Example{"paddle_lite:conv2d_transpose{group=1}(f32[1,256,28,28],f32c[128,128,4,4])->(f32[1,"
                "128,56,56])",
                822'083'584},
        Example{"paddle_lite:conv2d_transpose{group=1}(f32[1,256,28,28],f32c[256,128,4,4])->(f32[1,"
                "128,56,56])",
                822'083'584},
        // Eight groups of one channel: 8 x 64 x 64 elements into 3 x 3 results.
        Example{"paddle_lite:depthwise_conv2d_transpose{group=8}(f32[1,8,64,64],f32c[8,1,3,3])->("
                "f32[1,8,128,128])",
                589'824},
        Example{"paddle.onednn:conv2d_transpose{groups=1}(f32[1,16,8,8],f32c[16,8,4,4])->(f32[1,8,"
                "16,16])",
                262'144},
        // 4 x 6 x 6 x 6 results of 1 x 3 x 3 x 3, filters first in the key as in the model.
        Example{"paddle_lite:conv3d{groups=1}(f32c[4,1,3,3,3],f32[1,1,8,8,8])->(f32[1,4,6,6,6])",
                46'656},
        // 2 x 4 x 4 x 4 elements, each into 3 x 2 x 2 x 2.
        Example{"paddle_lite:conv3d_transpose{}(f32c[2,3,2,2,2],f32[1,2,4,4,4])->(f32[1,3,8,8,8])",
                6'144},
        // 2048 weights of which 512 are left meet 14 x 14 places; all of them where the key does
        // not say.
        Example{"paddle_lite:sparse_conv2d{NonZeroWeights=512}(f32[1,32,14,14],f32c[64,32,1,1])->("
                "f32[1,64,14,14])",
                200'704},
        Example{"paddle_lite:sparse_conv2d{NonZeroWeights=None}(f32[1,32,14,14],f32c[64,32,1,1])->("
                "f32[1,64,14,14])",
                802'816},
        Example{"paddle_lite:matmul_v2{}(f32[2,12,128,64],f32[2,12,64,128])->(f32[2,12,128,128])",
                50'331'648},
        // The result's 8 rows say that X is [K, M].
        Example{"paddle_lite:matmul{}(f32[512,8],f32[512,1000])->(f32[8,1000])", 8'192'000},
        // [2, 3 x 4 x 4] by [48, 10].
        Example{"paddle_lite:mul{x_num_col_dims=1}(f32[2,3,4,4],f32c[48,10])->(f32[2,10])", 1'920},
        // 20 steps of 4 sequences; LSTM of 64 -> 512: 4 x 512 x (64 + 512) weights.
        Example{"paddle_lite:rnn{hidden_size=512,is_bidirec=false,mode=LSTM,num_layers=1}(f32[20,4,"
                "64])->(f32[20,4,512])",
                188'743'680},
        // GRU in both directions, two layers: 2 x 3 x 4 x ((5 + 4) + (8 + 4)) weights at 6 tokens.
        Example{"paddle_lite:rnn{hidden_size=4,is_bidirec=true,mode=GRU,num_layers=2}(f32[3,2,5])->"
                "(f32[3,2,8])",
                6'048},
        // 10 steps of 12 x 4 weights of the state; the bias is the smaller constant.
        Example{"paddle_lite:gru{}(f32c[1,12],f32[10,12],f32c[4,12])->(f32[10,4])", 960},
        Example{"paddle_lite:layer_norm{}(f32[1,128,768])->(f32[1,128,768])", 688'128},
        Example{"paddle_lite:softmax{}(f32[1,1000])->(f32[1,1000])", 5'000},
        Example{"paddle_lite:bilinear_interp_v2{}(f32[1,1,4,4])->(f32[1,1,8,8])", 512},
        Example{"paddle_lite:nearest_interp_v2{}(f32[1,1,4,4])->(f32[1,1,8,8])", 0},
        Example{"paddle_lite:reduce_mean{dim=[2,3]}(f32[1,64,7,7])->(f32[1,64,1,1])", 3'136}));

INSTANTIATE_TEST_SUITE_P(
    Others, Flops,
    ::testing::Values(
        Example{
            "MaxPool/12{kernel_shape=[3,3],strides=[2,2]}(f32[1,64,112,112])->(f32[1,64,56,56])",
            1'806'336},
        Example{"GlobalAveragePool/1{}(f32[1,512,7,7])->(f32[1,512,1,1])", 25'088},
        // Broadcast: as many as the result has elements.
        Example{"Add/14{}(f32[4,1],f32[1,8])->(f32[4,8])", 32}, Example{sample_keys()[7], 200'704},
        Example{"Sigmoid/13{}(f32[10])->(f32[10])", 10},
        Example{"Softmax/13{axis=-1}(f32[1,12,128,128])->(f32[1,12,128,128])", 983'040},
        Example{"LayerNormalization/"
                "17{axis=-1}(f32[1,128,768],f32c[768],f32c[768])->(f32[1,128,768],-,-)",
                688'128},
        Example{
            "BatchNormalization/15{}(f32[1,8,4,4],f32c[8],f32c[8],f32c[8],f32c[8])->(f32[1,8,4,4])",
            256},
        Example{"LRN/13{size=5}(f32[1,8,4,4])->(f32[1,8,4,4])", 1'280},
        Example{"ReduceMean/18{}(f32[1,64,7,7],i64c[2]=[2,3])->(f32[1,64,1,1])", 3'136},
        Example{"ReduceL2/18{}(f32[1,64,7,7],i64c[2]=[2,3])->(f32[1,64,1,1])", 6'272},
        // 20 steps x 4 sequences, each through 2048 x 64 and 2048 x 512 weights.
        Example{sample_keys()[2], 188'743'680},
        // Both directions of a GRU over 3 steps of 2 sequences: 2 x (12 x 5 + 12 x 4) weights.
        Example{"GRU/"
                "14{direction=bidirectional,hidden_size=4}(f32[3,2,5],f32c[2,12,5],f32c[2,12,4])->("
                "f32[3,2,2,4],-)",
                2'592},
        // Projection 128 x 768 x 2304 multiply-adds; 128 x 128 scores of 768 + 768 multiply-adds,
        // and 12 softmaxes.
        Example{sample_keys()[4], 504'299'520},
        // 7 queries against 7 new and 3 earlier keys, 2 heads of 4.
        Example{"com.microsoft:MultiHeadAttention/"
                "1{num_heads=2}(f32[1,7,8],f32[1,7,8],f32[1,7,8],-,-,-,f32[1,2,3,4],"
                "f32[1,2,3,4])->(f32[1,7,8],-,-)",
                2'940},
        Example{"Concat/13{axis=1}(f32[1,2],f32[1,3])->(f32[1,5])", 0},
        Example{"Reshape/14{}(f32[2,3],i64c[1]=[6])->(f32[6])", 0}, Example{sample_keys()[6], 0},
        // Two dimensions change: four neighbours, a multiply-add each.
        Example{"Resize/13{mode=linear}(f32[1,1,4,4],-,f32c[4]=[1.0,1.0,2.0,2.0])->(f32[1,1,8,8])",
                512}));

TEST(Work, BytesOfAConvolution) {
  const Work w =
      work(key_of("Conv/11{}(f32[1,3,224,224],f32c[64,3,7,7],f32c[64])->(f32[1,64,112,112])"));
  EXPECT_EQ(w.bytes_in, 602'112);
  EXPECT_EQ(w.bytes_weights, 37'632 + 256);
  EXPECT_EQ(w.bytes_out, 3'211'264);
  EXPECT_EQ(w.bytes(), 602'112 + 37'888 + 3'211'264);
  EXPECT_TRUE(w.complete);
}

TEST(Work, ATensorIsReadOnceAndWrittenOnce) {
  const Work w = work(key_of(sample_keys()[7]));  // Mul(x, x), over x
  EXPECT_EQ(w.bytes_in, 802'816);
  EXPECT_EQ(w.bytes_weights, 0);
  EXPECT_EQ(w.bytes_out, 802'816);
  const Work sum = work(key_of(sample_keys()[0]));  // image and Sum, each 802 816 bytes
  EXPECT_EQ(sum.bytes_in, 1'605'632);
  EXPECT_EQ(sum.bytes_out, 802'816);
}

TEST(Work, AbsentResultsWriteNothing) {
  EXPECT_EQ(work(key_of(sample_keys()[2])).bytes_out, 20 * 4 * 512 * 4);
}

TEST(Work, ElementsBelowAByteArePacked) {
  const Work w = work(key_of("x{}(i4[3],u4c[8],bool[3],f16[3])->(bf16[2])"));
  EXPECT_EQ(w.bytes_in, 2 + 3 + 6);
  EXPECT_EQ(w.bytes_weights, 4);
  EXPECT_EQ(w.bytes_out, 4);
}

TEST(Work, UnknownOperatorsHaveBytesAndNoFlops) {
  const Work w = work(key_of("my.domain:Foo/3{}(f32[2,3],i64c[5])->(f32[7])"));
  EXPECT_EQ(w.flops, std::nullopt);
  EXPECT_EQ(w.bytes_in, 24);
  EXPECT_EQ(w.bytes_weights, 40);
  EXPECT_EQ(w.bytes_out, 28);
  EXPECT_TRUE(w.complete);
}

TEST(Work, WhatIsUnknownIsSaidNotGuessed) {
  const Work nonzero = work(key_of(sample_keys()[8]));
  EXPECT_FALSE(nonzero.complete);
  EXPECT_EQ(nonzero.bytes_in, 100);
  EXPECT_EQ(nonzero.bytes_out, 0);
  for (const char* text :
       {"Conv/11{}(f32[1,3,8,8],f32c[4,3,3,3])->(f32[?,4,6,6])",
        "Conv/11{}(f32[1,3,8,8])->(f32[1,4,6,6])", "Gemm/13{}(f32[?,?],f32[3,4])->(f32[2,4])",
        "Relu/14{}(f32[*])->(f32[*])", "MaxPool/12{kernel_shape=?}(f32[1])->(f32[1])",
        // How often, and of what, is a matter of the data.
        "paddle_lite:rnn{}(f32[20,4,64])->(f32[20,4,512])",
        "paddle_lite:matrix_nms{keep_top_k=100,nms_top_k=400}(f32[1,100,4],f32[1,80,100])->()",
        "Einsum/12{equation=\"ij,jk->ik\"}(f32[2,?],f32[?,4])->(f32[2,4])",
        "RoiAlign/16{sampling_ratio=0}(f32[1,3,8,8],f32[2,4],i64[2])->(f32[2,3,2,2])",
        "LSTM/14{}()->()", "Resize/13{mode=linear}(f32[1,?])->(f32[1,4])"}) {
    EXPECT_EQ(work(key_of(text)).flops, std::nullopt) << text;
  }
  EXPECT_FALSE(work(key_of("x{}(any[2])->()")).complete);
}

/// Sizes that no memory holds are of kernels nobody measured; to be asked for they need not be
/// possible, but never small.
TEST(Work, CountsGoOnBeyondWholeNumbersOf63Bits) {
  const Work huge = work(key_of(
      "tinynas:Conv{group=1,kernel_shape=[3,3],strides=[1,1]}(f16[1000000,64,1000000,1000000],"
      "f16c[64,64,3,3])->(f16[1000000,64,1000000,1000000])"));
  ASSERT_TRUE(huge.flops);
  EXPECT_DOUBLE_EQ(*huge.flops, 2 * 64e18 * 64 * 9);
  EXPECT_DOUBLE_EQ(huge.bytes_in, 128e18);
  EXPECT_TRUE(huge.complete);
  EXPECT_DOUBLE_EQ(work(key_of("x{}(f32[4611686018427387904,4611686018427387904])->()")).bytes(),
                   std::ldexp(1.0, 126));
  std::string endless = "x{}(f32[0";
  for (int i = 0; i < 60; ++i) endless += ",9223372036854775807";
  EXPECT_EQ(work(key_of(endless + "])->()")).bytes(), 0);
  endless[8] = '1';
  EXPECT_FALSE(work(key_of(endless + "])->()")).complete) << "no double holds it";
}

TEST(Work, EmptyTensorsCostNothing) {
  const Work w = work(key_of("Conv/11{}(f32[0,3,8,8],f32c[0,3,3,3])->(f32[0,0,6,6])"));
  EXPECT_EQ(w.flops, 0.0);
  EXPECT_EQ(w.bytes(), 0);
}

std::string qlinear(std::string_view attributes, std::string_view image, std::string_view weights,
                    std::string_view zero, std::string_view result) {
  return fmt::format(
      "com.microsoft:QLinearConv/1{{{}}}(u8[{}],f32c[],u8c[],{},f32c[],{},f32c[],u8c[])->(u8[{}])",
      attributes, image, weights, zero, result);
}

class Scratch : public ::testing::TestWithParam<std::pair<std::string, double>> {};

TEST_P(Scratch, IsThatWorkedOutByHand) {
  const auto& [key, bytes] = GetParam();
  const Work counted = work(key_of(key));
  EXPECT_EQ(counted.bytes_scratch, bytes) << key;
  EXPECT_EQ(counted.bytes(), counted.bytes_in + counted.bytes_weights + counted.bytes_out);
}

INSTANTIATE_TEST_SUITE_P(
    Convolutions, Scratch,
    ::testing::Values(
        // Columns of floats: 16 x 3 x 3 for each of 64 x 64 places.
        std::pair("ConvTranspose/11{group=1}(f32[1,64,64,64],f32[64,16,3,3])->(f32[1,16,128,128])",
                  2'359'296),
        // One image and group after the other: 4 x 4 x 4 for each of 8 x 8 places.
        std::pair("ConvTranspose/11{group=2}(f32[2,16,8,8],f32c[16,4,4,4])->(f32[2,8,16,16])",
                  16'384),
        // A signal of halves: 8 x 4 for each of 50.
        std::pair("ConvTranspose/11{}(f16[1,16,50],f16c[16,8,4])->(f16[1,8,100])", 3'200),
        // Three channels: 64 sums of 4 bytes and 27 bytes of columns for each of 112 x 112.
        std::pair(qlinear("channels_last=1,strides=[2,2]", "1,224,224,3", "i8c[64,3,3,3]",
                          "i8c[]=0", "1,112,112,64"),
                  112 * 112 * (64 * 4 + 27)),
        // The sums of all images, the columns of one.
        std::pair(qlinear("channels_last=1", "2,8,8,3", "i8c[4,3,3,3]", "i8c[4]=0", "2,6,6,4"),
                  36 * (2 * 4 * 4 + 27)),
        // Sums stay in registers.
        std::pair(qlinear("channels_last=1", "1,8,8,64", "i8c[64,64,3,3]", "i8c[64]=0", "1,6,6,64"),
                  0),
        std::pair(qlinear("channels_last=1", "1,8,8,64", "i8c[20,64,3,3]", "i8c[20]=0", "1,6,6,20"),
                  0),
        // Too few filters, filters that are not a multiple of four, weights that are not symmetric,
        // not signed, or not known before.
        std::pair(qlinear("channels_last=1", "1,8,8,64", "i8c[12,64,3,3]", "i8c[12]=0", "1,6,6,12"),
                  36 * (12 * 4 + 576)),
        std::pair(qlinear("channels_last=1", "1,8,8,64", "i8c[18,64,3,3]", "i8c[18]=0", "1,6,6,18"),
                  36 * (18 * 4 + 576)),
        std::pair(qlinear("channels_last=1", "1,8,8,64", "i8c[64,64,3,3]", "i8c[64]", "1,6,6,64"),
                  36 * (64 * 4 + 576)),
        std::pair(qlinear("channels_last=1", "1,8,8,64", "u8c[64,64,3,3]", "u8c[64]=0", "1,6,6,64"),
                  36 * (64 * 4 + 576)),
        std::pair(qlinear("channels_last=1", "1,8,8,64", "i8[64,64,3,3]", "i8c[64]=0", "1,6,6,64"),
                  36 * (64 * 4 + 576)),
        // The image is its own columns, unless places are left out.
        std::pair(qlinear("channels_last=1", "1,8,8,3", "i8c[64,3,1,1]", "i8c[]=0", "1,8,8,64"),
                  64 * 64 * 4),
        std::pair(qlinear("channels_last=1,strides=[2,2]", "1,8,8,3", "i8c[64,3,1,1]", "i8c[]=0",
                          "1,4,4,64"),
                  16 * (64 * 4 + 3)),
        // Depthwise: sums, where groups are not a multiple of sixteen; others by groups: both.
        std::pair(qlinear("channels_last=1,group=32", "1,8,8,32", "i8c[32,1,3,3]", "i8c[32]=0",
                          "1,6,6,32"),
                  0),
        std::pair(qlinear("channels_last=1,group=24", "1,8,8,24", "i8c[24,1,3,3]", "i8c[24]=0",
                          "1,6,6,24"),
                  36 * 24 * 4),
        std::pair(qlinear("channels_last=1,group=2", "1,8,8,64", "i8c[64,32,3,3]", "i8c[64]=0",
                          "1,6,6,64"),
                  36 * (64 * 4 + 32 * 9)),
        // A volume's windows, of all groups.
        std::pair(qlinear("channels_last=1,group=2", "1,4,4,4,64", "i8c[64,32,3,3,3]", "i8c[64]=0",
                          "1,2,2,2,64"),
                  8 * (64 * 4 + 2 * 32 * 27)),
        // One image and its results turned round.
        std::pair(qlinear("", "2,64,8,8", "i8c[64,64,3,3]", "i8c[64]=0", "2,64,6,6"),
                  64 * 64 + 64 * 36),
        std::pair("ConvInteger/10{}(u8[1,3,8,8],u8c[4,3,3,3])->(i32[1,4,6,6])", 36 * 27),
        std::pair("ConvInteger/10{}(u8[1,3,8,8],u8c[4,3,1,1])->(i32[1,4,8,8])", 0),
        std::pair("Conv/11{}(f32[1,3,8,8],f32c[4,3,3,3])->(f32[1,4,6,6])", 0),
        // Nobody knows how large.
        std::pair("ConvTranspose/11{}(f32[1,16,?,8],f32c[16,8,4,4])->(f32[1,8,16,16])", 0),
        std::pair("ConvTranspose/11{}()->()", 0),
        std::pair(qlinear("", "?", "i8c[?]", "i8c[]", "?"), 0)));

}  // namespace
}  // namespace oplat::ir
