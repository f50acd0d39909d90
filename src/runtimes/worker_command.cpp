// SPDX-License-Identifier: Apache-2.0
#include "runtimes/worker_command.hpp"

#include "base/text.hpp"

namespace oplat::runtimes {

Result<std::vector<std::string>> split_command(std::string_view text) {
  std::vector<std::string> words;
  bool in_word = false;
  char quote = '\0';
  const auto put = [&](char c) {
    if (!in_word) words.emplace_back();
    in_word = true;
    words.back() += c;
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool escapes = c == '\\' && quote != '\'' && i + 1 < text.size();
    if (escapes) {
      put(text[++i]);
    } else if (quote != '\0') {
      if (c == quote) {
        quote = '\0';
      } else {
        put(c);
      }
    } else if (c == '\'' || c == '"') {
      quote = c;
      if (!in_word) words.emplace_back();  // '' is a word
      in_word = true;
    } else if (c == ' ' || c == '\t' || c == '\n') {
      in_word = false;
    } else {
      put(c);
    }
  }
  if (quote != '\0')
    return fail(Code::Usage, "the command {} has a quote {} that is not closed",
                base::printable(text), quote);
  if (words.empty()) return fail(Code::Usage, "the command of the worker is empty");
  return words;
}

}  // namespace oplat::runtimes
