// SPDX-License-Identifier: Apache-2.0
/// The text reports about predictions.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "report/report_model.hpp"

namespace oplat::report {

/// "compute 87 %": how much of the time the bound explains; "none 2 %" where no bound explains
/// more.
std::string bound_text(const predict::KernelDiagnosis& diagnosis);
/// How well the composition is known.
std::string composition_text(const predict::Composition& composition);
/// "measured: 99 us (97 to 101 us, 95 % CI of the median)".
std::string measured_text(const predict::MeasuredModel& measured);
/// What would narrow the interval, one line each; empty if nothing would.
std::vector<std::string> remedy_lines(const PredictionReport& report, const Options& options);

void print_prediction(const PredictionReport& report, const Options& options, std::ostream& out);
void print_validation(const predict::Validation& validation, const Options& options,
                      std::ostream& out);
void print_estimates(const EstimateListing& listing, const Options& options, std::ostream& out);

}  // namespace oplat::report
