// SPDX-License-Identifier: Apache-2.0
/// The one list of foreign systems. Explicit: no static initialisers.
#include "compat/registry.hpp"

namespace oplat::compat {

std::span<const std::string_view> systems() {
  static constexpr std::string_view kSystems[] = {"tinynas", "mobile_vision", "paddleslim"};
  return kSystems;
}

}  // namespace oplat::compat
