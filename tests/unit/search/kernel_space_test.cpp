// SPDX-License-Identifier: Apache-2.0
/// Kernel spaces: what a file says, and what it may not say.
#include "search/kernel_space.hpp"

#include <gtest/gtest.h>

#include <string>

#include "ir/key.hpp"

namespace oplat::search {
namespace {

constexpr std::string_view kGood = R"(format: oplat.kernel-space/1
name: small
runtime: onnxruntime
description: two networks
classes:
- name: activations
  kernels:
  - 'Relu/14{}(f32[1,64])->(&0)'
  - {key: 'Sigmoid/13{}(f32[1,64])->(f32[1,64])', count: 5}
- name: sums
  kernels:
  - 'Add/14{}(f32[1,64],f32[1,64])->(f32[1,64])'
networks:
- {name: one, family: first, precision: fp32, kernels: '0 2*3'}
- {name: two, kernels: '0*2'}
)";

TEST(KernelSpace, KernelsAreCountedOverNetworks) {
  const auto space = read_kernel_space("s.yaml", kGood);
  ASSERT_TRUE(space) << space.error().message;
  EXPECT_EQ(space->name, "small");
  EXPECT_EQ(space->runtime, "onnxruntime");
  ASSERT_EQ(space->kernels.size(), 3U);
  EXPECT_EQ(space->kernels[0].key, "Relu/14{}(f32[1,64])->(&0)");
  EXPECT_EQ(space->kernels[0].count, 3);  // once and twice
  EXPECT_EQ(space->kernels[1].count, 5);  // as the file says
  EXPECT_EQ(space->kernels[2].count, 3);
  EXPECT_EQ(space->kinds[space->kernels[2].kind], "sums");
  ASSERT_EQ(space->networks.size(), 2U);
  EXPECT_EQ(space->networks[0].family, "first");
  EXPECT_EQ(space->networks[1].family, "two") << "a family of its own";
  EXPECT_EQ(space->networks[0].kernels[1], (std::pair<std::size_t, double>(2, 3)));
}

std::string with(std::string_view from, std::string_view to) {
  std::string text(kGood);
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(KernelSpace, BadFilesAreNamedWithTheirLine) {
  const struct {
    std::string text;
    std::string_view message;
  } cases[] = {
      {with("oplat.kernel-space/1", "oplat.kernel-space/9"),
       "s.yaml:1: 'format' is 'oplat.kernel-space/9'; expected oplat.kernel-space/1"},
      {with("'Relu/14{}(f32[1,64])->(&0)'", "'Relu('"), "s.yaml:8: is not a key: "},
      {with("f32[1,64],f32[1,64])->(f32[1,64])", "f32[1,?],f32[1,?])->(f32[1,?])"),
       "s.yaml:12: the key says '?' or '*'"},
      {with("Sigmoid/13{}(f32[1,64])->(f32[1,64])", "Relu/14{}(f32[1,64])->(&0)"),
       "s.yaml:9: the space holds this kernel twice"},
      {with("'0 2*3'", "'0 3'"), "s.yaml:14: 'kernels' of network one holds '3'"},
      {with("'0 2*3'", "'0 2*0'"), "'kernels' of network one holds '2*0'"},
      {with("'0 2*3'", "'-1'"), "'kernels' of network one holds '-1'"},
      {with("'0 2*3'", "''"), "'kernels' of network one"},
      {with("classes:", "clases:"), "do you mean classes?"},
      {with("count: 5", "count: many"), "s.yaml:9: 'count' of a kernel is 'many'"},
      {"format: oplat.kernel-space/1\nname: x\nruntime: onnxruntime\nclasses: []\n",
       "the space holds no kernel"},
  };
  for (const auto& one : cases) {
    const auto space = read_kernel_space("s.yaml", one.text);
    ASSERT_FALSE(space) << one.message;
    EXPECT_EQ(space.error().code, Code::Input);
    EXPECT_NE(space.error().message.find(one.message), std::string::npos) << space.error().message;
  }
}

TEST(KernelSpace, TheBuiltInOneIsWhole) {
  const auto space = find_kernel_space("general-cpu");
  ASSERT_TRUE(space) << space.error().message;
  EXPECT_EQ(space->name, "general-cpu");
  EXPECT_EQ(space->runtime, "onnxruntime");
  EXPECT_GE(space->networks.size(), 10U);
  EXPECT_GE(space->kernels.size(), 300U);
  for (const SpaceKernel& kernel : space->kernels) EXPECT_GE(kernel.count, 1) << kernel.key;
}

TEST(KernelSpace, AnUnknownNameSaysWhatThereIs) {
  const auto space = find_kernel_space("general-gpu");
  ASSERT_FALSE(space);
  EXPECT_NE(space.error().message.find("the spaces of oplat are general-cpu"), std::string::npos);
}

}  // namespace
}  // namespace oplat::search
