// SPDX-License-Identifier: Apache-2.0
/// Codec paddle-lite-profile: logs of Paddle-Lite's profiler.
#include <cstdint>

#include "compat/paddleslim/codecs.hpp"
#include "table_codec.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto& codec = oplat::compat::paddleslim::profile_codec();
  oplat::fuzz::check_codec(codec, {reinterpret_cast<const char*>(data), size});
  return 0;
}
