// SPDX-License-Identifier: Apache-2.0
/// PaddleSlim's pickled tables: no bytes harm the reader, and what it reads it reads again from
/// what it writes.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "compat/paddleslim/codecs.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto& codec = oplat::compat::paddleslim::pickle_codec();
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto strict = codec.read(bytes, {"fuzz", "fp32", false});
  const auto lenient = codec.read(bytes, {"fuzz", "fp32", true});
  if (strict && (!lenient || !(strict->file == lenient->file) || lenient->skipped != 0))
    std::abort();
  if (lenient) {
    const auto written = codec.write(lenient->file);
    if (!written) std::abort();
    const auto again = codec.read(*written, {"fuzz", "fp32", true});
    if (!again || !(again->file == lenient->file) || again->skipped != lenient->skipped)
      std::abort();
  }
  return 0;
}
