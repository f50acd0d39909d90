// SPDX-License-Identifier: Apache-2.0
/// Values for operands: what each rule makes of a key, what a plan records, what stays unknown.
#include "ir/operand_values.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "ir/value_costs.hpp"

namespace oplat::ir {
namespace {

using Numbers = std::vector<double>;

std::optional<OperandFill> fill_in(std::string_view text, std::size_t operand) {
  const auto key = parse(text);
  EXPECT_TRUE(key) << text;
  return key ? operand_fill(*key, operand) : std::nullopt;
}
Numbers values_in(std::string_view text, std::size_t operand) {
  const auto fill = fill_in(text, operand);
  EXPECT_TRUE(fill) << text;
  return fill ? fill->values : Numbers();
}
std::int64_t highest(std::string_view text, std::size_t operand) {
  const auto fill = fill_in(text, operand);
  EXPECT_TRUE(fill && fill->values.empty()) << text;
  return fill ? fill->high : -1;
}

std::vector<std::int64_t> highs(std::string_view text, std::size_t operand) {
  const auto fill = fill_in(text, operand);
  EXPECT_TRUE(fill && fill->values.empty()) << text;
  return fill ? fill->highs : std::vector<std::int64_t>();
}

TEST(OperandValues, CoordinatesLieInsideTheImage) {
  const auto grid = fill_in(
      "GridSample/20{align_corners=0,mode=linear,padding_mode=zeros}(f32[1,3,8,8],f32[1,4,4,2])->"
      "(f32[1,3,4,4])",
      1);
  ASSERT_TRUE(grid);
  EXPECT_EQ(grid->reach, 1);
  const Numbers boxes = values_in(
      "com.microsoft:CropAndResize/1{}(f32[1,3,64,64],f32[12,4],i32[12],i32c[2]=[7,7])->"
      "(f32[12,3,7,7])",
      1);
  ASSERT_EQ(boxes.size(), 48U);
  for (std::size_t i = 0; i < boxes.size(); i += 4) {
    EXPECT_GE(boxes[i], 0);
    EXPECT_LT(boxes[i], boxes[i + 2]);
    EXPECT_LE(boxes[i + 2], 1);
  }
}

TEST(OperandValues, SizesFollowFromTheResult) {
  EXPECT_EQ(values_in("Expand/13{}(f32[1,256],i64[2])->(f32[2000,256])", 1), Numbers({2000, 256}));
  EXPECT_EQ(values_in("Expand/13{}(f32[3,1,4],i64[2])->(f32[3,5,4])", 1), Numbers({5, 4}));
  EXPECT_EQ(values_in("Tile/13{}(f32[2,256],i64[2])->(f32[6,256])", 1), Numbers({3, 1}));
  EXPECT_EQ(values_in("ConstantOfShape/9{}(i64[2])->(f32[20,6])", 0), Numbers({20, 6}));
  EXPECT_EQ(values_in("Reshape/14{allowzero=0}(f32[4,6],i64[2])->(f32[6,4])", 1), Numbers({6, 4}));
  EXPECT_EQ(values_in("TopK/11{axis=1,largest=1,sorted=1}(f32[1,80],i64[1])->(f32[1,20],-)", 1),
            Numbers({20}));
  EXPECT_EQ(values_in("TopK/11{axis=1,largest=1,sorted=1}(f32[1,80],i64[1])->(-,i64[1,20])", 1),
            Numbers({20}));
  EXPECT_EQ(values_in("Split/13{axis=1}(f32[4,9],i64[3])->(f32[4,2],-,f32[4,4])", 1),
            Numbers({2, 3, 4}));
  EXPECT_EQ(values_in("OneHot/11{axis=-1}(i64[5],i64[],f32c[2])->(f32[5,100])", 1), Numbers({100}));
  EXPECT_EQ(values_in("Resize/13{}(f32[1,4,8,8],-,-,i64[4])->(f32[1,4,20,30])", 3),
            Numbers({1, 4, 20, 30}));
  EXPECT_EQ(values_in("Resize/18{axes=[2,3]}(f32[1,4,8,8],-,-,i64[2])->(f32[1,4,20,30])", 3),
            Numbers({20, 30}));
  EXPECT_EQ(values_in("CenterCropPad/18{axes=[0]}(f32[8,3],i64[1])->(f32[5,3])", 1), Numbers({5}));
  EXPECT_EQ(values_in("AffineGrid/20{}(f32[2,2,3],i64[4])->(f32[2,6,7,2])", 1),
            Numbers({2, 1, 6, 7}));
}

TEST(OperandValues, FrequenciesAreThoseThatTheRateSamples) {
  const std::string start = "MelWeightMatrix/17{output_datatype=1}(i64[],i64c[]=16,";
  EXPECT_EQ(values_in(start + "i64c[]=8192,f32[],f32[])->(f32[9,8])", 4), Numbers({4096}));
  EXPECT_EQ(values_in(start + "i64[],f32[],f32[])->(f32[9,8])", 4), Numbers({8000}));
  EXPECT_EQ(values_in(start + "i64[],f32[],f32[])->(f32[9,8])", 2), Numbers({16000}));
}

TEST(OperandValues, ScalesGiveTheSizeWhenRoundedDown) {
  for (const int out : {1, 7, 13, 21, 64, 100, 333}) {
    const std::string key =
        "Resize/13{}(f32[1,1,1,7],-,f32[4])->(f32[1,1,1," + std::to_string(out) + "])";
    const Numbers scales = values_in(key, 2);
    ASSERT_EQ(scales.size(), 4U);
    EXPECT_EQ(std::floor(static_cast<float>(scales[3]) * 7.0F), static_cast<float>(out));
    EXPECT_EQ(scales[0], 1);
  }
}

TEST(OperandValues, RangesHaveTheLengthOfTheResult) {
  EXPECT_EQ(values_in("Range/11{}(i64c[]=0,i64[],i64c[]=1)->(i64[20])", 1), Numbers({20}));
  EXPECT_EQ(values_in("Range/11{}(i64c[]=5,i64[],i64c[]=-2)->(i64[3])", 1), Numbers({-1}));
  EXPECT_EQ(values_in("Range/11{}(i64[],i64c[]=40,i64c[]=2)->(i64[5])", 0), Numbers({30}));
  EXPECT_EQ(values_in("Range/11{}(i64c[]=0,i64c[]=10,i64[])->(i64[4])", 2), Numbers({3}));
}

TEST(OperandValues, SlicesEndWhereTheResultDoes) {
  EXPECT_EQ(values_in("Slice/13{}(f32[40,6],i64c[1]=[0],i64[1],i64c[1]=[0])->(f32[20,6])", 2),
            Numbers({20}));
  EXPECT_EQ(values_in("Slice/13{}(f32[40,6],i64c[1]=[-10],i64[1],i64c[1]=[0])->(f32[4,6])", 2),
            Numbers({34}));
  EXPECT_EQ(values_in("Slice/13{}(f32[40,6],i64[1],i64c[1]=[40],i64c[1]=[0])->(f32[4,6])", 1),
            Numbers({36}));
  EXPECT_EQ(
      values_in("Slice/13{}(f32[9],i64c[1]=[-1],i64[1],i64c[1]=[0],i64c[1]=[-1])->(f32[9])", 2),
      Numbers({-10}));
  // Axes that are open are those that differ.
  EXPECT_EQ(values_in("Slice/13{}(f32[4,6],i64[1],i64[1],i64[1])->(f32[4,3])", 3), Numbers({1}));
  EXPECT_EQ(values_in("Slice/13{}(f32[4,6],i64[1],i64[1],i64[1])->(f32[4,3])", 2), Numbers({3}));
}

TEST(OperandValues, PadsAreSpreadOverBothSides) {
  EXPECT_EQ(values_in("Pad/13{mode=constant}(f32[10,6],i64[4])->(f32[13,6])", 1),
            Numbers({1, 0, 2, 0}));
}

TEST(OperandValues, AxesAreThoseThatAreGone) {
  EXPECT_EQ(values_in("Squeeze/13{}(f32[1,4,1],i64[1])->(f32[1,4])", 1), Numbers({2}));
  EXPECT_EQ(values_in("Unsqueeze/13{}(f32[4,6],i64[1])->(f32[4,1,6])", 1), Numbers({1}));
  EXPECT_EQ(values_in("ReduceSum/13{keepdims=1}(f32[4,6],i64[1])->(f32[4,1])", 1), Numbers({1}));
  EXPECT_EQ(values_in("ReduceSum/13{keepdims=0}(f32[4,6],i64[1])->(f32[6])", 1), Numbers({0}));
}

TEST(OperandValues, LengthsAreTheGreatest) {
  EXPECT_EQ(values_in("GRU/14{layout=0}(f32[100,2,32],f32c[1,192,32],f32c[1,192,64],-,i32[2])->"
                      "(f32[100,1,2,64],-)",
                      4),
            Numbers({100}));
  EXPECT_EQ(values_in("GRU/14{layout=1}(f32[2,90,32],f32c[1,192,32],f32c[1,192,64],-,i32[2])->"
                      "(f32[2,90,1,64],-)",
                      4),
            Numbers({90}));
  EXPECT_EQ(values_in("ReverseSequence/10{batch_axis=0,time_axis=1}(f32[4,70,6],i64[4])->"
                      "(f32[4,70,6])",
                      1),
            Numbers({70}));
  const char* decoder =
      "com.microsoft:GroupQueryAttention/1{kv_num_heads=2,num_heads=4}(f32[1,1,256],f32[1,1,128],"
      "f32[1,1,128],f32[1,2,1024,64],f32[1,2,1024,64],i32[1],i32[])->(f32[1,1,256],"
      "f32[1,2,1025,64],f32[1,2,1025,64])";
  EXPECT_EQ(values_in(decoder, 5), Numbers({1024}));
  EXPECT_EQ(values_in(decoder, 6), Numbers({1025}));
  // The results do not tell: the cache keeps its size.
  const auto unknown = [](const std::string& positions, const std::string& cache) {
    return fmt::format(
        "com.microsoft:GroupQueryAttention/1{{kv_num_heads=2,num_heads=4}}(f32[1,{0},256],"
        "f32[1,{0},128],f32[1,{0},128],f32[1,2,{1},64],f32[1,2,{1},64],i32[1],i32[])->"
        "(f32[1,{0},256])",
        positions, cache);
  };
  EXPECT_EQ(values_in(unknown("1", "1024"), 5), Numbers({1023}));
  EXPECT_EQ(values_in(unknown("1", "1024"), 6), Numbers({1024}));
  EXPECT_EQ(values_in(unknown("16", "0"), 6), Numbers({16}));
}

TEST(OperandValues, IndicesAreInRange) {
  EXPECT_EQ(highest("Gather/13{axis=1}(f32[5,7],i64[3])->(f32[5,3])", 1), 6);
  EXPECT_EQ(highest("GatherElements/13{axis=0}(f32[1,64],i64[1,64])->(f32[1,64])", 1), 0);
  EXPECT_EQ(highest("ScatterElements/16{axis=-1}(f32[1,64],i64[1,8],f32[1,8])->(f32[1,64])", 1),
            63);
  using Highs = std::vector<std::int64_t>;
  EXPECT_EQ(highs("ScatterND/16{}(f32[1,32,64],i64[8,2],f32[8,64])->(f32[1,32,64])", 1),
            (Highs{0, 31}));
  EXPECT_EQ(highs("ScatterND/16{}(f32[9,32,64],i64[8,1],f32[8,32,64])->(f32[9,32,64])", 1),
            Highs{8});
  EXPECT_EQ(highs("GatherND/13{batch_dims=1}(f32[1,32,64],i64[1,8,1])->(f32[1,8,64])", 1),
            Highs{31});
  EXPECT_EQ(highest("RoiAlign/16{}(f32[1,16,32,32],f32[20,4],i64[20])->(f32[20,16,7,7])", 2), 0);
  EXPECT_EQ(highest("com.microsoft:RotaryEmbedding/1{}(f32[1,1,512],i64[1,1],f32c[1,32],"
                    "f32c[1,32])->(f32[1,1,512])",
                    1),
            0);
  EXPECT_EQ(highest("com.microsoft:RotaryEmbedding/1{}(f32[1,4,512],i64[1],f32c[10,32],"
                    "f32c[10,32])->(f32[1,4,512])",
                    1),
            6);
  EXPECT_EQ(highest("RotaryEmbedding/23{}(f32[1,8,4,64],f32[50,32],f32[50,32],i64[1,4])->"
                    "(f32[1,8,4,64])",
                    3),
            49);
}

TEST(OperandValues, IntegersAreNotDividedByZero) {
  EXPECT_EQ(values_in("Div/14{}(i64[64],i64[64])->(i64[64])", 1), Numbers({1}));
  EXPECT_EQ(values_in("Mod/13{fmod=0}(i32[64],i32[1])->(i32[64])", 1), Numbers({1}));
  EXPECT_FALSE(fill_in("Div/14{}(f32[64],f32[64])->(f32[64])", 1));
}

TEST(OperandValues, RatiosLieBetweenZeroAndOne) {
  EXPECT_EQ(values_in("Dropout/13{}(f32[64],f32c[],boolc[]=1)->(f32[64],-)", 1), Numbers({0.5}));
  EXPECT_FALSE(fill_in("Dropout/13{}(f32[64],f32c[],boolc[]=1)->(f32[64],-)", 0));
}

TEST(OperandValues, DataAreFoundAsOftenAsTheKeySays) {
  EXPECT_EQ(fill_in("NonZero/13{}(f32[2000])->(i64[1,9])", 0)->nonzero, 9);
  EXPECT_EQ(fill_in("Compress/11{axis=1}(f32[1,600],bool[600])->(f32[1,70])", 1)->nonzero, 70);
  EXPECT_EQ(fill_in("Unique/11{sorted=1}(f32[100])->(f32[7],-,-,-)", 0)->distinct, 7);
  // More than there are cannot be kept.
  EXPECT_FALSE(fill_in("Compress/11{axis=1}(f32[1,600],bool[600])->(f32[1,601])", 1));
}

TEST(OperandValues, RecordedValuesComeBack) {
  const std::vector<std::int64_t> few = {5, 3, 9};
  Key key = *parse("GRU/14{}(f32[10,3,8],f32c[1,12,8],f32c[1,12,4],-,i32[3])->(f32[10,1,3,4],-)");
  key.tags.emplace_back(values_tag(4), values_summary(few));
  EXPECT_EQ(parse(print(key)), key);
  EXPECT_EQ(operand_fill(key, 4)->values, Numbers({5, 3, 9}));
  EXPECT_EQ(values_summary(std::vector<std::int64_t>(200, 7)), Value(7));
}

TEST(OperandValues, AHistogramKeepsCountMinimumMaximumAndSum) {
  std::vector<std::int64_t> many(1000);
  for (std::size_t i = 0; i < many.size(); ++i)
    many[i] = static_cast<std::int64_t>((i * 7919) % 1000 + 1);
  Key key = *parse(
      "GRU/14{}(f32[1000,1000,8],f32c[1,12,8],f32c[1,12,4],-,i32[1000])->"
      "(f32[1000,1,1000,4],-)");
  key.tags.emplace_back(values_tag(4), values_summary(many));
  EXPECT_LT(print(key).size(), 400U);
  const Numbers back = operand_fill(*parse(print(key)), 4)->values;
  ASSERT_EQ(back.size(), 1000U);
  EXPECT_EQ(back.front(), 1);
  EXPECT_EQ(back.back(), 1000);
  EXPECT_NEAR(std::accumulate(back.begin(), back.end(), 0.0), 500500, 1000);
}

TEST(OperandValues, HostileTagsGiveNoValues) {
  for (const char* tag : {"[[1,9000000000000000]]", "[[1,-1],[2,4]]", "[[1],[2]]", "[1,2,3,4]",
                          "word", "[[1,2,3],[4,5,6]]", "[[1,99]]"}) {
    const auto key = parse(std::string("GRU/14@values4=") + tag +
                           "{}(f32[10,3,8],f32c[1,12,8],f32c[1,12,4],-,i32[3])->(f32[10,1,3,4],-)");
    ASSERT_TRUE(key) << tag;
    EXPECT_EQ(operand_fill(*key, 4)->values, Numbers({10})) << tag;
  }
}

TEST(OperandValues, CaveatsNameWhatNoKeySays) {
  const auto sd = [](std::string_view text) {
    const auto caveat = value_caveat(text);
    return caveat ? caveat->sd_log : 0.0;
  };
  EXPECT_EQ(sd("Relu/14{}(f32[4])->(f32[4])"), 0);
  EXPECT_GT(sd("GRU/14{}(f32[10,3,8],f32c[1,12,8],f32c[1,12,4],-,i32[3])->(f32[10,1,3,4],-)"), 0.5);
  EXPECT_EQ(sd("GRU/14@values4=10{}(f32[10,3,8],f32c[1,12,8],f32c[1,12,4],-,i32[3])->"
               "(f32[10,1,3,4],-)"),
            0);
  EXPECT_EQ(sd("GRU/14{}(f32[10,3,8],f32c[1,12,8],f32c[1,12,4])->(f32[10,1,3,4],-)"), 0);
  EXPECT_EQ(sd("GRU/14{}(f32[10,3,8],f32c[1,12,8],f32c[1,12,4],-,i32c[3]=5)->(f32[10,1,3,4],-)"),
            0);
  EXPECT_GT(sd("GRU/14{}(f32[10,70,8],f32c[1,12,8],f32c[1,12,4],-,i32c[70])->(f32[10,1,70,4],-)"),
            0.5)
      << "too many to be said";
  EXPECT_GT(sd("Slice/13{}(f32[9],i64[1],i64[1],i64[1],i64[1])->(f32[9])"), 0.5);
  EXPECT_EQ(sd("Slice/13{}(f32[9],i64[1],i64[1],i64[1],i64c[1]=[2])->(f32[5])"), 0);
  EXPECT_EQ(sd("Slice/13@values4=-1{}(f32[9],i64[1],i64[1],i64[1],i64[1])->(f32[9])"), 0);
  EXPECT_EQ(sd("Slice/13{}(f32[9],i64[1],i64[1],i64[1])->(f32[5])"), 0);
  EXPECT_GT(
      sd("RoiAlign/16{sampling_ratio=0}(f32[1,16,32,32],f32[20,4],i64[20])->(f32[20,16,7,7])"),
      0.5);
  EXPECT_EQ(
      sd("RoiAlign/16{sampling_ratio=2}(f32[1,16,32,32],f32[20,4],i64[20])->(f32[20,16,7,7])"), 0);
  EXPECT_EQ(sd("NonZero/13{}(f32[2000])->(i64[1,9])"), 0);
  EXPECT_GT(sd("NonZero/13{}(f32[2000])->(i64[1,1000])"), 0.3);
  EXPECT_GT(sd("ai.onnx.ml:TreeEnsembleRegressor/3{}(f32[1,30])->(f32[1,1])"), 0.5);
  EXPECT_EQ(sd("ai.onnx.ml:Scaler/1{}(f32[1,30])->(f32[1,30])"), 0);
}

TEST(ValueCosts, AreThoseOfFunctionsThatBranch) {
  EXPECT_EQ(value_cost_sd("Relu/14{}(f32[4])->(f32[4])"), 0);
  EXPECT_EQ(value_cost_sd("Tanh/13{}(f32[4])->(f32[4])"), 0);
  EXPECT_GT(value_cost_sd("Softplus/1{}(f32[4])->(&0)"), 0.2);
  EXPECT_GT(value_cost_sd("PRelu/16{}(f32[4],f32c[1])->(f32[4])"), 0.4);
  EXPECT_EQ(value_cost_sd("other:Softplus/1{}(f32[4])->(f32[4])"), 0);
  // Single precision has polynomials where double precision calls the C library.
  EXPECT_EQ(value_cost_sd("Softmax/13{axis=-1}(f32[4])->(f32[4])"), 0);
  EXPECT_GT(value_cost_sd("Softmax/13{axis=-1}(f64[4])->(f64[4])"), 0.4);
  EXPECT_EQ(value_cost_sd("com.microsoft:QuickGelu/1{alpha=1.7}(f32[4])->(f32[4])"), 0);
  EXPECT_GT(value_cost_sd("com.microsoft:QuickGelu/1{alpha=1.7}(f64[4])->(f64[4])"), 0.4);
  // A square is a product.
  EXPECT_EQ(value_cost_sd("Pow/15{}(f32[4],f32c[]=2.0)->(f32[4])"), 0);
  EXPECT_EQ(value_cost_sd("Pow/15{}(f32[4],i64c[]=3)->(f32[4])"), 0);
  EXPECT_GT(value_cost_sd("Pow/15{}(f32[4],f32c[]=2.5)->(f32[4])"), 0.4);
  EXPECT_GT(value_cost_sd("Pow/15{}(f32[4],f32[4])->(f32[4])"), 0.4);
  // Where a greatest element is takes branches, what it is takes none.
  EXPECT_EQ(value_cost_sd("MaxPool/12{kernel_shape=[2]}(f32[1,1,8])->(f32[1,1,7])"), 0);
  EXPECT_EQ(value_cost_sd("MaxPool/12{kernel_shape=[2]}(f32[1,1,8])->(f32[1,1,7],-)"), 0);
  EXPECT_GT(value_cost_sd("MaxPool/12{kernel_shape=[2]}(f32[1,1,8])->(f32[1,1,7],i64[1,1,7])"),
            0.2);
  // Which rows of a table are near depends on which were read before.
  EXPECT_GT(value_cost_sd("Gather/13{axis=0}(f32c[50000,32],i64[1,8])->(f32[1,8,32])"), 0.4);
  EXPECT_EQ(value_cost_sd("Gather/13{axis=0}(f32c[100,32],i64[1,8])->(f32[1,8,32])"), 0);
  EXPECT_EQ(value_cost_sd("Gather/13{axis=0}(f32[50000,32],i64[1,8])->(f32[1,8,32])"), 0);
  EXPECT_EQ(value_cost_sd("Gather/13{axis=0}(f32c[50000,32],i64c[8]=[0])->(f32[8,32])"), 0);
  EXPECT_GT(value_cost_sd("GatherND/13{batch_dims=0}(f32c[50000,32],i64[8,1])->(f32[8,32])"), 0.4);
  EXPECT_GT(value_cost_sd("GatherElements/13{axis=0}(f32c[50000,32],i64[8,32])->(f32[8,32])"), 0.4);
  EXPECT_GT(value_cost_sd("com.microsoft:EmbedLayerNormalization/1{}(i32[1,8],-,f32c[50000,32],"
                          "f32c[512,32],-,f32c[32],f32c[32])->(f32[1,8,32],i32[1])"),
            0.4);
  EXPECT_EQ(value_cost_sd("GatherND/13{batch_dims=0}(f32[50000,32],i64[8,1])->(f32[8,32])"), 0);
  EXPECT_EQ(value_cost_sd("Softplus/1{}(-)->(f32[4])"), 0);
  EXPECT_EQ(value_cost_sd("Softplus"), 0);
}

TEST(ValueCosts, AreKnownOfRuntimesWithADomainOfTheirOwn) {
  EXPECT_GT(value_cost_sd("mnn:Select{}(i32[4],f32[4],f32[4])->(f32[4])"), 0.4);
  EXPECT_GT(value_cost_sd("mnn:ELU@nc4hw4=[0]{alpha=1.0}(f32[1,4,8,8])->(f32[1,4,8,8])"), 0.4);
  EXPECT_EQ(value_cost_sd("mnn:ReLU{slope=0.0}(f32[4])->(f32[4])"), 0);
  EXPECT_EQ(value_cost_sd("mnn:Elu{}(f32[4])->(f32[4])"), 0);
  EXPECT_GT(value_cost_sd("mnn:GatherV2{}(f32c[50000,32],i32[8])->(f32[8,32])"), 0.4);
  EXPECT_EQ(value_cost_sd("mnn:GatherV2{}(f32c[100,32],i32[8])->(f32[8,32])"), 0);
  EXPECT_EQ(value_cost_sd("mnn:GatherV2{}(f32c[50000,32],i32c[8]=0)->(f32[8,32])"), 0);
  EXPECT_GT(value_cost_sd("paddle:embedding{}(i64[8],f32c[50000,32])->(f32[8,32])"), 0.4);
  EXPECT_GT(value_cost_sd("paddle:topk{}(f32[1,80])->(f32[1,5],i64[1,5])"), 0.4);
  EXPECT_GT(value_cost_sd("paddle.onednn:prelu{}(f32[4],f32c[1])->(f32[4])"), 0.2);
  // One operator, many functions.
  const auto unary = [](std::string_view function) {
    return fmt::format("mnn:UnaryOp{{T=DT_FLOAT,opType={}}}(f32[4])->(f32[4])", function);
  };
  for (const std::string_view function : {"ERF", "SIN"}) {
    EXPECT_GT(value_cost_sd(unary(function)), 0.2) << function;
    const auto key = parse(unary(function));
    ASSERT_TRUE(key) << function;
    EXPECT_EQ(value_cost_sd(*key), value_cost_sd(unary(function)));
  }
  EXPECT_GT(value_cost_sd(unary("ERF")), value_cost_sd(unary("SIN")));
  EXPECT_GT(value_cost_sd(unary("GELU_STANDARD")), 0.4);
  for (const std::string_view function : {"ABS", "GELU", "SIGMOID", "SQRT"})
    EXPECT_EQ(value_cost_sd(unary(function)), 0) << function;
  EXPECT_EQ(value_cost_sd("mnn:UnaryOp{opType=?}(f32[4])->(f32[4])"), 0);
  EXPECT_EQ(value_cost_sd("mnn:UnaryOp{}(f32[4])->(f32[4])"), 0);
  EXPECT_EQ(value_cost_sd("UnaryOp/1{opType=SIN}(f32[4])->(f32[4])"), 0) << "another system's";
  // ONNX's own names are others.
  EXPECT_EQ(value_cost_sd("Where/16{}(bool[4],f32[4],f32[4])->(f32[4])"), 0);
  EXPECT_EQ(value_cost_sd("com.microsoft:Select{}(f32[4])->(f32[4])"), 0);
  EXPECT_EQ(value_cost_sd("topk{}(f32[4])->(f32[4])"), 0);
  EXPECT_EQ(value_cost_sd("mnn:"), 0);
  EXPECT_EQ(value_cost_sd("mnn:Gather"), 0);
}

bool changes_its_data(const char* text) {
  const auto key = parse(text);
  EXPECT_TRUE(key) << text;
  return key && is_quicker_on_repeated_data(*key);
}

TEST(RepeatedData, MatterToWhatBranchesByThem) {
  EXPECT_TRUE(changes_its_data("PRelu/16{}(f32[1,8,4],f32c[8,1])->(f32[1,8,4])"));
  EXPECT_TRUE(changes_its_data("TopK/11{}(f32[1,80],i64c[1]=[5])->(f32[1,5],i64[1,5])"));
  EXPECT_TRUE(changes_its_data("NonZero/13{}(f32[2000])->(i64[1,1000])"));
  EXPECT_TRUE(
      changes_its_data("NonMaxSuppression/11{}(f32[1,9,4],f32[1,1,9],i64c[1]=[3])->(i64[3,3])"));
  EXPECT_TRUE(changes_its_data("ai.onnx.ml:TreeEnsembleRegressor/3{}(f32[1,30])->(f32[1,1])"));
  EXPECT_FALSE(changes_its_data("ai.onnx.ml:Scaler/1{}(f32[1,30])->(f32[1,30])"));
  EXPECT_FALSE(changes_its_data("com.microsoft:PRelu/1{}(f32[4],f32[1])->(f32[4])"));
  EXPECT_FALSE(changes_its_data("Conv/11{}(f32[1,3,8,8],f32c[8,3,1,1])->(f32[1,8,8,8])"));
  EXPECT_FALSE(changes_its_data("Add/14{}(f32[4],-)->(f32[4])"));
}

TEST(RepeatedData, MatterToLookingUpInATable) {
  EXPECT_TRUE(changes_its_data("Gather/13{axis=0}(f32c[5000,16],i64[1,128])->(f32[1,128,16])"));
  EXPECT_FALSE(changes_its_data("Gather/13{axis=0}(f32[50,16],i64[8])->(f32[8,16])")) << "no table";
  EXPECT_FALSE(changes_its_data("Gather/13{axis=0}(i64[4],i64c[]=1)->(i64[])")) << "of a shape";
  EXPECT_TRUE(
      changes_its_data("com.microsoft:EmbedLayerNormalization/1{}(i32[1,8],-,f32c[100,16],"
                       "f32c[64,16],-,f32c[16],f32c[16])->(f32[1,8,16],i32[1])"));
}

Node node_of(const char* op, std::vector<TensorId> inputs) {
  Node node;
  node.op = op;
  node.inputs = std::move(inputs);
  return node;
}

TEST(RepeatedData, OfAModelAreThoseOfItsNodesAndBodies) {
  Graph graph;
  graph.tensors.resize(2);
  graph.tensors[1].constant = true;
  graph.nodes.push_back(node_of("Relu", {0}));
  graph.nodes.push_back(node_of("Gather", {0, 1}));
  graph.nodes.push_back(node_of("Add", {0, kNoTensor}));
  EXPECT_FALSE(is_quicker_on_repeated_data(graph));
  graph.nodes[1].inputs = {1, 0};
  EXPECT_TRUE(is_quicker_on_repeated_data(graph));
  graph.nodes[1].op = "Relu";
  auto body = std::make_shared<Graph>();
  body->nodes.push_back(node_of("TopK", {}));
  graph.nodes[0].bodies.emplace_back("body", body);
  EXPECT_TRUE(is_quicker_on_repeated_data(graph));
}

TEST(OperandValues, EveryRuleStandsAnyKey) {
  // Rules meet keys of files that nobody wrote: few operands, unknown shapes, no results.
  for (const OperandRule& rule : operand_rules()) {
    for (const char* shape : {"f32[]", "i64[0]", "i64[?,?]", "f32[*]", "i64[9000000000,9000000000]",
                              "bool[1,2,3,4,5]"}) {
      std::string text = (rule.domain.empty() ? "" : std::string(rule.domain) + ":") +
                         std::string(rule.op) + "/1{axis=-9,batch_dims=-3,layout=7}(";
      for (std::size_t i = 0; i <= rule.operand; ++i)
        text += (i > 0 ? "," : "") + std::string(shape);
      for (const char* results : {")->()", ")->(f32[])", ")->(f32[?,3])", ")->(&0)"}) {
        const auto key = parse(text + results);
        if (!key) continue;
        static_cast<void>(rule.fill(*key, rule.operand));
        static_cast<void>(value_caveat(*key));
      }
    }
  }
}

}  // namespace
}  // namespace oplat::ir
