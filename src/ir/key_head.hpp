// SPDX-License-Identifier: Apache-2.0
/// The operator of a printed key, without parsing the key.
#pragma once

#include <string_view>

namespace oplat::ir {

/// Parts of the text that it was made of.
struct KeyHead {
  std::string_view domain;  ///< empty: the default one
  std::string_view op;
};

inline KeyHead head_of(std::string_view key) {
  const std::string_view head = key.substr(0, key.find_first_of("/@{"));
  const std::size_t colon = head.rfind(':');
  if (colon == std::string_view::npos) return {{}, head};
  return {head.substr(0, colon), head.substr(colon + 1)};
}

}  // namespace oplat::ir
