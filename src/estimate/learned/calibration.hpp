// SPDX-License-Identifier: Apache-2.0
/// Calibration: how wrong each pattern's answers are, learned from rows that were held out the way
/// its questions are.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "estimate/learned/patterns.hpp"

namespace oplat::estimate {

/// Rows to be left out together, so that they become questions of some patterns.
struct HoldOut {
  std::vector<std::uint32_t> rows;   ///< not learned from
  std::vector<std::uint32_t> asked;  ///< of those, the questions
  std::vector<Pattern> patterns;     ///< whose models are needed
};

/// The hold-outs of a space: rows at random and with their twins; inner levels of every axis, a few
/// each; levels of two axes at once; the largest fifth by work. Deterministic in the seed.
std::vector<HoldOut> hold_outs(const Lines& lines, const std::vector<Pattern>& patterns,
                               std::span<const double> work, std::uint64_t seed);

/// An answer and the truth, in logarithms.
struct Trial {
  Pattern pattern;
  std::size_t hold_out = 0;
  std::vector<float> features;  ///< that the spread may depend on
  /// Answers in a profile.
  struct Answers {
    float own = 0;    ///< of the pattern's model
    float shape = 0;  ///< of the model of shapes alone
    [[nodiscard]] float mixed(float shape_share) const { return own + shape_share * (shape - own); }
  };
  Answers accurate;
  Answers fast;
  float truth = 0;
  /// Distance between the two neighbours along the pattern's axis; NaN where there are not two.
  float gap = std::numeric_limits<float>::quiet_NaN();
};

/// How much of the shape model's answer is mixed into that of a pattern: the more, the wider the
/// gap that the pattern's interpolation spans.
struct ShapeShare {
  float share = 0;  ///< across a gap of the size `gap`
  float gap = 0;    ///< 0: the share is the same across all
  [[nodiscard]] float across(float other) const;
};

/// The share that errs least over the trials, by mean magnitude, in tenths; then a mean with
/// `before`, which weighs as much as one hold-out does: the few hold-outs of an axis are not a
/// sample of what will be asked.
ShapeShare best_shape_share(std::span<const Trial* const> trials, float before);

/// Of a fit; a larger one is damage. Where nearly all answers are exact and a few are not, scales
/// are next to nothing and the factor is large: 0.003 is the least scale, and an answer e^30 times
/// too long is none that counts.
inline constexpr float kMaxSpreadFactor = 1e4F;
inline bool is_spread_factor(float value) { return value >= 0 && value <= kMaxSpreadFactor; }

/// The factor f with which |error| <= 1.645 f scale holds for a share of the trials;
/// kMaxSpreadFactor at most.
float spread_factor(std::span<const float> errors, std::span<const float> scales,
                    double share = 0.9);
/// The largest factor of any of the hold-outs that the trials come from.
float worst_spread_factor(std::span<const float> errors, std::span<const float> scales,
                          std::span<const std::size_t> hold_outs, double share = 0.9);

}  // namespace oplat::estimate
