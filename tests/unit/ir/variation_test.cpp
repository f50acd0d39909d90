// SPDX-License-Identifier: Apache-2.0
/// Kernels of other sizes: which sizes go together, and what results follow.
#include "ir/variation.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ir/catalogue.hpp"

namespace oplat::ir {
namespace {

std::optional<Key> varied(std::string_view text, std::uint64_t seed) {
  const auto key = parse(text);
  EXPECT_TRUE(key) << text;
  base::Random random(seed);
  return key ? vary(*key, 0.5, Catalogue::own(), random) : std::nullopt;
}

std::int64_t size(const TensorEntry* tensor, std::size_t at) {
  return tensor->shape.dims.at(at).value();
}

constexpr std::string_view kConv =
    "com.microsoft.nchwc:Conv/1@block=16{activation=Relu,dilations=[1,1],group=1,kernel_shape=[3,3]"
    ",pads=[1,1,1,1],strides=[2,2]}(f32[1,64,57,57],f32c[128,64,3,3],f32c[128],f32[1,128,29,29])"
    "->(&3)";

TEST(Variation, AConvolutionFitsTogether) {
  int changed = 0;
  int other_windows = 0;
  int one_sided = 0;
  int groups = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const auto key = varied(kConv, seed);
    if (!key) continue;  // all sizes were kept
    ++changed;
    const std::int64_t channels = size(key->operand(0), 1);
    const std::int64_t filters = size(key->operand(1), 0);
    EXPECT_EQ(channels % 16, 0) << print(*key);
    EXPECT_EQ(filters % 16, 0) << print(*key);
    const std::int64_t group = *key->attribute("group")->integer();
    groups += group > 1 ? 1 : 0;
    EXPECT_EQ(size(key->operand(1), 1) * group, channels);
    EXPECT_EQ(size(key->operand(1), 1) % 16, 0) << "groups fill the blocks";
    const std::int64_t window = size(key->operand(1), 2);
    const std::int64_t across = size(key->operand(1), 3);
    EXPECT_TRUE(across == window || window == 1 || across == 1) << print(*key);
    one_sided += across != window ? 1 : 0;
    other_windows += window != 3 ? 1 : 0;
    EXPECT_EQ(*key->attribute("kernel_shape"), Value::ints({window, across}));
    EXPECT_EQ(size(key->operand(2), 0), filters);
    EXPECT_EQ(size(key->result(0), 1), filters);
    const std::int64_t height = size(key->operand(0), 2);
    EXPECT_EQ(size(key->operand(0), 3), height) << "images stay square";
    // The padding keeps the size, but for steps.
    const std::int64_t step = *key->attribute("strides")->list()->front().integer();
    const std::int64_t pad = window / 2;
    const std::int64_t pad_across = across / 2;
    EXPECT_EQ(*key->attribute("pads"), Value::ints({pad, pad_across, pad, pad_across}));
    EXPECT_EQ(size(key->result(0), 2), (height + 2 * pad - window) / step + 1);
    EXPECT_EQ(key->operand(3)->shape, key->result(0)->shape);
    EXPECT_EQ(size(key->operand(0), 0), 1) << "a batch of one stays one";
    EXPECT_EQ(print(*parse(print(*key))), print(*key));
  }
  EXPECT_GT(changed, 240);
  EXPECT_GT(other_windows, 0);
  EXPECT_GT(one_sided, 0);
  EXPECT_GT(groups, 0);
}

TEST(Variation, GroupsThatDoNotFillBlocksAreNotBlocked) {
  int unblocked = 0;
  int depthwise = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    const bool separable = seed % 2 == 0;
    const auto key = varied(
        fmt::format("com.microsoft.nchwc:Conv/1@block=16{{activation=Relu,dilations=[1,1],group={},"
                    "kernel_shape=[3,3],pads=[1,1,1,1],strides=[1,1]}}(f32[1,64,56,56],"
                    "f32c[64,{},3,3],f32c[64])->(f32[1,64,56,56])",
                    separable ? 64 : 1, separable ? 1 : 64),
        seed);
    if (!key || key->tag("block") != nullptr) continue;
    ++unblocked;
    EXPECT_EQ(key->domain, "com.microsoft");
    EXPECT_EQ(key->op, "FusedConv");
    const std::int64_t group = *key->attribute("group")->integer();
    EXPECT_EQ(size(key->operand(0), 1), group * size(key->operand(1), 1)) << print(*key);
    EXPECT_NE(size(key->operand(1), 1) % 16, 0);
    depthwise += size(key->operand(1), 1) == 1 ? 1 : 0;
  }
  EXPECT_GT(unblocked, 5);
  EXPECT_GT(depthwise, 2);
}

TEST(Variation, AWindowInStepsOfOneMayBeDilated) {
  std::set<std::int64_t> dilations;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const auto key = varied(
        "com.microsoft:FusedConv/"
        "1{activation=Relu,dilations=[1],group=1,kernel_shape=[5],pads=[2,2]"
        ",strides=[1]}(f32[1,64,400],f32c[96,64,5],f32c[96])->(f32[1,96,400])",
        seed);
    if (!key) continue;
    const Value& own = *key->attribute("dilations");
    const std::int64_t dilation = *own.list()->front().integer();
    dilations.insert(dilation);
    const std::int64_t window = size(key->operand(1), 2);
    const std::int64_t pad = dilation * (window - 1) / 2;
    EXPECT_EQ(*key->attribute("pads"), Value::ints({pad, pad})) << print(*key);
    const std::int64_t step = *key->attribute("strides")->list()->front().integer();
    EXPECT_EQ(size(key->result(0), 2), (size(key->operand(0), 2) - 1) / step + 1);
    EXPECT_TRUE(dilation == 1 || step == 1) << print(*key);
  }
  EXPECT_GT(dilations.size(), 2U);
}

TEST(Variation, SomeSizesAreMultiplesOfLess) {
  int drawn = 0;
  int smaller_units = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const auto key =
        varied("Gemm/13{}(f32[197,768],f32c[768,192],f32c[192])->(f32[197,192])", seed);
    if (!key) continue;
    const std::int64_t inner = size(key->operand(1), 0);
    if (inner == 768) continue;
    ++drawn;
    EXPECT_EQ(inner % 2, 0) << print(*key);
    EXPECT_EQ(size(key->operand(0), 1), inner) << print(*key);
    smaller_units += inner % 16 != 0 ? 1 : 0;
  }
  EXPECT_GT(drawn, 100);
  EXPECT_GT(smaller_units, drawn / 20);
  EXPECT_LT(smaller_units, drawn / 3) << "most are what libraries are made for";
}

TEST(Variation, ARecurrentLayerFitsTogether) {
  std::set<std::int64_t> hidden_sizes;
  int whole_units = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto key = varied(
        "LSTM/14{activations=[Sigmoid,Tanh,Tanh],direction=bidirectional,hidden_size=512,"
        "input_forget=0,layout=0}(f32[20,4,64],f32c[2,2048,64],f32c[2,2048,512],f32c[2,4096],-,"
        "f32c[2,4,512],f32c[2,4,512])->(f32[20,2,4,512],-,-)",
        seed);
    if (!key) continue;
    const std::int64_t hidden = *key->attribute("hidden_size")->integer();
    hidden_sizes.insert(hidden);
    EXPECT_EQ(hidden % 2, 0);
    whole_units += hidden % 16 == 0 ? 1 : 0;
    EXPECT_EQ(size(key->operand(1), 1), 4 * hidden) << print(*key);
    EXPECT_EQ(size(key->operand(1), 2), size(key->operand(0), 2));
    EXPECT_EQ(key->operand(2)->shape, Shape::of({2, 4 * hidden, hidden}));
    EXPECT_EQ(key->operand(3)->shape, Shape::of({2, 8 * hidden}));
    EXPECT_EQ(key->operand(6)->shape, Shape::of({2, 4, hidden}));
    EXPECT_EQ(key->result(0)->shape, Shape::of({size(key->operand(0), 0), 2, 4, hidden}));
  }
  EXPECT_GT(hidden_sizes.size(), 5U);
  EXPECT_GT(whole_units, 8);
}

TEST(Variation, AnImageKeepsItsThreeChannels) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto key = varied(
        "com.microsoft.nchwc:Conv/1@block=16{activation=Relu,dilations=[1,1],group=1,kernel_shape="
        "[7,7],pads=[3,3,3,3],strides=[2,2]}(f32[1,3,224,224],f32c[64,3,7,7],f32c[64])->"
        "(f32[1,64,112,112])",
        seed);
    if (!key) continue;
    EXPECT_EQ(size(key->operand(0), 1), 3);
    EXPECT_EQ(size(key->operand(1), 1), 3);
  }
}

TEST(Variation, ADepthwiseConvolutionStaysOne) {
  int changed = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto key = varied(
        "Conv/11{dilations=[1,1],group=58,kernel_shape=[3,3],pads=[1,1,1,1],strides=[1,1]}"
        "(f32[1,58,28,28],f32c[58,1,3,3],f32c[58])->(f32[1,58,28,28])",
        seed);
    if (!key) continue;
    ++changed;
    const std::int64_t channels = size(key->operand(0), 1);
    EXPECT_EQ(*key->attribute("group")->integer(), channels);
    EXPECT_EQ(size(key->operand(1), 0), channels);
    EXPECT_EQ(size(key->operand(1), 1), 1);
    EXPECT_EQ(size(key->result(0), 1), channels);
  }
  EXPECT_GT(changed, 10);
}

TEST(Variation, GroupsStayAndDivideTheChannels) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto key = varied(
        "Conv/11{dilations=[1,1],group=32,kernel_shape=[3,3],pads=[1,1,1,1],strides=[1,1]}"
        "(f32[1,256,14,14],f32c[512,8,3,3],f32c[512])->(f32[1,512,14,14])",
        seed);
    if (!key) continue;
    EXPECT_EQ(*key->attribute("group")->integer(), 32);
    EXPECT_EQ(size(key->operand(0), 1), 32 * size(key->operand(1), 1)) << print(*key);
    EXPECT_EQ(size(key->operand(1), 0) % 32, 0);
  }
}

TEST(Variation, ChannelsLastIsHeeded) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto key = varied(
        "com.microsoft:QLinearConv/1{channels_last=1,dilations=[1,1],group=1,kernel_shape=[3,3],"
        "pads=[1,1,1,1],strides=[2,2]}(u8[1,14,14,256],f32c[],u8c[],i8c[512,256,3,3],f32c[512],"
        "i8c[512],f32c[],u8c[],i32c[512])->(u8[1,7,7,512])",
        seed);
    if (!key) continue;
    const std::int64_t group = *key->attribute("group")->integer();
    EXPECT_EQ(size(key->operand(0), 3), group * size(key->operand(3), 1)) << print(*key);
    const std::int64_t filters = size(key->operand(3), 0);
    EXPECT_EQ(size(key->result(0), 3), filters);
    EXPECT_EQ(size(key->operand(8), 0), filters);
    for (const std::size_t scale : {4, 5}) {
      // One for all filters is another form.
      if (!key->operand(scale)->shape.dims.empty()) {
        EXPECT_EQ(size(key->operand(scale), 0), filters);
      }
    }
    const std::int64_t step = *key->attribute("strides")->list()->front().integer();
    EXPECT_EQ(size(key->result(0), 1), (size(key->operand(0), 1) - 1) / step + 1);
  }
}

TEST(Variation, EqualSizesOfAProductStayEqual) {
  std::set<std::int64_t> rows;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto key = varied("MatMul/13{}(f32[1,197,768],f32c[768,192])->(f32[1,197,192])", seed);
    if (!key) continue;
    rows.insert(size(key->operand(0), 1));
    EXPECT_EQ(size(key->operand(0), 2), size(key->operand(1), 0));
    EXPECT_EQ(size(key->result(0), 1), size(key->operand(0), 1));
    EXPECT_EQ(size(key->result(0), 2), size(key->operand(1), 1));
  }
  EXPECT_GT(rows.size(), 5U) << "sizes are drawn";
}

TEST(Variation, WhatItCannotWorkOutIsLeftAlone) {
  for (const char* text : {
           // Where the parts begin is not known, and neither is what is cut or repeated.
           "Split/13{axis=1}(f32[1,96,14,14],i64[2])->(f32[1,48,14,14],f32[1,48,14,14])",
           "Slice/13{}(f32[1,96,14],i64[1],i64[1],i64[1])->(f32[1,48,14])",
           "Expand/13{}(f32[1,64,1],i64c[3]=[1,64,32])->(f32[1,64,32])",
           // Peepholes, and the batch before the length.
           "LSTM/14{activations=[Sigmoid,Tanh,Tanh],direction=forward,hidden_size=512,input_forget="
           "0,layout=0}(f32[20,4,64],f32c[1,2048,64],f32c[1,2048,512],f32c[1,4096],-,-,-,"
           "f32c[1,1536])->(f32[20,1,4,512],-,-)",
           "GRU/14{activations=[Sigmoid,Tanh],direction=forward,hidden_size=512,layout=1,"
           "linear_before_reset=0}(f32[4,20,64],f32c[1,1536,64],f32c[1,1536,512])->"
           "(f32[4,20,1,512],-)",
           // Factors and results that do not fit together.
           "com.microsoft.nchwc:Upsample/1@block=16{coordinate_transformation_mode=half_pixel,mode="
           "linear,scales=[1,1,8,8]}(f32[1,32,28,28])->(f32[1,32,225,225])",
           "DepthToSpace/13{blocksize=3,mode=DCR}(f32[1,64,28,28])->(f32[1,16,56,56])",
           "Transpose/13{perm=[0,0,1]}(f32[8,28,28])->(f32[8,28,28])",
           "Transpose/13{perm=[]}(f32[])->(f32[])",
           // Blocks that no layout has.
           "com.microsoft.nchwc:Conv/1@block=4611686018427387904{dilations=[1,1],group=1,"
           "kernel_shape=[3,3],pads=[1,1,1,1],strides=[1,1]}(f32[1,64,28,28],f32c[64,64,3,3])->"
           "(f32[1,64,28,28])",
           "ReduceMean/13{axes=[9],keepdims=1}(f32[8,28,28])->(f32[8,28,28])",
           // No sizes that anything has.
           "Conv/"
           "11{dilations=[9223372036854775807],group=1,kernel_shape=[9223372036854775807],pads="
           "[1,1],strides=[1]}(f32[1,64,400],f32c[96,64,9223372036854775807])->(f32[1,96,400])",
           "GRU/14{activations=[Sigmoid,Tanh],direction=forward,hidden_size=9223372036854775807,"
           "linear_before_reset=0}(f32[20,4,64],f32c[1,1536,64],f32c[1,1536,512])->"
           "(f32[20,1,4,512],-)",
           // Too small for other sizes.
           "Add/13{}(f32[1,4],f32[1,4])->(f32[1,4])",
       }) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) EXPECT_FALSE(varied(text, seed)) << text;
  }
}

/// Kernels drawn from one, each of which fits together as `fits` says.
template <class Fits>
std::vector<Key> drawn(std::string_view text, Fits fits, std::uint64_t seeds = 200) {
  std::vector<Key> keys;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    auto key = varied(text, seed);
    if (!key) continue;
    EXPECT_EQ(print(*parse(print(*key))), print(*key));
    fits(*key);
    keys.push_back(std::move(*key));
  }
  EXPECT_GT(keys.size(), seeds / 2) << text;
  return keys;
}

/// How many different texts there are.
template <class Text>
std::size_t kinds(const std::vector<Key>& keys, Text text) {
  std::set<std::string> found;
  for (const Key& key : keys) found.insert(text(key));
  return found.size();
}

TEST(Variation, ActivationsOfConvolutionsDiffer) {
  const auto keys = drawn(
      kConv, [](const Key&) {}, 600);
  EXPECT_GE(kinds(keys,
                  [](const Key& key) {
                    const Value* value = key.attribute("activation");
                    return value == nullptr ? std::string() : *value->text();
                  }),
            6U);
}

TEST(Variation, ATransposedConvolutionFitsTogether) {
  const auto keys = drawn(
      "ConvTranspose/11{dilations=[1,1],group=1,kernel_shape=[4,4],output_padding=[0,0],"
      "pads=[1,1,1,1],strides=[2,2]}(f32[1,128,32,32],f32c[128,32,4,4],f32c[32])->"
      "(f32[1,32,64,64])",
      [](const Key& key) {
        EXPECT_EQ(size(key.operand(1), 0), size(key.operand(0), 1)) << print(key);
        EXPECT_EQ(size(key.operand(1), 1), size(key.result(0), 1));
        const std::int64_t window = size(key.operand(1), 2);
        const std::int64_t step = *key.attribute("strides")->list()->front().integer();
        const std::int64_t pad = *key.attribute("pads")->list()->front().integer();
        EXPECT_EQ(size(key.result(0), 2), (size(key.operand(0), 2) - 1) * step - 2 * pad + window);
      });
  EXPECT_GT(kinds(keys, [](const Key& key) { return print(key).substr(0, 80); }), 3U);
}

TEST(Variation, JoinedAndSplitTensorsAddUp) {
  const auto joined =
      drawn("Concat/13{axis=1}(f32[1,50,8],f32[1,70,8])->(f32[1,120,8])", [](const Key& key) {
        std::int64_t sum = 0;
        for (std::size_t i = 0; i < key.operands.size(); ++i) {
          sum += size(key.operand(i), 1);
          EXPECT_EQ(size(key.operand(i), 2), size(key.result(0), 2)) << print(key);
        }
        EXPECT_EQ(size(key.result(0), 1), sum) << print(key);
      });
  EXPECT_GT(kinds(joined, [](const Key& key) { return std::to_string(key.operands.size()); }), 3U);
  drawn("Split/13{axis=1}(f32[1,96,14,14],i64c[2]=48)->(f32[1,48,14,14],f32[1,48,14,14])",
        [](const Key& key) {
          const std::int64_t half = size(key.result(0), 1);
          EXPECT_EQ(size(key.operand(0), 1), 2 * half) << print(key);
          EXPECT_EQ(*key.operand(1)->value, Value(half));
          EXPECT_EQ(size(key.result(1), 2), size(key.operand(0), 2));
        });
  drawn("Split/13{axis=0}(f32[90,16],i64c[2]=[60,30])->(f32[60,16],f32[30,16])",
        [](const Key& key) {
          EXPECT_EQ(size(key.operand(0), 0), size(key.result(0), 0) + size(key.result(1), 0));
          const Value sizes = Value::ints({size(key.result(0), 0), size(key.result(1), 0)});
          if (size(key.result(0), 0) != size(key.result(1), 0)) {
            EXPECT_EQ(*key.operand(1)->value, sizes);
          }
        });
  drawn(
      "com.microsoft:QLinearConcat/1{axis=1}(f32c[]=1.0,u8c[]=0,u8[1,116,14,14],f32c[]=0.5,"
      "u8c[]=0,u8[1,80,14,14],f32c[]=0.5,u8c[]=0)->(u8[1,196,14,14])",
      [](const Key& key) {
        EXPECT_EQ(size(key.operand(2), 1) + size(key.operand(5), 1), size(key.result(0), 1))
            << print(key);
        EXPECT_EQ(key.operand(2)->dtype, key.result(0)->dtype);
      });
}

TEST(Variation, CutsPadsAndFactorsStay) {
  drawn(
      "Slice/13{}(f32[1,140,28,192],i64c[1]=[1],i64c[1]=[9223372036854775807],i64c[1]=[2],"
      "i64c[1]=[2])->(f32[1,140,14,192])",
      [](const Key& key) {
        EXPECT_EQ(size(key.operand(0), 2), 28) << print(key);
        EXPECT_EQ(size(key.result(0), 2), 14);
        EXPECT_EQ(size(key.operand(0), 1), size(key.result(0), 1));
      });
  drawn("Pad/13{mode=constant}(f32[1,64,56,56],i64c[8]=[0,0,1,2,0,64,1,2],-)->(f32[1,128,58,60])",
        [](const Key& key) {
          EXPECT_EQ(size(key.result(0), 1), size(key.operand(0), 1) + 64) << print(key);
          EXPECT_EQ(size(key.result(0), 2), size(key.operand(0), 2) + 2);
          EXPECT_EQ(size(key.result(0), 3), size(key.operand(0), 3) + 4);
        });
  const auto resized = drawn(
      "Resize/13{coordinate_transformation_mode=asymmetric,exclude_outside=0,mode=nearest,"
      "nearest_mode=floor}(f32[1,64,128,128],-,f32c[4]=[1.0,1.0,2.0,2.0])->(f32[1,64,256,256])",
      [](const Key& key) {
        const double factor = *key.operand(2)->value->list()->back().real();
        EXPECT_EQ(static_cast<double>(size(key.result(0), 3)),
                  factor * static_cast<double>(size(key.operand(0), 3)))
            << print(key);
        EXPECT_EQ(size(key.result(0), 1), size(key.operand(0), 1));
        EXPECT_EQ(key.attribute("nearest_mode") != nullptr,
                  *key.attribute("mode")->text() == "nearest");
      });
  EXPECT_EQ(kinds(resized, [](const Key& key) { return *key.attribute("mode")->text(); }), 2U);
  drawn(
      "Resize/13{coordinate_transformation_mode=half_pixel,exclude_outside=0,mode=linear}"
      "(f32[1,128,20,24],-,-,i64c[4]=[1,128,40,48])->(f32[1,128,40,48])",
      [](const Key& key) {
        EXPECT_EQ(*key.operand(3)->value,
                  Value::ints(
                      {1, size(key.result(0), 1), size(key.result(0), 2), size(key.result(0), 3)}))
            << print(key);
        EXPECT_EQ(size(key.operand(0), 1), size(key.result(0), 1));
      });
  const auto upsampled = drawn(
      "com.microsoft.nchwc:Upsample/1@block=16{coordinate_transformation_mode=asymmetric,"
      "mode=nearest,scales=[1,1,2,2]}(f32[1,128,16,16])->(f32[1,128,32,32])",
      [](const Key& key) { EXPECT_EQ(key.attribute("nearest_mode"), nullptr) << print(key); });
  EXPECT_EQ(kinds(upsampled, [](const Key& key) { return *key.attribute("mode")->text(); }), 2U);
  EXPECT_GT(kinds(resized, [](const Key& key) { return std::to_string(size(key.result(0), 3)); }),
            10U);
  drawn("DepthToSpace/13{blocksize=2,mode=DCR}(f32[1,64,28,28])->(f32[1,16,56,56])",
        [](const Key& key) {
          const std::int64_t by = *key.attribute("blocksize")->integer();
          EXPECT_EQ(size(key.operand(0), 1), by * by * size(key.result(0), 1)) << print(key);
          EXPECT_EQ(size(key.operand(0), 2) * by, size(key.result(0), 2));
        });
}

TEST(Variation, ReductionsAndTransposesGetOtherAxes) {
  const auto reduced = drawn(
      "ReduceSum/13{keepdims=1,noop_with_empty_axes=0}(f32[1,196,192],i64c[1]=[1])->"
      "(f32[1,1,192])",
      [](const Key& key) {
        const Value& axes = *key.operand(1)->value;
        ASSERT_NE(axes.list(), nullptr) << print(key);
        EXPECT_EQ(axes.list()->size(), static_cast<std::size_t>(size(key.operand(1), 0)));
        for (std::size_t d = 0; d < 3; ++d) {
          const bool gone = std::any_of(
              axes.list()->begin(), axes.list()->end(),
              [&](const Value& axis) { return *axis.integer() == static_cast<std::int64_t>(d); });
          EXPECT_EQ(size(key.result(0), d), gone ? 1 : size(key.operand(0), d)) << print(key);
        }
      });
  EXPECT_GT(kinds(reduced, [](const Key& key) { return print(key).substr(60); }), 20U);
  drawn("ReduceMax/13{axes=[2,3],keepdims=0}(f32[1,64,28,28])->(f32[1,64])", [](const Key& key) {
    const std::size_t axes = key.attribute("axes")->list()->size();
    EXPECT_EQ(key.result(0)->shape.dims.size(), 4 - axes) << print(key);
  });
  const auto orders = drawn(
      "Transpose/13{perm=[0,2,1,3]}(f32[8,197,12,64])->(f32[8,12,197,64])", [](const Key& key) {
        for (std::size_t d = 0; d < 4; ++d) {
          const auto from = *key.attribute("perm")->list()->at(d).integer();
          EXPECT_EQ(size(key.result(0), d), size(key.operand(0), static_cast<std::size_t>(from)));
        }
      });
  EXPECT_GT(kinds(orders, [](const Key& key) { return print(key).substr(0, 32); }), 4U);
}

TEST(Variation, ASoftmaxGetsAnotherAxis) {
  const auto along = [](const Key& key) {
    return std::to_string(*key.attribute("axis")->integer());
  };
  const auto normalised = drawn(
      "Softmax/13{axis=3}(f32[1,8,197,197])->(f32[1,8,197,197])",
      [](const Key& key) { EXPECT_EQ(key.operand(0)->shape, key.result(0)->shape) << print(key); });
  EXPECT_EQ(kinds(normalised, along), 4U);
  const auto in_place = drawn("Softmax/13{axis=-1}(f32[1,8,64,64])->(&0)", [](const Key& key) {
    EXPECT_TRUE(std::holds_alternative<AliasEntry>(key.results[0]));
  });
  EXPECT_GT(in_place.size(), 100U);
  // Before version 13 all behind the axis are normalised together.
  EXPECT_EQ(kinds(drawn("Softmax/11{axis=1}(f32[8,64])->(f32[8,64])", [](const Key&) {}), along),
            1U);
}

TEST(Variation, ChannelsOfBlocksAreRoundedUp) {
  for (const bool last : {false, true}) {
    drawn(fmt::format("com.microsoft.nchwc:ReorderOutput/1@block=16{{channels=126,channels_last={}"
                      "}}(f32[1,128,10,10])->(f32[1,{}])",
                      last ? 1 : 0, last ? "10,10,126" : "126,10,10"),
          [&](const Key& key) {
            const std::int64_t channels = *key.attribute("channels")->integer();
            EXPECT_EQ(size(key.result(0), last ? 3 : 1), channels) << print(key);
            EXPECT_EQ(size(key.operand(0), 1), (channels + 15) / 16 * 16);
            EXPECT_EQ(size(key.result(0), last ? 1 : 2), size(key.operand(0), 2));
          });
  }
}

TEST(Variation, PackedWeightsFitTheirProduct) {
  const auto keys = drawn(
      "com.microsoft:MatMulNBits/1{K=1408,N=512,accuracy_level=4,bits=4,block_size=32}"
      "(f32[1,1,1408],u8c[512,44,16],f32c[22528])->(f32[1,1,512])",
      [](const Key& key) {
        const std::int64_t inner = *key.attribute("K")->integer();
        const std::int64_t columns = *key.attribute("N")->integer();
        EXPECT_EQ(inner % 32, 0);
        EXPECT_EQ(size(key.operand(0), 2), inner) << print(key);
        EXPECT_EQ(size(key.operand(1), 0), columns);
        EXPECT_EQ(size(key.operand(1), 1), inner / 32);
        EXPECT_EQ(size(key.operand(2), 0), columns * inner / 32);
        EXPECT_EQ(size(key.result(0), 2), columns);
        EXPECT_EQ(size(key.result(0), 1), size(key.operand(0), 1));
      });
  EXPECT_GT(kinds(keys, [](const Key& key) { return std::to_string(size(key.result(0), 1)); }), 3U)
      << "a token or many";
}

TEST(Variation, ProductsGetOtherRowsAndSumsOtherOperands) {
  const auto products = drawn(
      "Gemm/13{alpha=1.0,beta=1.0,transA=0,transB=1}(f32[1,512],f32c[1000,512],f32c[1000])->"
      "(f32[1,1000])",
      [](const Key& key) {
        EXPECT_EQ(size(key.operand(0), 0), size(key.result(0), 0)) << print(key);
        EXPECT_EQ(size(key.operand(1), 0), size(key.result(0), 1));
      });
  EXPECT_GT(kinds(products, [](const Key& key) { return std::to_string(size(key.result(0), 0)); }),
            4U);
  const auto sums =
      drawn("Add/13{}(f32[1,64,28,28],f32[1,64,28,28])->(f32[1,64,28,28])",
            [](const Key& key) { EXPECT_EQ(key.operand(0)->shape, key.result(0)->shape); });
  EXPECT_EQ(kinds(sums, [](const Key& key) { return key.op; }), 4U);
  EXPECT_EQ(kinds(sums,
                  [](const Key& key) {
                    std::string form;
                    for (std::size_t d = 0; d < 4; ++d)
                      form += size(key.operand(1), d) > 1 ? 'x' : '1';
                    return form;
                  }),
            4U);
}

TEST(Variation, QuantisedActivationsMayBeSigned) {
  const auto keys = drawn(
      "com.microsoft:QLinearConv/1{channels_last=1,dilations=[1,1],group=1,kernel_shape=[3,3],"
      "pads=[1,1,1,1],strides=[1,1]}(u8[1,14,14,256],f32c[],u8c[],i8c[512,256,3,3],f32c[512],"
      "i8c[512],f32c[],u8c[],i32c[512])->(u8[1,14,14,512])",
      [](const Key& key) {
        EXPECT_EQ(key.operand(0)->dtype, key.result(0)->dtype) << print(key);
        EXPECT_EQ(key.operand(2)->dtype, key.result(0)->dtype);
        EXPECT_EQ(key.operand(3)->dtype, Dtype::I8);
        EXPECT_EQ(key.operand(4)->shape, key.operand(5)->shape) << "scale and zero point";
      });
  EXPECT_EQ(kinds(keys, [](const Key& key) { return std::string(name(key.result(0)->dtype)); }),
            2U);
  EXPECT_EQ(
      kinds(keys, [](const Key& key) { return std::to_string(key.operand(4)->shape.dims.size()); }),
      2U);
}

TEST(Variation, NothingAbsurdIsDrawn) {
  // 2e15 operations: whatever is drawn nearby, it is more than a kernel may have.
  for (std::uint64_t seed = 1; seed <= 5; ++seed)
    EXPECT_FALSE(
        varied("MatMul/13{}(f32[99840,99840],f32[99840,99840])->(f32[99840,99840])", seed));
}

TEST(Variation, TheSameSeedDrawsTheSame) {
  EXPECT_EQ(print(*varied(kConv, 7)), print(*varied(kConv, 7)));
}

}  // namespace
}  // namespace oplat::ir
