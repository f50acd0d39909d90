// SPDX-License-Identifier: Apache-2.0
/// Documents as pages.
#pragma once

#include <ostream>

#include "report/report_model.hpp"

namespace oplat::report {

void write_page(const PredictionReport& report, const Options& options, std::ostream& out);
/// The head of that page, for a page of somebody else, a notebook's for instance: the latency, the
/// warnings, where the time comes from and the costliest kernels. Its style holds for nothing else.
void write_page_part(const PredictionReport& report, const Options& options, std::ostream& out);
void write_page(const predict::Validation& validation, std::ostream& out);
void write_page(const MachineReport& machine, std::ostream& out);
void write_page(const Sheet& sheet, std::ostream& out);

}  // namespace oplat::report
