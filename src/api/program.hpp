// SPDX-License-Identifier: Apache-2.0
/// The program `oplat`, whose processes run runtimes for a program that links the library.
#pragma once

#include <string>

namespace oplat::api {

/// $OPLAT_PROGRAM, else `oplat` next to the running program, else the installed one, else plain
/// "oplat", which is looked up in PATH.
std::string program();

}  // namespace oplat::api
