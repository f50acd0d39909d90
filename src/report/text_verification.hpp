// SPDX-License-Identifier: Apache-2.0
/// `oplat verify` for people.
#pragma once

#include <ostream>

#include "report/report_model.hpp"

namespace oplat::report {

void print_verification(const Verification& verification, const Options& options,
                        std::ostream& out);

}  // namespace oplat::report
