// SPDX-License-Identifier: Apache-2.0
/// What `oplat fit` did.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "predict/fit.hpp"
#include "predict/validation.hpp"

namespace oplat::report {

/// How kernels add up.
struct CompositionReport {
  predict::FitResult result;
  predict::ValidationSummary
      left_out;  ///< of the models that calibrate, each predicted from a fit without its group
  predict::ValidationSummary unfitted;  ///< of the same models without a fit
};

/// What the kernels' own rows taught.
struct LearnedReport {
  std::int64_t rows = 0;
  double seconds = 0;
  std::int64_t bytes = 0;
  std::uint64_t seed = 0;
  bool calibrated = false;
  /// rows that were measured while other programs kept the machine busy
  std::int64_t under_load = 0;
};

struct FitReport {
  std::string table;
  table::Device device;
  table::Setting setting;
  double level = 0.9;
  double max_half_width = 0;
  bool stored = false;
  std::optional<CompositionReport> composition;
  std::string no_composition;  ///< why there is none; empty where it was not asked for
  std::optional<LearnedReport> learned;
  std::string no_learned;
};

/// Summarises the models left out.
CompositionReport composition_report(predict::FitResult result);

}  // namespace oplat::report
