// SPDX-License-Identifier: Apache-2.0
/// Words of a command line that nothing takes: what is said of them.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
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

}  // namespace oplat::base
