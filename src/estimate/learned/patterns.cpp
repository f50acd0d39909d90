// SPDX-License-Identifier: Apache-2.0
/// Patterns and blindfolds.
#include "estimate/learned/patterns.hpp"

#include <algorithm>
#include <utility>

#include "base/stats.hpp"

namespace oplat::estimate {
namespace {

/// A twin whose copy errs by more than so many times what the median axis does, in the median as in
/// the root mean square, does not deserve a model of its own. Which of the two a twin keeps to
/// depends on the device: fused sums are cheap in most rows of the V100 in fp32 and dear in a few;
/// in fp16 they cost something in most and never much.
constexpr double kMaxTwinError = 1.5;

/// An untrusted fit may have levels without number; grids have some dozens.
constexpr std::size_t kMaxLevelsTried = 4096;

bool graded(const Lines& lines, std::size_t axis) { return lines.max_levels(axis) > 2; }

std::vector<std::pair<std::size_t, std::size_t>> pairs_of(const Lines& lines) {
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  for (std::size_t first = 0; first < lines.axes(); ++first) {
    for (std::size_t second = first + 1; second < lines.axes(); ++second) {
      if (graded(lines, first) && graded(lines, second)) pairs.emplace_back(first, second);
    }
  }
  return pairs;
}

bool holds(const std::vector<Pattern>& known, const Pattern& pattern) {
  return std::find(known.begin(), known.end(), pattern) != known.end();
}

}  // namespace

std::string_view name(PatternKind kind) {
  constexpr std::string_view kNames[] = {"grid",   "no twin", "level", "pair",
                                         "beyond", "shape",   "sparse"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::vector<Pattern> patterns_of(const Lines& lines, const NeighbourFeatures& features) {
  std::vector<double> typical;
  std::vector<double> squares;
  for (std::size_t axis = 0; axis < lines.axes(); ++axis) {
    if (!graded(lines, axis)) continue;
    typical.push_back(features.typical()[axis]);
    squares.push_back(features.errors()[axis]);
  }
  std::vector<Pattern> patterns;
  if (typical.size() >= 2) {
    const double max_typical = kMaxTwinError * base::upper_median(std::move(typical));
    const double max_square =
        kMaxTwinError * kMaxTwinError * base::upper_median(std::move(squares));
    patterns.push_back({PatternKind::Grid, 0});
    for (std::size_t axis = 0; axis < lines.axes(); ++axis) {
      const bool flag = lines.max_levels(axis) == 2;
      if (flag &&
          (features.typical()[axis] <= max_typical || features.errors()[axis] <= max_square)) {
        patterns.push_back({PatternKind::FlagUnseen, static_cast<std::uint32_t>(axis)});
      }
    }
    for (std::size_t axis = 0; axis < lines.axes(); ++axis) {
      if (graded(lines, axis))
        patterns.push_back({PatternKind::Level, static_cast<std::uint32_t>(axis)});
    }
    patterns.push_back({PatternKind::TwoAxes, 0});
    patterns.push_back({PatternKind::Extrapolated, 0});
  }
  patterns.push_back({PatternKind::Shape, 0});
  return patterns;
}

Pattern pattern_at(const Lines& lines, const Point& point, const Surroundings& around,
                   const std::vector<Pattern>& known) {
  std::size_t seen = 0;
  std::size_t enclosed = 0;
  std::size_t last = 0;
  bool twin = false;
  Pattern on_grid{PatternKind::Grid, 0};
  for (std::size_t axis = 0; axis < lines.axes(); ++axis) {
    const Neighbours& n = around[axis];
    if (!graded(lines, axis)) {
      const Pattern without{PatternKind::FlagUnseen, static_cast<std::uint32_t>(axis)};
      if (!holds(known, without)) continue;
      if (n.any()) {
        twin = true;
      } else {
        on_grid = without;
      }
      continue;
    }
    if (!n.any()) continue;
    ++seen;
    last = axis;
    if (n.both()) ++enclosed;
  }
  Pattern pattern;
  if (seen >= 2) {
    // At a corner of the grid no axis has levels on both sides; a measured twin there says more
    // than they would.
    pattern = enclosed > 0 || twin ? on_grid : Pattern{PatternKind::Extrapolated, 0};
  } else if (seen == 1) {
    pattern = {PatternKind::Level, static_cast<std::uint32_t>(last)};
  } else {
    for (const auto& [first, second] : pairs_of(lines)) {
      const auto levels = lines.levels(point.slice, first);
      for (const double level : levels.first(std::min(levels.size(), kMaxLevelsTried))) {
        Point moved = point;
        moved.at[first] = level;
        if (!lines.along(moved, second).any()) continue;
        pattern.kind = PatternKind::TwoAxes;
        break;
      }
      if (pattern.kind == PatternKind::TwoAxes) break;
    }
  }
  return holds(known, pattern) ? pattern : Pattern{PatternKind::Shape, 0};
}

Blindfold blindfold_of(const Pattern& pattern, const Lines& lines, std::size_t turn) {
  Blindfold blindfold;
  switch (pattern.kind) {
    case PatternKind::Grid:
      break;
    case PatternKind::FlagUnseen:
      blindfold.lines = 1U << pattern.axis;
      break;
    case PatternKind::Level:
      blindfold.levels = 1U << pattern.axis;
      break;
    case PatternKind::TwoAxes: {
      const auto pairs = pairs_of(lines);
      if (pairs.empty()) break;
      const auto& [first, second] = pairs[turn % pairs.size()];
      blindfold.levels = (1U << first) | (1U << second);
      break;
    }
    case PatternKind::Extrapolated:
      blindfold.beyond = true;
      for (std::size_t axis = 0; axis < lines.axes(); ++axis) {
        if (!graded(lines, axis)) blindfold.lines |= 1U << axis;
      }
      break;
    case PatternKind::Shape:
    case PatternKind::Sparse:
      blindfold.levels = ~0U;
      break;
  }
  return blindfold;
}

}  // namespace oplat::estimate
