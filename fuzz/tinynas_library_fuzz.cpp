// SPDX-License-Identifier: Apache-2.0
/// Codec tinynas: TinyNAS's libraries.
#include <cstdint>

#include "compat/tinynas/codec.hpp"
#include "table_codec.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto& codec = oplat::compat::tinynas::library_codec();
  oplat::fuzz::check_codec(codec, {reinterpret_cast<const char*>(data), size});
  return 0;
}
