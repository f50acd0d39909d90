// SPDX-License-Identifier: Apache-2.0
/// `oplat verify --csv`: one line per row.
#pragma once

#include <ostream>

#include "report/report_model.hpp"

namespace oplat::report {

void write_verification_csv(const Verification& verification, std::ostream& out);

}  // namespace oplat::report
