// SPDX-License-Identifier: Apache-2.0
/// Codec paddle-lookup: latency_lookup_table.txt.
#include <cstdint>

#include "table_codec.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto codec = oplat::table::make_codec("paddle-lookup").value();
  oplat::fuzz::check_codec(*codec, {reinterpret_cast<const char*>(data), size});
  return 0;
}
