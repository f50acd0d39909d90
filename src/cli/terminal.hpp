// SPDX-License-Identifier: Apache-2.0
/// How wide a terminal is.
#pragma once

#include <cstddef>

namespace oplat::cli {

/// Columns of the terminal at a file descriptor: $COLUMNS if it is set, else what the terminal
/// says, else 80; 40 at least. 0 if it is not a terminal, where lines are as long as they are.
std::size_t terminal_columns(int descriptor);

}  // namespace oplat::cli
