// SPDX-License-Identifier: Apache-2.0
/// The executable.
#include <fmt/format.h>

#include "oplat/base/version.hpp"

int main() {
  fmt::print("oplat {} ({}, {})\n", oplat::base::version(), oplat::base::commit(), oplat::base::build_type());
  return 0;
}
