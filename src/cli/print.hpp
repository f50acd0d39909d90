// SPDX-License-Identifier: Apache-2.0
/// The way of text to the terminal: what untrusted files, workers and flags say cannot command it.
#pragma once

#include <string>
#include <string_view>

namespace oplat::cli {

/// A text of many lines to standard output, made printable (base/message.hpp).
void print_text(std::string_view text);
/// "oplat: " and the message, made printable, as a line on standard error, wrapped to a terminal.
void print_message(std::string_view message);
/// A printable message wrapped to the terminal that standard error is; as it is if that is none.
std::string fitted_message(std::string message);

}  // namespace oplat::cli
