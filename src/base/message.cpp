// SPDX-License-Identifier: Apache-2.0
#include "base/message.hpp"

#include <algorithm>
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

std::string printable_lines(std::string_view text, bool colours) {
  constexpr std::string_view kColours[] = {"\x1b[1m", "\x1b[31m", "\x1b[0m"};
  std::string out;
  while (!text.empty()) {
    // What needs a look is rare, so that the rest is handed over in large pieces.
    const std::size_t at = text.find_first_of("\n\t\x1b");
    out += printable(text.substr(0, at), std::string_view::npos);
    if (at == std::string_view::npos) break;
    text.remove_prefix(at);
    std::size_t kept = text.front() == '\x1b' ? 0 : 1;
    for (const std::string_view colour : kColours) {
      if (colours && text.starts_with(colour)) kept = colour.size();
    }
    out += kept > 0 ? std::string(text.substr(0, kept)) : printable(text.substr(0, 1));
    text.remove_prefix(std::max<std::size_t>(kept, 1));
  }
  return out;
}

Error printable_error(Error error) {
  error.message = printable_message(error.message);
  return error;
}

}  // namespace oplat::base
