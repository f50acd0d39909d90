// SPDX-License-Identifier: Apache-2.0
/// GridModel: interpolation between measured neighbours, corrected by boosted trees.
///
/// The problem: the rows of a library lie on a grid (channels, height, batch, flags), and a
/// question may lie between two levels of an axis, at a level that was never measured, or outside
/// all rows. Trees alone ignore that times are smooth, and outside the rows they stay at the last
/// value that they saw. Interpolation alone misses steps, such as an algorithm that the device
/// switches to.
///
/// So both are combined. Times are divided by a reference time of overlapping parts, fitted
/// to the rows, which carries an answer beyond them (reference.hpp). Neighbours along each axis
/// give interpolations (neighbour_features.hpp), and the trees learn what those leave from them and
/// the shape. Each pattern in which a question can relate to the rows (patterns.hpp) has its own
/// model, trained on rows that see only such neighbours, and its own calibrated spread
/// (calibration.hpp).
///
/// Tried: a roofline as the reference (docs/adr/0030), another rule for corners and other weights
/// of rows (0028), other hold-outs (0029, 0031), XGBoost in place of our trees (0008).
///
/// Example: for 96 channels with rows at 64 and 128, the interpolation is that between their two
/// relative times; the trees add what such interpolations were off by elsewhere.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "estimate/learned.hpp"
#include "estimate/learned/booster.hpp"
#include "estimate/learned/calibration.hpp"
#include "estimate/learned/forest.hpp"
#include "estimate/learned/machine.hpp"
#include "estimate/learned/patterns.hpp"
#include "estimate/learned/reference.hpp"
#include "estimate/learned/shape_features.hpp"
#include "estimate/learned/sites.hpp"
#include "estimate/learned/steps.hpp"
#include "estimate/row_spread.hpp"

namespace oplat::estimate {

struct LearnedAnswer {
  /// ln of the time: of a sparse model of its mean, since models are sums (docs/adr/0086), of a
  /// grid of its median.
  double log_ns = 0;
  double sd_log = 0;
  Pattern pattern;
  double outside = 0;              ///< Point::outside
  bool strange = false;            ///< Point::strange, as far as the model does not say Shape of it
  std::optional<double> floor_ns;  ///< beyond the rows: Machine::floor_ns()
};

class GridModel {
 public:
  /// One time for each row; rows of one point are averaged. Code::Refused for too few rows.
  static Result<GridModel> fit(std::span<const ir::Description> rows,
                               std::span<const double> log_ns, const LearnRequest& options);

  /// Nothing for a slice that has no rows.
  [[nodiscard]] std::optional<LearnedAnswer> answer(const ir::Description& description,
                                                    Profile profile) const;
  /// docs/reference/fit-format.md.
  [[nodiscard]] std::string save() const;
  /// Code::Refused if a newer oplat made the bytes, Code::Input if they are damaged.
  static Result<GridModel> load(std::string_view bytes);
  /// Of such bytes; a checksum is all that is looked at of most of them.
  static Result<FitAge> age_of(std::string_view bytes);

  [[nodiscard]] const Machine& machine() const { return machine_; }
  [[nodiscard]] const Space& space() const { return space_; }
  [[nodiscard]] std::size_t sites() const { return lines_->sites().size(); }
  /// Whether any spread was learned from rows left out: too few rows teach none.
  [[nodiscard]] bool calibrated() const;
  /// Once fitted with calibration: rows that were left out at random among measured neighbours.
  [[nodiscard]] std::span<const LeftOutRow> left_out() const { return left_out_; }
  [[nodiscard]] std::size_t features() const {
    return kShapeFeatures + neighbours_->layout().count();
  }

 private:
  struct PatternModel {
    Pattern pattern;
    Forest forest;
    Forest quick;  ///< for Profile::Fast
    ShapeShare shape_share;
    Forest spread;  ///< of ln(error)
    /// sd_log = factor * exp(spread), of the accurate answers; and of the fast ones.
    float spread_factor = 0.1F;
    float quick_spread_factor = 0.1F;
  };

  /// ln of the time in ns that what is learned is relative to: the reference, or in fits of before
  /// there was one the machine's bound.
  [[nodiscard]] double log_reference(const ir::Description& description) const;
  /// Everything but the models; space, machine and reference are those of `like`, unless it is
  /// nullptr. The sites come without their points, which the lines keep.
  static GridModel prepare(std::span<const ir::Description> rows, std::span<const double> log_ns,
                           const GridModel* like, Sites& sites, Matrix& shapes);
  /// Fits models of the patterns, which are independent of each other.
  Status fit_patterns(std::span<const Pattern> patterns, const Matrix& shapes,
                      const LearnRequest& options, Steps& steps);
  /// std::nullopt if too few rows can be asked in the pattern.
  Result<std::optional<PatternModel>> learn_pattern(const Pattern& pattern, const Matrix& shapes,
                                                    const LearnRequest& options,
                                                    Steps& steps) const;
  /// Those of the patterns that the questions are asked in, and Shape; all of them where no
  /// questions are known.
  [[nodiscard]] std::vector<Pattern> needed(std::span<const ir::Description> questions) const;
  Status calibrate(const Sites& sites, const std::vector<HoldOut>& hold_outs,
                   const LearnRequest& options, Steps& steps);
  /// How a model without the rows held out answers them.
  Result<std::vector<Trial>> try_out(const Sites& sites, const HoldOut& held, std::size_t number,
                                     const LearnRequest& options, Steps& steps) const;
  /// What the spread of a pattern's answers may depend on: all features and ln(predicted ns) where
  /// neighbours abound, else a few that do not tell levels apart.
  [[nodiscard]] std::vector<float> spread_features(const PatternModel& model,
                                                   std::span<const float> row,
                                                   const Trial::Answers& answers) const;
  /// How many numbers spread_features() has in the pattern.
  [[nodiscard]] std::size_t spread_columns(const Pattern& pattern) const;
  Status fit_spread(const Pattern& pattern, std::vector<const Trial*> trials,
                    const LearnRequest& options);
  void write(const ir::Description& description, double log_reference, const Point& point,
             const Surroundings& around, std::span<float> out) const;
  [[nodiscard]] const PatternModel* model_of(const Pattern& pattern) const;
  /// Trial::gap of a row of features.
  [[nodiscard]] float gap_of(const Pattern& pattern, std::span<const float> row) const;
  /// Of a model and the shape model, nullptr if there is none or it does not count.
  [[nodiscard]] Trial::Answers answers_of(const PatternModel& model, const PatternModel* shape,
                                          std::span<const float> features, Profile profile) const;
  [[nodiscard]] float residual_of(const PatternModel& model, std::span<const float> features,
                                  Profile profile) const;

  Machine machine_;
  Reference reference_;
  Space space_;
  std::unique_ptr<Lines> lines_;
  std::unique_ptr<NeighbourFeatures> neighbours_;
  std::vector<Pattern> patterns_;  ///< once fitted: those of the models
  std::vector<PatternModel> models_;
  std::vector<LeftOutRow> left_out_;
};

}  // namespace oplat::estimate
