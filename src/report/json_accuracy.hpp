// SPDX-License-Identifier: Apache-2.0
/// oplat.accuracy/1 (docs/reference/json.md).
#pragma once

#include "report/json_values.hpp"

namespace oplat::report {

Json accuracy_document(const AccuracyReport& report);

}  // namespace oplat::report
