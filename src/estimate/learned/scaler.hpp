// SPDX-License-Identifier: Apache-2.0
/// Scaler: features that trees take as they are, made fit for distances.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "estimate/learned/booster.hpp"
#include "estimate/learned/smooth_kernel.hpp"

namespace oplat::estimate {

class Scaler {
 public:
  struct Column {
    std::uint32_t feature = 0;
    float least = 0;  ///< smaller values count as this: they stand for numbers without a logarithm
    float mean = 0;
    float scale = 1;
  };
  /// Columns are the features that vary, but for the slice; each gets mean 0 and deviation 1 over
  /// the rows.
  static Scaler learn(const Matrix& shapes);
  explicit Scaler(std::vector<Column> columns = {}) : columns_(std::move(columns)) {}

  [[nodiscard]] std::span<const Column> columns() const { return columns_; }
  /// columns().size() numbers; what is missing counts as the mean.
  void write(std::span<const float> shape, std::span<float> out) const;
  [[nodiscard]] Points points(const Matrix& shapes) const;

 private:
  std::vector<Column> columns_;
};

/// The slice among the features of a shape.
inline std::uint32_t slice_of(std::span<const float> shape) {
  return static_cast<std::uint32_t>(shape[0]);
}

}  // namespace oplat::estimate
