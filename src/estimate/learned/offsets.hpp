// SPDX-License-Identifier: Apache-2.0
/// Offsets: how far the rows of a slice lie off the reference, whatever their sizes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "estimate/learned/space.hpp"
#include "ir/description.hpp"

namespace oplat::estimate {

/// What a slice's rows have in common (a type without fast instructions, a form without a fast
/// path) is no function of sizes: a product of two signed bytes takes forty times as long as one of
/// an unsigned and a signed one on a processor that multiplies the latter alone. So what a family's
/// rows lie off the reference is told apart into what their sizes explain, linear in logarithms,
/// and a mean of each slice, drawn towards nought where it has few rows. The former is left to the
/// models.
class Offsets {
 public:
  /// `values`: of each point, ln(time / reference).
  static Offsets learn(std::span<const Point> points, std::span<const ir::Description> descriptions,
                       std::span<const double> values);

  /// Of a kernel's slice; 0 where that has no rows.
  [[nodiscard]] double at(const Point& point) const;

  void save(base::ByteWriter& writer) const;
  /// std::nullopt where a number is out of range; what is cut off shows in `reader`.
  static std::optional<Offsets> load(base::ByteReader& reader);

 private:
  std::map<std::uint32_t, double> slices_;
};

}  // namespace oplat::estimate
