// SPDX-License-Identifier: Apache-2.0
/// SmoothKernel: how alike the times of two rows are expected to be, by how near they are; learned
/// from rows.
#pragma once

#include <Eigen/Dense>
#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace oplat::estimate {

/// Rows as points; what no distance tells apart is another slice.
struct Points {
  Eigen::MatrixXd at;  ///< a row each, columns of mean 0 and deviation 1
  std::vector<std::uint32_t> slices;
  /// Slices of a family are more alike than others. Empty: all are of one.
  std::vector<std::uint32_t> families;
  /// Rows of another setting, which are asked for nothing and tell about those of setting 0. Empty:
  /// all are of 0.
  std::vector<std::uint32_t> settings;
  /// Rows of one kernel are left out together. Empty: each row is of its own.
  std::vector<std::size_t> kernels;
  [[nodiscard]] bool is_of_setting(std::size_t row) const {
    return settings.empty() || settings[row] == 0;
  }
  [[nodiscard]] Eigen::Index size() const { return at.rows(); }
  /// Adds other rows of as many columns, with the same of families, settings and kernels stated.
  void append(const Points& rows);
  [[nodiscard]] Points chosen(std::span<const std::size_t> rows) const;
  /// Rows that lie next to each other.
  [[nodiscard]] Points part(Eigen::Index begin, Eigen::Index size) const;
};

/// Covariance of two rows: a sum of Matern kernels of order 3/2, sum over c of v_c (1 + sqrt(3)
/// r_c) exp(-sqrt(3) r_c) with r_c^2 = sum over columns of w_cd (x_d - x'_d)^2, times `across` if
/// they are of two slices, and times `apart` if those are of two families, and times
/// `between_settings` if they are of two settings. Two of them: one for what is common over long
/// distances, one for what is not.
struct SmoothKernel {
  struct Part {
    double variance = 1;
    Eigen::VectorXd weights;
  };
  static constexpr std::size_t kParts = 2;
  std::array<Part, kParts> parts;
  double across = 1;
  double apart = 1;
  double between_settings = 1;
  double noise = 0.01;  ///< variance of a row's own deviation

  /// Of a row with itself, without noise.
  [[nodiscard]] double variance() const { return parts[0].variance + parts[1].variance; }
  /// Covariances of rows of `a` with rows of `b`, without noise.
  [[nodiscard]] Eigen::MatrixXd between(const Points& a, const Points& b) const;
};

/// Minus the logarithm of the probability of the values `y` and of the kernel itself, which is
/// thought to be smooth unless rows say otherwise; less a constant. Parameters are logarithms (of
/// `across`, `apart` and `between_settings`, of their odds); `gradient` is by them.
double misfit(const Eigen::VectorXd& parameters, const Points& points, const Eigen::VectorXd& y,
              Eigen::VectorXd& gradient);
Eigen::VectorXd parameters_of(const SmoothKernel& kernel);
SmoothKernel kernel_of(const Eigen::VectorXd& parameters, Eigen::Index columns);

/// The likeliest kernel after so many steps. `y`: deviations from their mean. `go_on`: as descend()
/// asks it.
SmoothKernel learn_kernel(const Points& points, const Eigen::VectorXd& y, int steps,
                          const std::function<bool()>& go_on = {});

/// Inverse of L in K = L L^T, as a lower triangle.
Eigen::MatrixXd inverse_of_lower(const Eigen::MatrixXd& lower);

}  // namespace oplat::estimate
