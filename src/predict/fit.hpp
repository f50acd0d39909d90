// SPDX-License-Identifier: Apache-2.0
/// Fitting the composition to whole models that were measured end to end (`oplat fit`).
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
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
  /// out together, since they share kernels. A model without an entry is a group of its own, with
  /// those that are the same in other shapes: of its file name, with weights of as many bytes to
  /// 1 %. Others of that name, in other folders, are groups of theirs.
  std::map<std::string, std::string> groups;
  double level = 0.9;  ///< of the intervals of the models left out
  /// Models whose own confidence interval is wider than this, relative, calibrate nothing. All
  /// others weigh by how well they are known.
  double max_half_width = std::numeric_limits<double>::infinity();
};

/// A measured model, predicted from a fit to models of other groups.
struct LeftOutModel {
  std::string name;
  std::string group;
  table::Timing measured;
  double predicted_ns = 0;
  double sd_log = 0;
  double moment_sd_log = 0;  ///< in it: how far apart moments of the machine are for this model
  base::Interval interval;   ///< calibrated on other groups alone
  double unfitted_ns = 0;    ///< what the table without a fit predicts
  /// false: of a single block, or wider than the request accepts: it only is predicted
  bool calibrates = true;
};

struct FitResult {
  CompositionFit fit;
  std::vector<LeftOutModel> left_out;  ///< in order of name
  /// Models that cannot take part, with the reason: no plan in the table, kernels without a row.
  std::vector<std::pair<std::string, std::string>> excluded;
  /// As LeaveOneOut::silent_on_inputs().
  std::vector<std::string> silent_on_inputs;
  /// models that calibrate and were measured while other programs kept the machine busy
  std::int64_t under_load = 0;
};

/// Fits c0, c1, c2, scale, scale_int8 (composition_fit.hpp), the reuse curve, the correlation of
/// measured kernels and the spread of the composition to the table's whole models of the selection.
/// Deterministic. Code::Refused if no model can take part, naming how to measure some.
///
/// An update of prior_of(): c0, c1, c2, the scales and the curve are the most probable ones, and
/// what the models leave unsure of them is in the covariance and in the curve's earliest and latest
/// ramp. Correlation and spread are the most probable ones by the errors of models left out one
/// group at a time (from 33 groups on, several together), and the scores behind the interval are of
/// those.
Result<FitResult> fit_composition(const table::Table& table, const Selection& selection,
                                  const FitRequest& request);

/// The groups that the table's fit of the selection was made with, also of a fit that newer rows
/// have overtaken; none without a fit, or with a damaged one.
Result<std::map<std::string, std::string>> kept_groups(const table::Table& table,
                                                       const Selection& selection);

/// Fits to all whole models of a table but one, for predictions that did not see it.
class LeaveOneOut {
 public:
  /// Reads the models of the table once, which must outlive it.
  static Result<LeaveOneOut> prepare(const table::Table& table, Selection selection,
                                     FitRequest request);
  LeaveOneOut(LeaveOneOut&&) noexcept;
  LeaveOneOut& operator=(LeaveOneOut&&) noexcept;
  ~LeaveOneOut();
  /// Whether a model of this plan is among those that fits may use.
  [[nodiscard]] bool holds(const std::string& plan_identity) const;
  /// As FitResult::fit, from all models but the one of this plan and its group (an unknown plan:
  /// all of them); std::nullopt if there is no other.
  [[nodiscard]] std::optional<CompositionFit> without(const std::string& plan_identity) const;
  /// Models that fits use and whose plans do not say what is read of their inputs, as those of an
  /// earlier oplat, each once, in order: no inputs are counted then. Empty where plans of the
  /// runtime never say it.
  [[nodiscard]] const std::vector<std::string>& silent_on_inputs() const;
  /// The same without any relative of a model that need not be among them: its group by the
  /// request's names, and what has its file name and, to 1 %, its bytes of weights.
  [[nodiscard]] std::optional<CompositionFit> without_relatives(const table::Plan& plan) const;

 private:
  struct Impl;
  explicit LeaveOneOut(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace oplat::predict
