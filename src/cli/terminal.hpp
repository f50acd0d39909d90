// SPDX-License-Identifier: Apache-2.0
/// The terminal: how wide it is, and the way of text to it. What untrusted files, workers and flags
/// say cannot command it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace oplat::cli {

/// Columns of the terminal at a file descriptor: $COLUMNS if it is set, else what the terminal
/// says, else 80; 40 at least. 0 if it is not a terminal, where lines are as long as they are.
std::size_t terminal_columns(int descriptor);

/// A text of many lines to standard output, made printable (base/message.hpp).
void print_text(std::string_view text);
/// "oplat: " and the message, made printable, as a line on standard error, wrapped to a terminal.
/// Nothing for an empty one.
void print_message(std::string_view message);
/// A printable message wrapped to the terminal that standard error is; as it is if that is none.
std::string fitted_message(std::string message);

}  // namespace oplat::cli
