// SPDX-License-Identifier: Apache-2.0
/// oplat.verify/1 (docs/reference/json.md).
#pragma once

#include "report/json_values.hpp"

namespace oplat::report {

Json verification_document(const Verification& verification);

}  // namespace oplat::report
