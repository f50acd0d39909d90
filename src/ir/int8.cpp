// SPDX-License-Identifier: Apache-2.0
#include "ir/int8.hpp"

namespace oplat::ir {

bool has_int8_tensor(std::string_view key) {
  // Tensors stand behind the attributes: "(u8[1,64],i8c[64,64])->(u8[1,64])".
  const std::size_t attributes_end = key.rfind("}(");
  if (attributes_end != std::string_view::npos) key.remove_prefix(attributes_end + 1);
  for (std::size_t at = key.find("8", 2); at != std::string_view::npos;
       at = key.find("8", at + 1)) {
    const char kind = key[at - 1];
    const char before = key[at - 2];
    const char after = at + 1 < key.size() ? key[at + 1] : '\0';
    if ((kind == 'i' || kind == 'u') && (before == '(' || before == ',') &&
        (after == '[' || after == 'c'))
      return true;
  }
  return false;
}

}  // namespace oplat::ir
