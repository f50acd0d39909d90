// SPDX-License-Identifier: Apache-2.0
/// `oplat accuracy --csv`: one line for all rows, each tier, each band.
#pragma once

#include <ostream>

#include "report/report_model.hpp"

namespace oplat::report {

void write_accuracy_csv(const AccuracyReport& report, std::ostream& out);

}  // namespace oplat::report
