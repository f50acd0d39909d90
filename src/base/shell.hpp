// SPDX-License-Identifier: Apache-2.0
/// Commands that messages suggest, so that they can be pasted into a shell.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace oplat::base {

/// `word` as a POSIX shell reads it back: as it is where no character is special, else in single
/// quotes.
std::string shell_word(std::string_view word);
/// The words of a command, each quoted where it has to be, with blanks between.
std::string shell_command(std::span<const std::string> words);

}  // namespace oplat::base
