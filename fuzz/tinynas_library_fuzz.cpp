// SPDX-License-Identifier: Apache-2.0
/// TinyNAS's libraries: what can be read is written again byte for byte, whatever was left out.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "oplat/table/codec.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto codec = oplat::table::make_codec("tinynas").value();
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto strict = codec->read(bytes, {"fuzz", "fp32", false});
  const auto lenient = codec->read(bytes, {"fuzz", "fp32", true});
  if (strict && (!lenient || !(strict->file == lenient->file) || lenient->skipped != 0)) std::abort();
  if (lenient) {
    const auto written = codec->write(lenient->file);
    if (!written || *written != bytes) std::abort();
  }
  return 0;
}
