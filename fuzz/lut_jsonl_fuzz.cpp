// SPDX-License-Identifier: Apache-2.0
/// Look-up tables of runtime_lut: what can be read is written again byte for byte, whatever was
/// left out, and a record's own line reads back as the same record.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "compat/mobile_vision/codec.hpp"
#include "compat/mobile_vision/lut.hpp"
#include "table_codec.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace oplat::table;
  using namespace oplat::compat::mobile_vision;
  const auto& codec = oplat::compat::mobile_vision::lut_codec();
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  oplat::fuzz::check_codec(codec, bytes);
  if (!codec.read(bytes, {"fuzz", "model", true})) return 0;
  const auto lut = read_lut(bytes, "fuzz", true);
  if (!lut) std::abort();
  for (const LutRecord& record : lut->records) {
    const auto again = read_lut_record(lut_line(record));
    if (!again || again->query != record.query || again->device != record.device ||
        again->p50.us != record.p50.us)
      std::abort();
  }
  return 0;
}
