// SPDX-License-Identifier: Apache-2.0
#include "oplat/version.hpp"

#include "base/version.hpp"

namespace oplat {

std::string_view version() noexcept { return base::version(); }
std::string_view commit() noexcept { return base::commit(); }

}  // namespace oplat
