// SPDX-License-Identifier: Apache-2.0
/// Where `cmake --install` puts what programs look for.
#pragma once

namespace oplat::base {

/// The folder of the installed programs, an absolute path.
extern const char* const kInstalledPrograms;
/// The folder of the workers in Python, from that of the programs.
extern const char* const kInstalledPython;
/// The library that they load, from the folder of the programs.
extern const char* const kInstalledWorkerLibrary;

}  // namespace oplat::base
