// SPDX-License-Identifier: Apache-2.0
#include "ir/int8.hpp"

namespace oplat::ir {
namespace {

bool has_int8_text(std::string_view text) {
  for (std::size_t at = text.find('8', 2); at != std::string_view::npos;
       at = text.find('8', at + 1)) {
    const char kind = text[at - 1];
    const char before = text[at - 2];
    const char after = at + 1 < text.size() ? text[at + 1] : '\0';
    if ((kind == 'i' || kind == 'u') && (before == '(' || before == ',') &&
        (after == '[' || after == 'c'))
      return true;
  }
  return false;
}

}  // namespace

bool has_int8_tensor(std::string_view key) {
  if (!has_int8_text(key)) return false;
  // Tensors stand behind the attributes: "(u8[1,64],i8c[64,64])->(u8[1,64])".
  const std::size_t attributes_end = key.rfind("}(");
  return attributes_end == std::string_view::npos || has_int8_text(key.substr(attributes_end + 1));
}

}  // namespace oplat::ir
