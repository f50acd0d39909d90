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

// Rows of one kernel in all its states, whichever key comes first.
TEST(States, AKernelIsOneInAllItsStates) {
  std::vector<ir::Description> rows;
  for (const std::size_t state : {0, 2}) {
    for (const std::string& key : convolutions()) rows.push_back(in_state(key, state));
  }
  const std::vector<std::size_t> kernels = kernels_of(rows);
  ASSERT_EQ(kernels.size(), rows.size());
  for (std::size_t i = 0; i < convolutions().size(); ++i) {
    EXPECT_EQ(kernels[i], i);
    EXPECT_EQ(kernels[convolutions().size() + i], i);
  }
  // Without a state the last number is one of the kernel's own.
  ir::Description other = ir::describe(ir::parse(convolutions().front()).value()).value();
  ir::Description with_residual = other;
  with_residual.numbers.back() += 1;
  EXPECT_EQ(kernels_of(std::vector{other, with_residual}), (std::vector<std::size_t>{0, 1}));
}

// A product whose weights alone are 16 MiB is never hot, though no footprint is less than its own.
TEST(States, AKernelIsNoHotterThanItLeavesItsWeights) {
  constexpr double kMiB = 1024.0 * 1024;
  const StateLimits limits{2 * kMiB, 24 * kMiB};
  const auto product = [](int inner) {
    return fmt::format("MatMul/13{{}}(f32[1,{0}],f32c[{0},1024])->(f32[1,1024])", inner);
  };
  const auto states_of = [&](const std::string& key, std::vector<double> footprints) {
    std::vector<Sample> samples;
    for (const double bytes : footprints) samples.push_back({key, 1, bytes});
    put_states(samples, limits);
    std::vector<std::size_t> states;
    for (const Sample& sample : samples)
      states.push_back(description_of(sample, compat::catalogue(), {})->state);
    return states;
  };
  EXPECT_EQ(states_of(product(64), {0.3 * kMiB, 4 * kMiB, 64 * kMiB}),
            (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_EQ(states_of(product(4096), {16.1 * kMiB, 64 * kMiB}), (std::vector<std::size_t>{1, 2}));
  EXPECT_EQ(states_of(product(16384), {64.1 * kMiB}), (std::vector<std::size_t>{2}));
  // Of results alone nothing is lost that a state could tell.
  EXPECT_EQ(states_of("Relu/14{}(f32[1,4194304])->(f32[1,4194304])", {32 * kMiB}),
            (std::vector<std::size_t>{0}));
  const ir::Description large = in_state(product(4096), 0);
  EXPECT_EQ(state_of_its_own(large, limits), 1U);
}

TEST(States, TheStateIsTheLastNumber) {
  const ir::Description cold = in_state(convolutions().front(), 2);
  EXPECT_EQ(cold.state, 2U);
  EXPECT_EQ(cold.numbers.back(), 3);
  EXPECT_EQ(cold.numbers.size(), ir::kConvolutionNumbers + 1);
}

}  // namespace
}  // namespace oplat::estimate
