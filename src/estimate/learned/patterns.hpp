// SPDX-License-Identifier: Apache-2.0
/// Patterns: how much a question can lean on measured neighbours, and the blindfolds that teach a
/// model to do without.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "estimate/learned/neighbour_features.hpp"

namespace oplat::estimate {

enum class PatternKind : std::uint8_t {
  Grid,          ///< lines along most axes, levels on both sides or a twin measured
  FlagUnseen,    ///< the same, but nothing along one flag
  Level,         ///< one coordinate that was never measured: a line along its axis alone
  TwoAxes,       ///< two such coordinates: neither has a line, the levels around them have
  Extrapolated,  ///< between no two levels, and no twin measured
  Shape,         ///< no neighbour at all
  Sparse,        ///< among scattered rows, which a SparseModel is for
};
/// "grid", "no twin", "level", "pair", "beyond", "shape", "sparse".
std::string_view name(PatternKind kind);

struct Pattern {
  PatternKind kind = PatternKind::Shape;
  std::uint32_t axis = 0;  ///< of FlagUnseen and Level
  friend bool operator==(const Pattern&, const Pattern&) = default;
};

/// The patterns that rows of this space can be asked in, from near to far. A flag counts as a twin
/// where it tells about as much as the axes between whose levels one can interpolate, by the median
/// of its errors or by their mean square.
std::vector<Pattern> patterns_of(const Lines& lines, const NeighbourFeatures& features);

/// The pattern of a question.
Pattern pattern_at(const Lines& lines, const Point& point, const Surroundings& around,
                   const std::vector<Pattern>& known);

/// What a row must not see to be a question of the pattern; `turn` deals out the pairs of axes.
Blindfold blindfold_of(const Pattern& pattern, const Lines& lines, std::size_t turn);

}  // namespace oplat::estimate
