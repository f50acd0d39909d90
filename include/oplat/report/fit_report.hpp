// SPDX-License-Identifier: Apache-2.0
/// What `oplat fit` did.
#pragma once

#include <cstdint>
#include <string>

#include "oplat/predict/fit.hpp"
#include "oplat/predict/validation.hpp"

namespace oplat::report {

struct FitReport {
  std::string table;
  table::Device device;
  table::Setting setting;
  double level = 0.9;
  double most_half_width = 0;
  predict::FitResult result;
  predict::ValidationSummary left_out;  ///< of the models that calibrate, each predicted from a fit without its group
  predict::ValidationSummary unfitted;  ///< of the same models without a fit
};

/// Summarises the models left out.
FitReport fit_report(predict::FitResult result);

}  // namespace oplat::report
