// SPDX-License-Identifier: Apache-2.0
/// An accuracy for people.
#pragma once

#include <iosfwd>

#include "report/report_model.hpp"

namespace oplat::report {

void print_accuracy(const AccuracyReport& report, std::ostream& out);

}  // namespace oplat::report
