// SPDX-License-Identifier: Apache-2.0
/// SparseModel: estimates from few or scattered rows.
///
/// The problem: without neighbours along the axes there is nothing to interpolate between, and a
/// few hundred rows are too few for trees of many features. So all strata are learned together, in
/// three ways: Gaussian processes over the shape (smooth_model.hpp), which are smooth and state
/// their uncertainty; boosted trees, which find steps; and trees that correct the process. Their
/// answers are mixed with weights that were best on rows left out. As in grid models, times are
/// relative to the fitted reference of docs/adr/0030, since the change of docs/adr/0031.
///
/// Rows of other numbers of threads (LearnRequest::related) are points of the processes, too: what
/// they lie off their own reference is much the same. The trees see none of them but by what the
/// processes say (docs/adr/0071).
///
/// docs/adr/0008 says why trees and process are our own code, and 0031 what else was tried.
///
/// Example: from 1 % of the rows of a library of convolutions, chosen by the sampler (sampler.hpp),
/// this model predicts the other 99 %.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "estimate/learned.hpp"
#include "estimate/learned/forest.hpp"
#include "estimate/learned/grid_model.hpp"
#include "estimate/learned/loop_features.hpp"
#include "estimate/learned/machine.hpp"
#include "estimate/learned/reference.hpp"
#include "estimate/learned/scaler.hpp"
#include "estimate/learned/shape_features.hpp"
#include "estimate/learned/sites.hpp"
#include "estimate/learned/smooth_model.hpp"
#include "estimate/learned/space.hpp"
#include "estimate/learned/steps.hpp"
#include "estimate/row_spread.hpp"

namespace oplat::estimate {

class SparseModel {
 public:
  /// One time for each row; rows of one point are averaged. Code::Refused for too few rows. All
  /// slices are learned together, so that each may be small.
  static Result<SparseModel> fit(std::span<const ir::Description> rows,
                                 std::span<const double> log_ns, const LearnRequest& options);

  /// Nothing for a slice that has no rows. Fast: by the trees alone.
  [[nodiscard]] std::optional<LearnedAnswer> answer(const ir::Description& description,
                                                    Profile profile) const;
  /// docs/reference/fit-format.md.
  [[nodiscard]] std::string save() const;
  /// Code::Refused if a newer oplat made the bytes, Code::Input if they are damaged.
  static Result<SparseModel> load(std::string_view bytes);
  /// Of such bytes; a checksum is all that is looked at of most of them.
  static Result<FitAge> age_of(std::string_view bytes);

  [[nodiscard]] const Machine& machine() const { return machine_; }
  [[nodiscard]] const Space& space() const { return space_; }
  [[nodiscard]] std::size_t sites() const { return sites_; }
  /// Points of other numbers of threads that were learned from.
  [[nodiscard]] std::size_t related() const { return related_; }
  [[nodiscard]] static bool calibrated() { return true; }
  /// Once fitted: every row, left out in its turn.
  [[nodiscard]] std::span<const LeftOutRow> left_out() const { return left_out_; }
  /// The members and their shares in an answer.
  enum Member : std::size_t { kSmooth, kTrees, kCorrected, kMembers };
  [[nodiscard]] const std::array<float, kMembers>& shares() const { return shares_; }

 private:
  using Values = std::array<float, kMembers>;
  /// Features of a kernel: those of its shape and of its loops.
  static constexpr std::size_t kKernelFeatures = kShapeFeatures + kLoopFeatures;
  /// Features of the correction: a kernel's, the process's mean and its deviation.
  static constexpr std::size_t kCorrectionFeatures = kKernelFeatures + 2;
  /// Features of the spread: deviation, differences between members, what takes the time.
  static constexpr std::size_t kSpreadFeatures = 6;
  struct Rows;
  struct LeftOut;
  static Rows prepare(std::span<const ir::Description> rows, std::span<const double> log_ns,
                      const RelatedRows& related, SparseModel& model);
  static void add_related(const Sites& own, const Sites& others, const SparseModel& model,
                          Rows& out);
  Status fit_trees(const Rows& rows, LeftOut& left_out, const LearnRequest& options, Steps& steps);
  Status fit_spread(const Rows& rows, const LeftOut& left_out, const LearnRequest& options);
  [[nodiscard]] float mixed(const Values& values) const;
  /// Returns ln of the reference in ns.
  double put_features(const ir::Description& description, const Point& point,
                      std::span<float> out) const;
  static void put_correction(std::span<const float> shape, const Gaussian::Answer& smooth,
                             std::span<float> out);
  static std::array<float, kSpreadFeatures> spread_features(std::span<const float> shape, double sd,
                                                            const Values& values);

  Machine machine_;
  Reference reference_;
  Space space_;
  Scaler scaler_;
  std::size_t sites_ = 0;    ///< points of the setting itself
  std::size_t related_ = 0;  ///< further ones
  SmoothModel smooth_;
  Forest trees_;
  Forest correction_;  ///< of the process's mean
  std::array<float, kMembers> shares_{1, 0, 0};
  Forest spread_;               ///< of ln |error|
  float spread_factor_ = 0.3F;  ///< sd_log = factor * exp(spread)
  float quick_spread_ = 0.3F;   ///< sd_log of the trees alone
  float skew_ = 0;              ///< of times about their medians (docs/adr/0086)
  std::vector<LeftOutRow> left_out_;
};

}  // namespace oplat::estimate
