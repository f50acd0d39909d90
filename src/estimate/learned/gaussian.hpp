// SPDX-License-Identifier: Apache-2.0
/// Gaussian: a Gaussian process over the features of kernels.
///
/// The problem: with few rows, an estimate needs a statement of how uncertain it is, and it should
/// follow smooth trends rather than steps. A Gaussian process has both: its mean weighs rows by
/// their similarity, and its variance grows with the distance to them. What counts as similar is a
/// kernel (smooth_kernel.hpp), whose parameters are found by maximum likelihood on a sample of the
/// rows. Exact answers cost the square of the number of rows, so that above `max_exact` rows only
/// the nearest count.
///
/// docs/adr/0008 says why Eigen does the linear algebra.
#pragma once

#include <Eigen/Dense>
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "estimate/learned/smooth_kernel.hpp"

namespace oplat::estimate {

class Gaussian {
 public:
  static constexpr std::uint32_t kNoSlice = 0xFFFFFFFF;

  struct Options {
    std::uint64_t seed = 1;
    int steps = 40;  ///< of the search for the kernel
    /// Rows that the kernel is learned from, chosen at random.
    std::size_t rows_of_kernel = 900;
    /// Up to so many rows an answer weighs all of them, above only the nearest.
    std::size_t max_exact = 6000;
    bool leave_out = true;  ///< whether left_out() is wanted
    int threads = 1;        ///< for left_out()
    /// Asked before each step of the search; false ends it, and what comes of it is of no use.
    std::function<bool()> go_on = {};
  };
  struct Answer {
    double mean = 0;
    /// Deviation, a new row's own noise included. Of the nearest rows alone even where the mean
    /// weighs all: that takes microseconds, and little less is known.
    double sd = 0;
  };

  /// Learns the kernel, then fit() with it.
  static Gaussian learn(const Points& points, std::span<const double> y, const Options& options);
  static Gaussian fit(const Points& points, std::span<const double> y, SmoothKernel kernel,
                      const Options& options);

  [[nodiscard]] std::size_t rows() const { return slices_.size(); }
  [[nodiscard]] std::size_t columns() const {
    return static_cast<std::size_t>(kernel_.parts[0].weights.size());
  }
  [[nodiscard]] const SmoothKernel& kernel() const { return kernel_; }
  [[nodiscard]] bool exact() const { return exact_; }

  /// In setting 0. Of a slice and its family; of no slice (kNoSlice) for a kernel of a slice
  /// without rows.
  [[nodiscard]] Answer answer(std::span<const float> at, std::uint32_t slice,
                              std::uint32_t family) const;
  /// What answer() would say of each row of setting 0 if neither that row nor another of its kernel
  /// (Points::kernels) were there, the process being the same; nothing of use for rows of other
  /// settings.
  /// Only after a fit that was asked for it.
  [[nodiscard]] std::span<const Answer> left_out() const { return left_out_; }
  /// The means of many answers.
  [[nodiscard]] std::vector<double> means(const Points& points, int threads = 1) const;

  void save(base::ByteWriter& writer) const;
  static Result<Gaussian> load(base::ByteReader& reader);

 private:
  /// Values of the rows from their deviations; the means of left_out(), too, where `leave_out`.
  void fit_exact(const Points& points, const Eigen::VectorXd& deviations, bool leave_out);
  /// Deviations of all rows left out, and where not exact() their means.
  void leave_out(int threads);
  /// Of a place in setting 0 with all rows.
  [[nodiscard]] Eigen::VectorXf covariances(std::span<const float> at, std::uint32_t slice,
                                            std::uint32_t family) const;
  [[nodiscard]] std::uint32_t setting(std::size_t row) const {
    return settings_.empty() ? 0 : settings_[row];
  }
  [[nodiscard]] std::uint32_t family(std::size_t row) const {
    return families_.empty() ? 0 : families_[row];
  }
  /// Means of the rows without those of their kernel. `inverse_lower`: of the rows' covariances.
  void leave_out_exactly(const Eigen::MatrixXd& inverse_lower, const Eigen::VectorXd& deviations);
  /// Whether two rows are of one kernel.
  [[nodiscard]] bool is_one_kernel(std::size_t row, std::size_t other) const {
    return row == other || (!kernels_.empty() && kernels_[row] == kernels_[other]);
  }
  /// From the rows that are nearest by covariance, without those of the kernel of row `but`. Where
  /// exact() the mean is none.
  [[nodiscard]] Answer from_nearest(const Eigen::VectorXf& covariances, std::size_t nearest,
                                    std::optional<std::size_t> but) const;
  [[nodiscard]] std::size_t nearest() const;

  SmoothKernel kernel_;
  bool exact_ = true;
  double mean_ = 0;
  std::vector<std::uint32_t> slices_;
  std::vector<std::uint32_t> families_;  ///< empty: all are of one
  std::vector<std::uint32_t> settings_;  ///< empty: all are of 0
  std::vector<std::size_t> kernels_;     ///< empty: all are of their own, or nothing is left out
  Eigen::MatrixXf at_;                   ///< the rows
  Eigen::VectorXd
      values_;  ///< exact: what a covariance is multiplied by; else deviations from the mean
  std::vector<Answer> left_out_;
};

}  // namespace oplat::estimate
