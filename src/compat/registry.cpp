// SPDX-License-Identifier: Apache-2.0
/// The one list of foreign systems. Explicit: no static initialisers.
#include "compat/registry.hpp"

#include "compat/mobile_vision/codec.hpp"
#include "compat/paddleslim/codecs.hpp"
#include "compat/tinynas/codec.hpp"

namespace oplat::compat {

std::span<const std::string_view> systems() {
  static constexpr std::string_view kSystems[] = {"tinynas", "mobile_vision", "paddleslim"};
  return kSystems;
}

table::CodecList codecs() {
  static const table::TableCodec* const all[] = {
      &mobile_vision::lut_codec(), &paddleslim::evaluator_codec(), &paddleslim::profile_codec(),
      &paddleslim::lookup_codec(), &paddleslim::pickle_codec(),    &tinynas::library_codec()};
  return all;
}

Result<const table::TableCodec*> find_codec(std::string_view name) {
  return table::find_codec(codecs(), name);
}

}  // namespace oplat::compat
