// SPDX-License-Identifier: Apache-2.0
/// A fit for people.
#pragma once

#include <iosfwd>

#include "report/report_model.hpp"

namespace oplat::report {

void print_fit(const FitReport& report, std::ostream& out);

}  // namespace oplat::report
