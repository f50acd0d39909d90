// SPDX-License-Identifier: Apache-2.0
/// The way of text to the terminal: what untrusted files, workers and flags say cannot command it.
#pragma once

#include <string_view>

namespace oplat::cli {

/// A text of many lines to standard output, made printable (base/message.hpp).
void print_text(std::string_view text);
/// "oplat: " and the message, made printable, as a line on standard error.
void print_message(std::string_view message);

}  // namespace oplat::cli
