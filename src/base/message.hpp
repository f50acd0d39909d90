// SPDX-License-Identifier: Apache-2.0
/// The way of every message to people: text of untrusted files in it cannot command a terminal.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace oplat::base {

/// A whole message as a terminal may print it: printable(), uncut, but a line end stays if two
/// spaces follow, which is how messages list things. So no name can begin a line of its own.
std::string printable_message(std::string_view text);

/// A text of many lines, such as a report: as above, but every line end and tab stays. Names in it
/// are printable already; this holds whatever was forgotten. `colours`: the two sequences for bold
/// and red and the one that ends them stay too.
std::string printable_lines(std::string_view text, bool colours = false);

/// printable_message() of an error.
Error printable_error(Error error);

}  // namespace oplat::base
