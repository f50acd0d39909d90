// SPDX-License-Identifier: Apache-2.0
/// How far one model's times at different moments of a machine are apart (docs/adr/0090).
///
/// A shared host is another machine at each moment: a neighbour takes more or less of the last
/// level, and of the way to memory. What feels that is what a model keeps in the last level, for
/// its time: one that fits into the core's own cache takes the same at each moment, and one that
/// computes long on few bytes nearly so.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "estimate/reuse.hpp"

namespace oplat::predict {

/// A sum of kernels, as moments of a machine meet it.
struct Exposure {
  double reuse_bytes = 0;    ///< of the model: its weights and results, which a run touches
  double touched_bytes = 0;  ///< of the kernels of the sum, reuse_bytes at most
  double ns = 0;             ///< what they take
};

/// sqrt(bytes touched per ns) * (share of the way out of the last level that the footprint would
/// have gone in a quarter of it, less half of what it would have in four times as much): 0 for a
/// model far smaller than the last level, about half for one far larger. ns^-1/2 * bytes^1/2.
double moment_reach(const Exposure& exposure, const estimate::Ramp& last);

/// Standard deviations of the logarithm of one model's time over moments.
struct MomentSpread {
  double sd_log = 0;     ///< of a model that lives in its core's own cache; of all without a ramp
  double per_reach = 0;  ///< what comes to it, as a root of a sum of squares, for each reach
  /// The measured ramp out of the last level, which reach is of; none: reach does not count.
  std::optional<estimate::Ramp> last = std::nullopt;
  [[nodiscard]] double sd_log_of(const Exposure& exposure) const;
  friend bool operator==(const MomentSpread&, const MomentSpread&) = default;
};

/// What blocks of one model, each at another moment, were apart by.
struct ModelMoments {
  double sd_log = 0;        ///< finite
  std::int64_t blocks = 0;  ///< 3 or more: fewer say little
  Exposure exposure;
};

/// The spread that makes those of the models likeliest: sd^2 (blocks - 1) / variance follows a
/// chi-squared distribution, mixed so that few models that were disturbed do not decide. Where
/// `last` is none, or the models are few or alike in reach: one spread for all, the median of
/// theirs. 0 without models.
MomentSpread fit_moments(std::span<const ModelMoments> models,
                         const std::optional<estimate::Ramp>& last);

}  // namespace oplat::predict
