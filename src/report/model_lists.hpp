// SPDX-License-Identifier: Apache-2.0
/// Several models asked at once: each has its answer or its error.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "predict/diagnosis.hpp"
#include "predict/prediction.hpp"
#include "report/lists.hpp"

namespace oplat::report {

/// `oplat predict MODEL`.
struct PredictionReport {
  predict::Prediction prediction;
  predict::Diagnosis diagnosis;  ///< of this very prediction
};

/// `oplat predict MODEL...`.
struct PredictionList {
  struct Entry {
    std::string model;                          ///< path as given
    std::optional<PredictionReport> report;     ///< also of one with missing kernels
    std::optional<Error> error = std::nullopt;  ///< why there is no latency, or that it is too high
  };
  std::vector<Entry> models;
};

/// `oplat plan MODEL...`.
struct PlanList {
  struct Entry {
    std::string model;              ///< path as given
    std::optional<RulesPlan> plan;  ///< without words where a runtime planned
    std::optional<Error> error = std::nullopt;
  };
  std::vector<Entry> models;
};

/// "usage", "input", "missing", "runtime", "refused", "gate_not_met", "write", "interrupted",
/// "internal": what documents call an error.
std::string_view code_name(Code code);

}  // namespace oplat::report
