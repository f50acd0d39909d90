// SPDX-License-Identifier: Apache-2.0
/// Predicted and measured side by side, for whole models.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/interval.hpp"
#include "predict/prediction.hpp"
#include "table/records.hpp"

namespace oplat::predict {

struct ValidatedModel {
  std::string name;
  std::optional<double> predicted_ns;  ///< std::nullopt if kernels are missing
  std::optional<base::Interval> interval;
  table::Timing measured;
  std::vector<std::string> missing;
  std::optional<table::InferenceTimes> inferences = std::nullopt;  ///< std::nullopt: not known

  /// predicted / measured - 1.
  [[nodiscard]] std::optional<double> signed_error() const;
  /// Whether the measured median lies inside the predicted interval.
  [[nodiscard]] std::optional<bool> inside() const;
};
ValidatedModel beside(const Prediction& prediction, const table::Timing& measured);

/// Over the models that have a prediction. Shares and errors as fractions of 1.
struct ValidationSummary {
  std::int64_t models = 0;
  std::int64_t predicted = 0;
  std::optional<double> mape;
  std::optional<double> bias;  ///< mean signed error
  std::optional<double> within_5_percent;
  std::optional<double> within_10_percent;
  std::optional<double> interval_coverage;
  /// Spearman; nothing below three models or where one side is constant
  std::optional<double> rank_correlation;
};

struct Validation {
  std::vector<ValidatedModel> models;
  double level = 0.9;
  table::Device device;
  table::Setting setting;
  std::vector<std::string> warnings;
};

ValidationSummary summarise(std::span<const ValidatedModel> models);
/// Spearman's rank correlation, ties sharing their mean rank.
std::optional<double> rank_correlation(std::span<const double> a, std::span<const double> b);

}  // namespace oplat::predict
