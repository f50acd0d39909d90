// SPDX-License-Identifier: Apache-2.0
/// Chooses the rows to hold out, and turns their errors into intervals.
///
/// An interval is honest only if its trials resemble the questions. A question between measured
/// rows lacks only itself; a question at a new level lacks the whole level; one outside lacks
/// everything near it. So rows are held out in each of these patterns: at random in folds, whole
/// levels of an axis, pairs of levels, the largest fifth. The errors of each pattern calibrate its
/// own intervals, and few hold-outs must contain more than many (docs/adr/0031). Rows held out at
/// random still see all neighbours but themselves (docs/adr/0029).
#include "estimate/learned/calibration.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/random.hpp"
#include "base/stats.hpp"

namespace oplat::estimate {
namespace {

/// Rows at random are left out a fold at a time. The more are left out of a trial, the more it
/// errs, and questions come to all rows: so where rows abound a fold is small. Of the grid, where
/// most questions fall, a fourth of them is asked then, in several folds, so that the 90th
/// percentile of a band's errors is not due to chance; of twins a tenth; of a small table, up to
/// half.
constexpr std::uint64_t kMinFolds = 10;
constexpr std::uint64_t kCalibrationFolds = 40;
constexpr std::uint64_t kRowsOfAFold = 2000;
constexpr std::uint64_t kGridPartAsked = 4;
constexpr std::uint64_t kTwinPartAsked = 10;
constexpr std::uint64_t kMinTried = 2;
constexpr std::uint64_t kMaxTriedOfFew = 5;
constexpr std::uint64_t kRowsAsked = 1000;
/// More would say more, and take longer: each is a fit of its own.
constexpr std::size_t kLevelsTried = 4;
constexpr std::size_t kPairsTried = 4;
constexpr double kLargestCalibrationShare = 0.2;
/// Half the width of a 90 % interval in standard deviations.
constexpr double k90 = 1.6448536269514722;

/// Up to `most` levels that have others on both sides, evenly spread.
std::vector<double> inner_levels(const Lines& lines, std::size_t axis, std::size_t most) {
  std::vector<double> all;
  for (std::uint32_t slice = 0; !lines.sites().empty(); ++slice) {
    const auto own = lines.levels(slice, axis);
    if (own.size() == lines.max_levels(axis)) {
      all.assign(own.begin(), own.end());
      break;
    }
  }
  std::vector<double> chosen;
  if (all.size() < 3) return chosen;
  const std::size_t inner = all.size() - 2;
  const std::size_t count = std::min(most, inner);
  for (std::size_t i = 0; i < count; ++i)
    chosen.push_back(all[1 + (2 * i + 1) * inner / (2 * count)]);
  return chosen;
}

/// Folds of the rows at random, and how many of them are tried.
struct Folds {
  std::uint64_t count;
  std::uint64_t tried;
};

/// One in `part` of the folds is tried where rows abound, more where they are few.
Folds folds_of(std::uint64_t sites, std::uint64_t part) {
  const std::uint64_t count = std::clamp(sites / kRowsOfAFold, kMinFolds, kCalibrationFolds);
  const std::uint64_t few =
      std::min(kRowsAsked * count / std::max<std::uint64_t>(1, sites), kMaxTriedOfFew);
  return {count, std::max({kMinTried, count / part, few})};
}

HoldOut at_random(const Lines& lines, const std::vector<Pattern>& patterns,
                  std::optional<std::uint32_t> twin_axis, std::uint64_t fold, std::uint64_t folds,
                  std::uint64_t seed) {
  HoldOut held;
  for (const Pattern& pattern : patterns) {
    if (twin_axis ? pattern == Pattern{PatternKind::FlagUnseen, *twin_axis}
                  : pattern.kind == PatternKind::Grid)
      held.patterns.push_back(pattern);
  }
  for (std::size_t i = 0; i < lines.sites().size(); ++i) {
    Point point = lines.sites()[i];
    if (twin_axis) point.at[*twin_axis] = 0;
    if (base::mix_seed(seed, hash_of(point, lines.axes())) % folds == fold)
      held.rows.push_back(static_cast<std::uint32_t>(i));
  }
  held.asked = held.rows;
  return held;
}

HoldOut at_levels(const Lines& lines, std::vector<Pattern> patterns,
                  const std::vector<std::pair<std::size_t, double>>& levels) {
  HoldOut held;
  held.patterns = std::move(patterns);
  for (std::size_t i = 0; i < lines.sites().size(); ++i) {
    std::size_t hits = 0;
    for (const auto& [axis, level] : levels) hits += lines.sites()[i].at[axis] == level ? 1 : 0;
    if (hits > 0) held.rows.push_back(static_cast<std::uint32_t>(i));
    if (hits == levels.size()) held.asked.push_back(static_cast<std::uint32_t>(i));
  }
  return held;
}

/// The smallest score that a share of `level` lies at or below: rounded up, as a conformal
/// quantile.
float conformal_score(std::vector<float> values, double level) {
  const auto at = static_cast<std::size_t>(level * static_cast<double>(values.size()));
  const std::size_t last = values.size() - 1;
  return base::order_statistic(std::move(values), std::min(at, last));
}

}  // namespace

std::vector<HoldOut> hold_outs(const Lines& lines, const std::vector<Pattern>& patterns,
                               std::span<const double> work, std::uint64_t seed) {
  std::vector<HoldOut> all;
  std::vector<std::pair<std::size_t, double>> inner;
  const Folds of_grid = folds_of(lines.sites().size(), kGridPartAsked);
  const Folds of_twins = folds_of(lines.sites().size(), kTwinPartAsked);
  for (const Pattern& pattern : patterns) {
    switch (pattern.kind) {
      case PatternKind::Grid:
        for (std::uint64_t fold = 0; fold < of_grid.tried; ++fold)
          all.push_back(at_random(lines, patterns, std::nullopt, fold, of_grid.count, seed));
        break;
      case PatternKind::FlagUnseen:
        for (std::uint64_t fold = 0; fold < of_twins.tried; ++fold)
          all.push_back(at_random(lines, patterns, pattern.axis, fold, of_twins.count, seed + 1));
        break;
      case PatternKind::Level:
        for (const double level : inner_levels(lines, pattern.axis, kLevelsTried)) {
          inner.emplace_back(pattern.axis, level);
          all.push_back(at_levels(lines, {pattern, {PatternKind::Shape, 0}}, {inner.back()}));
        }
        break;
      case PatternKind::TwoAxes: {
        base::Random random(seed);
        for (std::size_t tries = 0, found = 0;
             tries < 50 && found < kPairsTried && inner.size() > 1; ++tries) {
          const auto& first = inner[random.below(inner.size())];
          const auto& second = inner[random.below(inner.size())];
          if (first.first >= second.first) continue;
          ++found;
          all.push_back(at_levels(lines, {pattern, {PatternKind::Shape, 0}}, {first, second}));
        }
        break;
      }
      case PatternKind::Extrapolated: {
        std::vector<double> sorted(work.begin(), work.end());
        std::sort(sorted.begin(), sorted.end());
        const double limit = sorted[static_cast<std::size_t>(
            (1 - kLargestCalibrationShare) * static_cast<double>(sorted.size() - 1))];
        HoldOut held;
        held.patterns = {pattern, {PatternKind::Shape, 0}};
        for (std::size_t i = 0; i < work.size(); ++i) {
          if (work[i] > limit) held.rows.push_back(static_cast<std::uint32_t>(i));
        }
        held.asked = held.rows;
        all.push_back(std::move(held));
        break;
      }
      case PatternKind::Shape:
      case PatternKind::Sparse:
        break;
    }
  }
  std::erase_if(all,
                [](const HoldOut& held) { return held.asked.empty() || held.patterns.empty(); });
  return all;
}

float ShapeShare::across(float other) const {
  return gap > 0 && other > 0 ? std::min(1.0F, share * other / gap) : share;
}

ShapeShare best_shape_share(std::span<const Trial* const> trials, float before) {
  std::set<std::size_t> hold_outs;
  double gaps = 0;
  double with_gap = 0;
  for (const Trial* trial : trials) {
    hold_outs.insert(trial->hold_out);
    if (std::isnan(trial->gap)) continue;
    gaps += static_cast<double>(trial->gap);
    with_gap += 1;
  }
  ShapeShare best;
  best.gap = with_gap > 0 ? static_cast<float>(gaps / with_gap) : 0;
  double least = 0;
  for (int tenths = 0; tenths <= 10; ++tenths) {
    const ShapeShare share{0.1F * static_cast<float>(tenths), best.gap};
    double sum = 0;
    for (const Trial* trial : trials) {
      sum += static_cast<double>(
          std::abs(trial->accurate.mixed(share.across(trial->gap)) - trial->truth));
    }
    if (tenths > 0 && sum >= least) continue;
    least = sum;
    best.share = share.share;
  }
  const auto count = static_cast<float>(hold_outs.size());
  best.share = (count * best.share + before) / (count + 1);
  return best;
}

float spread_factor(std::span<const float> errors, std::span<const float> scales, double share) {
  std::vector<float> scores;
  for (std::size_t i = 0; i < errors.size(); ++i) scores.push_back(std::abs(errors[i]) / scales[i]);
  return scores.empty()
             ? 0
             : std::min(kMaxSpreadFactor,
                        static_cast<float>(conformal_score(std::move(scores), share) / k90));
}

float worst_spread_factor(std::span<const float> errors, std::span<const float> scales,
                          std::span<const std::size_t> hold_outs, double share) {
  std::map<std::size_t, std::pair<std::vector<float>, std::vector<float>>> each;
  for (std::size_t i = 0; i < errors.size(); ++i) {
    each[hold_outs[i]].first.push_back(errors[i]);
    each[hold_outs[i]].second.push_back(scales[i]);
  }
  float worst = 0;
  for (const auto& [held, trials] : each)
    worst = std::max(worst, spread_factor(trials.first, trials.second, share));
  return worst;
}

}  // namespace oplat::estimate
