// SPDX-License-Identifier: Apache-2.0
/// Fitting the composition to whole models that were measured end to end (`oplat fit`).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/interval.hpp"
#include "base/result.hpp"
#include "predict/composition_fit.hpp"
#include "predict/row_selection.hpp"
#include "table/table.hpp"

namespace oplat::predict {

struct FitRequest {
  /// Model file name -> group. Models of one group (sizes and precisions of one family) are left
  /// out together, since they share kernels; a model without an entry is a group of its own.
  std::map<std::string, std::string> groups;
  double level = 0.9;  ///< of the intervals of the models left out
  /// Models whose own confidence interval is wider than this, relative, calibrate nothing: their
  /// error is not the sum's.
  double max_half_width = 0.03;
};

/// A measured model, predicted from a fit to the models of other groups.
struct LeftOutModel {
  std::string name;
  std::string group;
  table::Timing measured;
  double predicted_ns = 0;
  double sd_log = 0;
  base::Interval interval;  ///< calibrated on other groups alone
  double unfitted_ns = 0;   ///< what the table without a fit predicts
  bool calibrates = true;  ///< false: its own confidence interval is too wide, it only is predicted
};

struct FitResult {
  CompositionFit fit;
  std::vector<LeftOutModel> left_out;  ///< in order of name
  /// Models that cannot take part, with the reason: no plan in the table, kernels without a row.
  std::vector<std::pair<std::string, std::string>> excluded;
  /// models that calibrate and were measured while other programs kept the machine busy
  std::int64_t under_load = 0;
};

/// Least models of different groups that a fit needs.
inline constexpr std::size_t kMinFitGroups = 3;

/// Fits c0, c1, c2, scale, scale_int8 (composition_fit.hpp), the reuse curve, the correlation of
/// measured kernels and the spread of the composition to the table's whole models of the selection.
/// Deterministic. Code::Refused if fewer than kMinFitGroups groups can take part, naming how to
/// measure more.
///
/// c0, c1, c2 and the scales minimise the Huber loss of relative errors, with a weak pull to the
/// measured empty call, 0, 0 and 1 (scale_int8: to scale); the curve is the best of a grid around
/// the start values. Correlation and spread maximise the normal likelihood of the errors of models
/// left out one group at a time, and the scores behind the interval are of those.
Result<FitResult> fit_composition(const table::Table& table, const Selection& selection,
                                  const FitRequest& request);

}  // namespace oplat::predict
