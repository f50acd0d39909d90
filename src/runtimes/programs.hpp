// SPDX-License-Identifier: Apache-2.0
/// Workers that are programs of their own: executables next to this one, and Python packages.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "runtimes/protocol.hpp"

namespace oplat::runtimes {

/// Becomes the program that serves `entry`; returns only if that fails. A runtime in Python
/// is run by $OPLAT_<NAME>_PYTHON, else by the interpreter of .venv-<name> in the nearest folder
/// above the executable or in the current one, else by that of the virtual environment that oplat
/// is installed in, else by the system's python3.
Error become_program(const RuntimeEntry& entry, std::vector<std::string> arguments);

}  // namespace oplat::runtimes
