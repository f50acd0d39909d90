// SPDX-License-Identifier: Apache-2.0
/// The blocked layout of ONNX Runtime: how many channels stand together, which no attribute says.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace oplat::plan {

/// 16 with AVX-512 and 8 on other x86-64 processors (MLAS, platform.cpp); std::nullopt: nothing is
/// known of other architectures. `isa`: instruction sets, separated by spaces.
inline std::optional<std::int64_t> channels_of_block(std::string_view architecture,
                                                     std::string_view isa) {
  if (architecture != "x86_64") return std::nullopt;
  return isa.find("avx512f") != std::string_view::npos ? 16 : 8;
}

}  // namespace oplat::plan
