// SPDX-License-Identifier: Apache-2.0
/// Codec paddle-evaluator: text tables of TableLatencyEvaluator.
#include <cstdint>

#include "table_codec.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto codec = oplat::table::make_codec("paddle-evaluator").value();
  oplat::fuzz::check_codec(*codec, {reinterpret_cast<const char*>(data), size});
  return 0;
}
