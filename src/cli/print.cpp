// SPDX-License-Identifier: Apache-2.0
#include "cli/print.hpp"

#include <cstdio>

#include "base/message.hpp"

namespace oplat::cli {

void print_text(std::string_view text) { fmt::print("{}", base::printable_lines(text)); }

void print_message(std::string_view message) {
  fmt::print(stderr, "oplat: {}\n", base::printable_message(message));
}

}  // namespace oplat::cli
