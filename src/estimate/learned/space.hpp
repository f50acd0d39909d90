// SPDX-License-Identifier: Apache-2.0
/// Space: which numbers of the keys vary in a table, and so where each key stands among the others.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "oplat/ir/description.hpp"

namespace oplat::estimate {

inline constexpr std::size_t kMostAxes = 12;

/// Coordinates are logarithms, so that what doubles a size is one step wherever it starts.
struct Point {
  std::uint32_t slice = 0;
  std::array<double, kMostAxes> at{};  ///< axes that the slice does not have stay 0
};

class Space {
 public:
  /// Axes of the catalogue's numbers are the same in all slices: those that vary in any. In other slices each number that
  /// varies and does not merely repeat another is one, up to kMostAxes.
  static Space learn(std::span<const ir::Description> rows);

  [[nodiscard]] std::size_t axes() const { return axes_; }
  [[nodiscard]] std::size_t slices() const { return slices_.size(); }
  /// Nothing where the slice was never seen.
  [[nodiscard]] std::optional<Point> place(const ir::Description& description) const;

  /// As text, one slice a line; for the fit record.
  [[nodiscard]] std::string save() const;
  static std::optional<Space> load(std::string_view text);

 private:
  struct Slice {
    std::uint32_t id = 0;
    std::size_t numbers = 0;
    std::vector<std::uint32_t> axes;  ///< which number stands on axis i
  };
  void add(const std::string& text, Slice slice);

  std::unordered_map<std::string, Slice> slices_;
  std::size_t axes_ = 0;
};

/// A coordinate: the logarithm of a positive number, else a value below all of those.
double coordinate(double number);

}  // namespace oplat::estimate
