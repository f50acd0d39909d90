// SPDX-License-Identifier: Apache-2.0
#include "base/message.hpp"

#include <utility>

#include "base/text.hpp"

namespace oplat::base {

std::string printable_message(std::string_view text) {
  constexpr std::string_view kNextLine = "\n  ";
  std::string out;
  for (;;) {
    const std::size_t at = text.find(kNextLine);
    out += printable(text.substr(0, at), std::string_view::npos);
    if (at == std::string_view::npos) return out;
    out += '\n';
    text.remove_prefix(at + 1);
  }
}

Error printable_error(Error error) {
  error.message = printable_message(error.message);
  return error;
}

}  // namespace oplat::base
