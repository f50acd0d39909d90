// SPDX-License-Identifier: Apache-2.0
#include "base/command_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>

#include "base/shell.hpp"
#include "base/text.hpp"

namespace oplat::base {
namespace {

std::string did_you_mean(std::string_view word, const std::vector<std::string>& known) {
  const auto near = nearest_word(word, known);
  return near ? fmt::format(" (did you mean {}?)", *near) : std::string();
}

}  // namespace

bool is_flag(std::string_view word) { return word.size() > 1 && word.front() == '-'; }

std::string unknown_words_text(const UnknownWords& unknown) {
  const std::string& first = unknown.words.front();
  if (!is_flag(first) && !unknown.commands.empty())
    return fmt::format("'{}' is not a command of {}{}", printable(first), unknown.command,
                       did_you_mean(first, unknown.commands));
  const auto flag = std::find_if(unknown.words.begin(), unknown.words.end(), is_flag);
  if (flag != unknown.words.end()) {
    const std::string spelt = flag->substr(0, flag->find('='));
    return fmt::format("{} is not an option of {}{}", printable(spelt), unknown.command,
                       did_you_mean(spelt, unknown.flags));
  }
  std::vector<std::string> shown;
  for (const std::string& word : unknown.words) shown.push_back(printable(shell_word(word)));
  // Other commands take models as they are.
  const bool named =
      std::find(unknown.flags.begin(), unknown.flags.end(), "--model") != unknown.flags.end();
  return fmt::format("{} takes no further argument: {}{}", unknown.command, join(shown, " "),
                     named ? " (models are given with --model)" : "");
}

std::vector<std::string> in_typed_order(std::vector<std::string> words,
                                        std::span<const char* const> typed) {
  const auto place = [&](const std::string& word) {
    return std::find(typed.begin(), typed.end(), std::string_view(word)) - typed.begin();
  };
  std::stable_sort(words.begin(), words.end(),
                   [&](const auto& a, const auto& b) { return place(a) < place(b); });
  return words;
}

std::string not_finite_text(const std::string& typed) {
  char* end = nullptr;
  const double number = std::strtod(typed.c_str(), &end);  // as options read theirs
  if (end == typed.c_str() || std::isfinite(number)) return {};
  return printable(typed) + " is not a finite number";
}

std::optional<std::string> empty_item_text(std::string_view flag,
                                           std::span<const char* const> typed) {
  for (std::size_t i = 0; i < typed.size(); ++i) {
    std::string_view list = typed[i];
    if (list == flag && i + 1 < typed.size()) {
      list = typed[i + 1];
    } else if (list.starts_with(flag) && list.substr(flag.size()).starts_with('=')) {
      list.remove_prefix(flag.size() + 1);
    } else {
      continue;
    }
    if (list.starts_with(',') || list.ends_with(',') || list.find(",,") != std::string_view::npos)
      return fmt::format("{}: '{}' has an empty item", flag, printable(list));
  }
  return std::nullopt;
}

std::optional<std::string> not_a_number_text(std::string_view text, bool whole,
                                             std::string_view span) {
  const std::size_t sign = text.starts_with('-') || text.starts_with('+') ? 1 : 0;
  const bool digits =
      text.size() > sign && text.find_first_not_of("0123456789", sign) == std::string_view::npos;
  // parse_double() knows no plus sign, and of two signs there is no number.
  const bool plus = text.starts_with('+') && !text.substr(1).starts_with('-');
  if (digits || (!whole && parse_double(text.substr(plus ? 1 : 0)))) return std::nullopt;
  return fmt::format("'{}' is not a {}; expected one from {}", printable(text, 40),
                     whole ? "whole number" : "number", span);
}

}  // namespace oplat::base
