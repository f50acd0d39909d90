// SPDX-License-Identifier: Apache-2.0
#include "runtimes/onnxruntime/profile_events.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <utility>

namespace oplat::runtimes::onnxruntime {
namespace {

std::optional<ir::Dtype> dtype_named(const char* name) {
  const auto runs = parse_profile(fmt::format(
      R"([{{"cat":"Node","name":"n0_kernel_time","ts":1,"dur":1,"args":{{"op_name":"Cast",)"
      R"("node_name":"n0","input_type_shape":[],"output_type_shape":[{{"{}":[3,5]}}]}}}}])",
      name));
  if (!runs || runs->size() != 1 || runs->front().outputs.size() != 1) return std::nullopt;
  return runs->front().outputs.front().dtype;
}

// As ONNX Runtime 1.31 calls them in its profile.
TEST(ProfileEvents, ElementTypesOfEveryKind) {
  using ir::Dtype;
  for (const auto& [name, dtype] :
       {std::pair("float", Dtype::F32), std::pair("bfloat16", Dtype::BF16),
        std::pair("bool", Dtype::Bool), std::pair("Int4x2", Dtype::I4),
        std::pair("UInt4x2", Dtype::U4), std::pair("Float8E4M3FN", Dtype::F8E4M3FN),
        std::pair("Float8E4M3FNUZ", Dtype::F8E4M3FNUZ), std::pair("Float8E5M2", Dtype::F8E5M2),
        std::pair("Float8E5M2FNUZ", Dtype::F8E5M2FNUZ)}) {
    EXPECT_EQ(dtype_named(name), dtype) << name;
  }
  EXPECT_EQ(dtype_named("Int2x4"), std::nullopt);
}

}  // namespace
}  // namespace oplat::runtimes::onnxruntime
