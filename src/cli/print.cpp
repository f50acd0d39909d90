// SPDX-License-Identifier: Apache-2.0
#include "cli/print.hpp"

#include <unistd.h>

#include <cstdio>

#include "base/layout.hpp"
#include "base/message.hpp"
#include "cli/terminal.hpp"

namespace oplat::cli {

void print_text(std::string_view text) {
  const std::string lines = base::printable_lines(text);
  const std::size_t columns = terminal_columns(STDOUT_FILENO);
  fmt::print("{}", columns > 0 ? base::wrap_lines(lines, columns) : lines);
}

void print_message(std::string_view message) {
  fmt::print(stderr, "{}\n",
             fitted_message(fmt::format("oplat: {}", base::printable_message(message))));
}

std::string fitted_message(std::string message) {
  const std::size_t columns = terminal_columns(STDERR_FILENO);
  return columns > 0 ? base::wrap_lines(message, columns) : message;
}

}  // namespace oplat::cli
