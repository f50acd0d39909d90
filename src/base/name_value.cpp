// SPDX-License-Identifier: Apache-2.0
#include "base/name_value.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "base/shell.hpp"
#include "base/text.hpp"

namespace oplat::base {

Result<std::pair<std::string, std::string>> name_value(const std::string& flag,
                                                       const std::string& text) {
  const auto wrong = [&](std::string_view what) {
    return fail(Code::Usage, "{} {}: {}", flag, printable(text), what);
  };
  std::string name;
  std::size_t at = 0;
  if (text.starts_with('"')) {
    for (at = 1; at < text.size() && text[at] != '"'; ++at) {
      const bool escapes = text[at] == '\\' && at + 1 < text.size();
      if (escapes) ++at;
      name += text[at];
    }
    if (at == text.size()) return wrong("the name has a quote \" that is not closed");
    ++at;
    if (at == text.size() || text[at] != '=')
      return wrong("write an = after the quoted name: '\"NAME\"=VALUE'");
  } else {
    at = std::min(text.find('='), text.size());
    name = text.substr(0, at);
  }
  if (name.empty() || at + 1 >= text.size())
    return wrong(
        "write NAME=VALUE; a name that holds = or begins with \" is quoted: "
        "'\"a=b\"=VALUE'");
  return std::pair(std::move(name), text.substr(at + 1));
}

std::string name_value_word(const std::string& name, std::string_view value) {
  std::string word = printable(name, 200);
  if (name.find('=') != std::string::npos || name.starts_with('"')) {
    std::string quoted = "\"";
    for (const char c : word) {
      if (c == '"' || c == '\\') quoted += '\\';
      quoted += c;
    }
    word = quoted + "\"";
  }
  return shell_word(fmt::format("{}={}", word, value));
}

}  // namespace oplat::base
