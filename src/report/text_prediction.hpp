// SPDX-License-Identifier: Apache-2.0
/// The text reports about predictions.
#pragma once

#include <iosfwd>

#include "report/report_model.hpp"

namespace oplat::report {

void print_prediction(const PredictionReport& report, const Options& options, std::ostream& out);
void print_validation(const predict::Validation& validation, const Options& options,
                      std::ostream& out);
void print_estimates(const EstimateListing& listing, const Options& options, std::ostream& out);

}  // namespace oplat::report
