// SPDX-License-Identifier: Apache-2.0
/// What the codec of another system's table must keep, whatever the bytes: what is read is written
/// again byte for byte, strict and lenient reading agree where nothing is malformed, and every key
/// parses.
#pragma once

#include <cstdlib>
#include <string_view>

#include "ir/key.hpp"
#include "table/codec.hpp"

namespace oplat::fuzz {

inline void check_codec(const table::TableCodec& codec, std::string_view bytes) {
  const auto strict = codec.read(bytes, {"fuzz", "fp32", false});
  const auto lenient = codec.read(bytes, {"fuzz", "fp32", true});
  if (strict && (!lenient || !(strict->file == lenient->file) || lenient->skipped != 0))
    std::abort();
  if (!lenient) return;
  const auto written = codec.write(lenient->file);
  if (!written || *written != bytes) std::abort();
  for (const auto& row : lenient->file.rows) {
    if (!ir::parse(row.key)) std::abort();
  }
}

}  // namespace oplat::fuzz
