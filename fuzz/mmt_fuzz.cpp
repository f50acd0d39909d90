// SPDX-License-Identifier: Apache-2.0
/// MMT's pickled tables: no bytes harm the reader, and what it reads it reads again from what it
/// writes.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "compat/mmt/codec.hpp"
#include "ir/key.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto& codec = oplat::compat::mmt::codec();
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto strict = codec.read(bytes, {"fuzz", "low", false});
  const auto lenient = codec.read(bytes, {"fuzz", "low", true});
  if (strict && (!lenient || !(strict->file == lenient->file) || lenient->skipped != 0))
    std::abort();
  if (!lenient) return 0;
  for (const auto& row : lenient->file.rows) {
    if (!oplat::ir::parse(row.key)) std::abort();
  }
  const auto written = codec.write(lenient->file);
  if (!written) std::abort();
  const auto again = codec.read(*written, {"fuzz", "low", true});
  if (!again || !(again->file == lenient->file) || again->skipped != lenient->skipped) std::abort();
  return 0;
}
