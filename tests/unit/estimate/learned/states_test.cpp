// SPDX-License-Identifier: Apache-2.0
/// Cache states: hot and cold rows of a kernel are two points, whatever else varies.
#include "estimate/learned/states.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "estimate/learned/space.hpp"
#include "ir/key.hpp"
#include "unit/compat/all_domains.hpp"

namespace oplat::estimate {
namespace {

ir::Description in_state(const std::string& key, std::size_t state) {
  ir::Description description = ir::describe(ir::parse(key).value()).value();
  append_state(description, state);
  return description;
}

/// A 1x1 convolution of 64 channels, and others that differ in one number each.
std::vector<std::string> convolutions() {
  const auto key = [](const char* attributes, const char* shapes) {
    return std::string("Conv/11{dilations=") + attributes + "}" + shapes;
  };
  constexpr const char* kPlain = "[1,1],group=1,kernel_shape=[1,1],pads=[0,0,0,0],strides=[1,1]";
  return {
      key(kPlain, "(f32[1,64,8,8],f32c[64,64,1,1])->(f32[1,64,8,8])"),
      key(kPlain, "(f32[2,64,8,8],f32c[64,64,1,1])->(f32[2,64,8,8])"),
      key(kPlain, "(f32[1,64,9,9],f32c[64,64,1,1])->(f32[1,64,9,9])"),
      key(kPlain, "(f32[1,64,8,4],f32c[64,64,1,1])->(f32[1,64,8,4])"),
      key(kPlain, "(f32[1,32,8,8],f32c[32,32,1,1])->(f32[1,32,8,8])"),
      key(kPlain, "(f32[1,32,8,8],f32c[64,32,1,1])->(f32[1,64,8,8])"),
      key("[1,1],group=1,kernel_shape=[3,3],pads=[0,0,0,0],strides=[1,1]",
          "(f32[1,64,8,8],f32c[64,64,3,3])->(f32[1,64,6,6])"),
      key("[1,1],group=1,kernel_shape=[3,1],pads=[1,0,1,0],strides=[1,1]",
          "(f32[1,64,8,8],f32c[64,64,3,1])->(f32[1,64,8,8])"),
      key("[1,1],group=1,kernel_shape=[1,1],pads=[0,0,0,0],strides=[2,2]",
          "(f32[1,64,8,8],f32c[64,64,1,1])->(f32[1,64,4,4])"),
      key("[2,2],group=1,kernel_shape=[3,3],pads=[2,2,2,2],strides=[1,1]",
          "(f32[1,64,8,8],f32c[64,64,3,3])->(f32[1,64,8,8])"),
      key("[1,1],group=2,kernel_shape=[1,1],pads=[0,0,0,0],strides=[1,1]",
          "(f32[1,64,8,8],f32c[64,32,1,1])->(f32[1,64,8,8])"),
  };
}

TEST(States, AConvolutionIsTwoPointsHotAndColdWhateverVaries) {
  std::vector<ir::Description> rows;
  for (const std::string& key : convolutions()) {
    for (const std::size_t state : {0, 2}) rows.push_back(in_state(key, state));
  }
  const Space space = Space::learn(rows);
  ASSERT_GE(space.axes(), 11U) << "else it tests less than it says";
  for (std::size_t i = 0; i + 1 < rows.size(); i += 2) {
    EXPECT_NE(space.place(rows[i])->at, space.place(rows[i + 1])->at) << convolutions()[i / 2];
  }
}

TEST(States, TheStateIsTheLastNumber) {
  const ir::Description cold = in_state(convolutions().front(), 2);
  EXPECT_EQ(cold.state, 2U);
  EXPECT_EQ(cold.numbers.back(), 3);
  EXPECT_EQ(cold.numbers.size(), ir::kConvolutionNumbers + 1);
}

}  // namespace
}  // namespace oplat::estimate
