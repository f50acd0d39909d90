// SPDX-License-Identifier: Apache-2.0
/// Version facts, from a header that the build makes.
#include "base/version.hpp"

#include "version_data.hpp"

namespace oplat::base {

std::string_view version() { return OPLAT_VERSION; }
std::string_view commit() { return OPLAT_COMMIT; }
std::string_view build_type() { return OPLAT_BUILD_TYPE; }
std::string_view compiler() { return OPLAT_COMPILER; }

}  // namespace oplat::base
