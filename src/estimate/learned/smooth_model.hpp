// SPDX-License-Identifier: Apache-2.0
/// SmoothModel: Gaussian processes, one over all rows and one for each family with many.
///
/// The problem: what makes two convolutions alike says little of two sums. One process over rows of
/// all operators has one measure of distance for all, which is a compromise. A family of operators
/// (ir::family_of) with hundreds of rows can afford a measure of its own. Where that is better on
/// rows left out, its process answers for the family, alone or mixed with the common one, which
/// knows relatives.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "estimate/learned/gaussian.hpp"

namespace oplat::estimate {

class SmoothModel {
 public:
  struct Options {
    Gaussian::Options common;
    /// Rows with which a family gets a process of its own, and of which its kernel is learned.
    std::size_t min_rows_of_own = 50;
    std::size_t rows_of_own_kernel = 1200;
    /// As Gaussian::Options::max_exact; several are fitted at once, each in 24 bytes for the square
    /// of its rows.
    std::size_t max_exact_of_own = 3000;
    int threads = 2;
  };

  /// `common.go_on` is asked as often as all processes together take steps, one call at a time.
  /// What it stopped is of no use.
  static SmoothModel learn(const Points& points, std::span<const double> y, const Options& options);
  /// How many processes learn() would fit.
  static std::size_t processes(const Points& points, const Options& options);

  [[nodiscard]] std::size_t rows() const { return common_.rows(); }
  [[nodiscard]] std::size_t columns() const { return common_.columns(); }
  /// As Gaussian::answer().
  [[nodiscard]] Gaussian::Answer answer(std::span<const float> at, std::uint32_t slice,
                                        std::uint32_t family) const;
  /// As Gaussian::left_out(): of rows of setting 0.
  [[nodiscard]] std::span<const Gaussian::Answer> left_out() const { return left_out_; }
  /// Share of a family's own process in its answers, of those that have one.
  [[nodiscard]] std::map<std::uint32_t, float> shares() const;

  void save(base::ByteWriter& writer) const;
  static Result<SmoothModel> load(base::ByteReader& reader);

 private:
  struct Own {
    float share = 0;  ///< the common process has the rest
    Gaussian gaussian;
  };
  Gaussian common_;
  std::map<std::uint32_t, Own> own_;  ///< by family
  std::vector<Gaussian::Answer> left_out_;
};

}  // namespace oplat::estimate
