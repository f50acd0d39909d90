// SPDX-License-Identifier: Apache-2.0
/// Spread: how far off a pattern's answers are, by what is known of a question.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "estimate/learned/forest.hpp"

namespace oplat::estimate {

/// An answer whose truth is known.
struct Judged {
  std::span<const float> features;  ///< that the spread may depend on, the same number for each
  float error = 0;                  ///< of the accurate answer, as a logarithm
  float quick_error = 0;            ///< of the fast one
  std::size_t hold_out = 0;         ///< answers of one hold-out err together
};

struct SpreadOptions {
  int trees = 40;
  std::size_t max_leaves = 8;
  double feature_fraction = 0.25;  ///< of each tree
  /// A feature by whose bands coverage is evened out; such answers are taken as alike, whichever
  /// hold-out they are of. Without it answers of one hold-out err together: whole levels differ
  /// from each other as random folds do not, and so will the next.
  std::optional<std::uint32_t> banded;
  std::uint64_t seed = 1;
};

/// sd_log = factor * exp(forest), with which |error| <= 1.645 sd_log holds for 90 % of the answers.
struct Spread {
  Forest forest;  ///< of ln(error)
  float factor = 0;
  float quick_factor = 0;
};

/// Learned from the sizes of the errors; the factors by split conformal prediction, crosswise: each
/// answer is judged by trees that were not shown it (V. Vovk, "Cross-conformal predictors", Annals
/// of Mathematics and AI 74, 2015), nor, where there are three hold-outs or more, any other of its
/// hold-out. docs/adr/0031 says what fewer hold-outs come to.
Result<Spread> learn_spread(std::span<const Judged> answers, const SpreadOptions& options);

}  // namespace oplat::estimate
