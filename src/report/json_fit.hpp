// SPDX-License-Identifier: Apache-2.0
/// oplat.fit/1 (docs/reference/json.md).
#pragma once

#include "report/json_values.hpp"

namespace oplat::report {

Json fit_document(const FitReport& report);

}  // namespace oplat::report
