// SPDX-License-Identifier: Apache-2.0
/// What a processor's instruction sets decide about kernels: how many channels stand together in
/// the blocked layout of ONNX Runtime, which no attribute says, and how many floats are added at
/// once.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "ir/description.hpp"
#include "plan/records.hpp"

namespace oplat::plan {

/// 16 with AVX-512 and 8 on other x86-64 processors (MLAS, platform.cpp); std::nullopt: nothing is
/// known of other architectures. `isa`: instruction sets, separated by spaces.
inline std::optional<std::int64_t> channels_of_block(std::string_view architecture,
                                                     std::string_view isa) {
  if (architecture != "x86_64") return std::nullopt;
  return isa.find("avx512f") != std::string_view::npos ? 16 : 8;
}

/// A device with so many threads of a runtime. ir::Host's own lanes where nothing is known of the
/// processor's instruction sets.
inline ir::Host host_of(const Device& device, std::int64_t threads) {
  ir::Host host;
  host.threads = threads;
  if (device.isa.empty()) return host;
  // A register holds the channels that stand together.
  if (const auto block = channels_of_block(device.architecture, device.isa))
    host.lanes = static_cast<double>(*block);
  return host;
}

}  // namespace oplat::plan
