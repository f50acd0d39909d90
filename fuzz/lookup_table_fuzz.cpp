// SPDX-License-Identifier: Apache-2.0
/// Codec paddle-lookup: latency_lookup_table.txt.
#include <cstdint>

#include "compat/paddleslim/codecs.hpp"
#include "table_codec.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto& codec = oplat::compat::paddleslim::lookup_codec();
  oplat::fuzz::check_codec(codec, {reinterpret_cast<const char*>(data), size});
  return 0;
}
