// SPDX-License-Identifier: Apache-2.0
/// Which oplat a program was linked with.
#pragma once

#include <string_view>

namespace oplat {

/// "0.1.0": the version that find_package(oplat) compares. Valid for the whole run.
std::string_view version() noexcept;
/// The git commit it was built from; "-dirty" follows if files were changed, and it is "unknown"
/// outside a checkout. Valid for the whole run.
std::string_view commit() noexcept;

}  // namespace oplat
