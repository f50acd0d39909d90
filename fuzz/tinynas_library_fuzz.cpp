// SPDX-License-Identifier: Apache-2.0
/// Codec tinynas: TinyNAS's libraries.
#include <cstdint>

#include "table_codec.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto codec = oplat::table::make_codec("tinynas").value();
  oplat::fuzz::check_codec(*codec, {reinterpret_cast<const char*>(data), size});
  return 0;
}
