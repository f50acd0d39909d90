// SPDX-License-Identifier: Apache-2.0
/// What was built: printed by `oplat version`, recorded in every campaign.
#pragma once

#include <string_view>

namespace oplat::base {

std::string_view version();  ///< "0.1.0"
std::string_view
commit();  ///< git commit, "-dirty" where the tree was changed, "unknown" outside a checkout
std::string_view build_type();  ///< "Release", "Debug"
std::string_view compiler();    ///< "GNU 12.2.0"

}  // namespace oplat::base
