// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "base/layout.hpp"
#include "base/message.hpp"
#include "base/text.hpp"

namespace oplat::cli {

std::size_t terminal_columns(int descriptor) {
  constexpr std::size_t kMinColumns = 40;
  constexpr std::size_t kUsualColumns = 80;
  constexpr std::int64_t kMaxColumns = 10'000;
  if (::isatty(descriptor) == 0) return 0;
  if (const char* said = std::getenv("COLUMNS")) {
    const auto columns = base::parse_int(said);
    if (columns && *columns > 0)
      return std::max(kMinColumns, static_cast<std::size_t>(std::min(*columns, kMaxColumns)));
  }
  winsize size = {};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kUsualColumns;
  return std::max<std::size_t>(kMinColumns, size.ws_col);
}

void print_text(std::string_view text) {
  const std::string lines = base::printable_lines(text);
  const std::size_t columns = terminal_columns(STDOUT_FILENO);
  fmt::print("{}", columns > 0 ? base::wrap_lines(lines, columns) : lines);
}

void print_message(std::string_view message) {
  if (message.empty()) return;
  fmt::print(stderr, "{}\n",
             fitted_message(fmt::format("oplat: {}", base::printable_message(message))));
}

std::string fitted_message(std::string message) {
  const std::size_t columns = terminal_columns(STDERR_FILENO);
  return columns > 0 ? base::wrap_lines(message, columns) : message;
}

}  // namespace oplat::cli
