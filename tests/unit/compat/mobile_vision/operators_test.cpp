// SPDX-License-Identifier: Apache-2.0
/// Caffe2's operators in the catalogue: their work, and what they are described by.
#include <gmock/gmock.h>

#include "formats/caffe2/operators.hpp"
#include "unit/compat/all_domains.hpp"

namespace oplat::compat::mobile_vision {
namespace {

using namespace ir;  // NOLINT: the file is about keys
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Key key_from(const std::string& given) {
  auto key = parse("caffe2:" + given + "->()");
  EXPECT_TRUE(key) << given;
  if (!key) return {};
  const auto status = formats::caffe2::complete_caffe2(*key);
  EXPECT_TRUE(status) << given;
  return *key;
}

TEST(Work, OfCaffe2Operators) {
  const std::vector<std::pair<std::string, double>> examples = {
      // 32 x 112 x 112 results of 3 x 3 x 3.
      {"Int8ConvRelu{kernel=3,pad=1,stride=2}(u8[1,224,224,3],u8c[32,3,3,3],i32c[32])", 21'676'032},
      // Depthwise: 32 x 112 x 112 results of 9.
      {"Int8Conv{group=32,kernel=3,pad=1}(u8[1,112,112,32],u8c[32,3,3,1],i32c[32])", 7'225'344},
      {"Conv{kernel=1}(f32[2,8,4,4],f32c[16,8,1,1])", 2 * 2 * 16 * 16 * 8},
      {"Int8FC{}(u8[2,1,1,20],u8c[10,20],i32c[10])", 800},
      {"FC{axis=2}(f32[2,3,4,5],f32c[7,20],f32c[7])", 2 * 6 * 20 * 7},
      {"Int8AveragePool{kernel=7}(u8[1,7,7,16])", 784},
      {"Sum{}(f32[8],f32[8],f32[8])", 16},
      {"Int8Relu{}(u8[8])", 8},
      {"Int8Softmax{}(u8[1,8])", 40},
      {"NCHW2NHWC{}(f32[1,3,2,2])", 0},
  };
  for (const auto& [given, flops] : examples) {
    const Work counted = work(key_from(given));
    EXPECT_EQ(counted.flops, std::optional(flops)) << given;
    EXPECT_TRUE(counted.complete);
  }
  const Work bytes = work(
      key_from("Int8ConvRelu{kernel=3,pad=1,stride=2}(u8[1,224,224,3],u8c[32,3,3,3],i32c[32])"));
  EXPECT_EQ(bytes.bytes_in, 150'528);
  EXPECT_EQ(bytes.bytes_weights, 864 + 128);
  EXPECT_EQ(bytes.bytes_out, 401'408);
}

/// The same convolution, channels first and last, is one point.
TEST(Describe, LayoutChangesNoNumber) {
  const auto first = describe(key_from(
      "Conv{group=2,kernel_h=3,kernel_w=5,pad=2,stride=2}(f32[1,16,40,20],f32c[32,8,3,5])"));
  const auto last =
      describe(key_from("Conv{group=2,kernel_h=3,kernel_w=5,order=NHWC,pad=2,stride=2}(f32[1,40,20,"
                        "16],f32c[32,3,5,8])"));
  ASSERT_TRUE(first && last);
  EXPECT_TRUE(first->aligned);
  EXPECT_EQ(first->numbers, last->numbers);
  EXPECT_EQ(first->numbers[kConvHeight], 40);
  EXPECT_EQ(first->numbers[kConvOutChannels], 32);
  EXPECT_EQ(first->numbers[kConvKernel], 3);
  EXPECT_EQ(first->numbers[kConvGroup], 2);
  ASSERT_TRUE(last->contraction);
  EXPECT_EQ(last->contraction->in_c, 8);
  EXPECT_EQ(last->contraction->kernel_w, 5);
  EXPECT_EQ(last->contraction->out_w, 10);
}

TEST(Describe, DepthwiseIsASliceOfItsOwn) {
  const auto depthwise = describe(
      key_from("Int8Conv{group=32,kernel=3,pad=1}(u8[1,12,12,32],u8c[32,3,3,1],i32c[32])"));
  const auto dense =
      describe(key_from("Int8Conv{kernel=3,pad=1}(u8[1,12,12,32],u8c[32,3,3,32],i32c[32])"));
  ASSERT_TRUE(depthwise && dense);
  EXPECT_THAT(depthwise->slice, HasSubstr("depthwise"));
  EXPECT_THAT(dense->slice, HasSubstr("dense"));
}

TEST(Describe, AProductIsRowsInnerColumnsWhateverTheRank) {
  const auto flat = describe(key_from("Int8FC{}(u8[4,20],u8c[10,20],i32c[10])"));
  const auto image = describe(key_from("Int8FC{}(u8[4,1,1,20],u8c[10,20],i32c[10])"));
  ASSERT_TRUE(flat && image);
  EXPECT_THAT(flat->numbers, ElementsAre(4, 20, 10));
  EXPECT_EQ(flat->numbers, image->numbers);
  EXPECT_EQ(flat->slice, image->slice);
  ASSERT_TRUE(flat->contraction);
  EXPECT_EQ(flat->contraction->out_h, 4);
}

}  // namespace
}  // namespace oplat::compat::mobile_vision
