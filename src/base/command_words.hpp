// SPDX-License-Identifier: Apache-2.0
/// Words of a command line that nothing takes: what is said of them.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace oplat::base {

/// Whether a word is written as a flag: "-q", "--table=t.oplat".
bool is_flag(std::string_view word);

/// What a command was given, and what it has.
struct UnknownWords {
  std::string command;                ///< "oplat table"
  std::vector<std::string> words;     ///< that nothing took, as typed; not empty
  std::vector<std::string> commands;  ///< that may follow `command`
  std::vector<std::string> flags;     ///< of `command`: "--table"
};
/// What is wrong, with what may have been meant: a word that should be a command comes first, then
/// the first flag. Printable.
std::string unknown_words_text(const UnknownWords& unknown);

/// `words` in the order in which they stand among those that were typed; others at the end.
std::vector<std::string> in_typed_order(std::vector<std::string> words,
                                        std::span<const char* const> typed);

/// "--batch: '1,,2' has an empty item", for the first value of `flag` that has one among the words
/// that were typed.
std::optional<std::string> empty_item_text(std::string_view flag,
                                           std::span<const char* const> typed);

/// What is wrong with a number that was typed and is infinite or a NaN, which pass through ranges;
/// empty of all else.
std::string not_finite_text(const std::string& typed);

/// "'abc' is not a whole number; expected one from 1 to 4096", where `span` is "1 to 4096";
/// std::nullopt: it is a number, however large.
std::optional<std::string> not_a_number_text(std::string_view text, bool whole,
                                             std::string_view span);

/// A check of a text, which says what is wrong with it or nothing: not_finite_text(), else what
/// `range` says, which checks that it is a number from `least` to `most`, but of a word that it is
/// not a number.
template <class Range, class Number>
auto number_check(Range range, Number least, Number most) {
  return [=](std::string& text) -> std::string {
    if (std::string odd = not_finite_text(text); !odd.empty()) return odd;
    std::string outside = range(text);
    if (outside.empty()) return outside;
    return not_a_number_text(text, std::is_integral_v<Number>, fmt::format("{} to {}", least, most))
        .value_or(std::move(outside));
  };
}

}  // namespace oplat::base
