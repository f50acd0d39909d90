// SPDX-License-Identifier: Apache-2.0
/// Interpolations along lines.
#include "estimate/learned/neighbour_features.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "base/stats.hpp"

namespace oplat::estimate {
namespace {

constexpr float kNone = std::numeric_limits<float>::quiet_NaN();
/// Corrected estimates are tried at so many sites, evenly spread: enough for a median, and a fit is
/// read in a moment.
constexpr std::size_t kSitesTried = 10'000;
constexpr double kMinCorrectedError = 5e-3;
/// Residuals beyond this say that the neighbour is of another kind, not how rough the axis is.
constexpr double kMaxResidual = 1.0;
constexpr double kMinError = 1e-2;

double square(double value) { return value * value; }

/// What the blindfold leaves of the neighbours along an axis.
Neighbours visible(const Neighbours& all, std::size_t axis, const Blindfold& blindfold) {
  const std::uint32_t bit = 1U << axis;
  if ((blindfold.levels & ~bit) != 0 || (blindfold.lines & bit) != 0) return {};
  Neighbours n = all;
  if (blindfold.beyond) n.high = n.high2 = {};
  return n;
}

/// Linear in the coordinate between the two neighbours; a copy where there is one, std::nullopt if
/// there is none.
template <class Value>
float between(const Neighbours& n, double at, Value value) {
  if (!n.any()) return kNone;
  if (!n.both()) return value(n.low ? n.low.site : n.high.site);
  const double share = (at - n.low.at) / (n.high.at - n.low.at);
  return static_cast<float>((1 - share) * value(n.low.site) + share * value(n.high.site));
}

}  // namespace

NeighbourFeatures::NeighbourFeatures(const Lines& lines, const SiteValues& values)
    : lines_(lines),
      cache_lines_(),
      per_record_((kResidual + lines.axes() + std::size(CacheLine{}.numbers) - 1) /
                  std::size(CacheLine{}.numbers)) {
  const std::size_t axes = lines_.axes();
  const auto sites = lines_.sites();
  cache_lines_.resize(sites.size() * per_record_);
  const auto own = [&](std::size_t site) { return cache_lines_[site * per_record_].numbers; };
  for (std::size_t i = 0; i < sites.size(); ++i) {
    own(i)[0] = values.u[i];
    std::copy_n(&values.waves[i * kTileCount], kTileCount, own(i) + kWaves);
    std::fill_n(own(i) + kResidual, axes, kNone);
  }
  std::vector<std::vector<float>> sizes(axes);
  for (std::size_t i = 0; i < sites.size(); ++i) {
    const Surroundings around = lines_.around(sites[i]);
    for (std::size_t axis = 0; axis < axes; ++axis) {
      const Neighbours& n = around[axis];
      if (!n.any()) continue;
      const float residual = values.u[i] - interpolated(n, sites[i].at[axis]);
      own(i)[kResidual + axis] = residual;
      if (surrounded(n, axis)) sizes[axis].push_back(std::abs(residual));
    }
  }
  for (std::vector<float>& each : sizes) {
    double sum = 0;
    for (const float size : each) sum += square(std::min<double>(size, kMaxResidual));
    errors_.push_back(each.empty() ? 1
                                   : sum / static_cast<double>(each.size()) + square(kMinError));
    typical_.push_back(each.empty() ? 1 : base::upper_median(std::move(each)));
  }
  learn_corrected_errors();
}

void NeighbourFeatures::learn_corrected_errors() {
  const auto sites = lines_.sites();
  const std::size_t step = (sites.size() + kSitesTried - 1) / kSitesTried;
  const std::size_t axes = lines_.axes();
  std::vector<std::vector<float>> sizes(axes);
  std::vector<float> errors(axes);
  for (std::size_t i = 0; i < sites.size(); i += step) {
    const Surroundings around = lines_.around(sites[i]);
    for (std::size_t axis = 0; axis < axes; ++axis) {
      if (!around[axis].any() || !surrounded(around[axis], axis)) continue;
      for (std::size_t along = 0; along < axes; ++along) {
        errors[along] = along != axis && around[along].any()
                            ? crossed(sites[i], around[along], axis, along)
                            : kNone;
      }
      const float residual =
          u(static_cast<Site>(i)) -
          corrected(interpolated(around[axis], sites[i].at[axis]), around, errors);
      if (!std::isnan(residual)) sizes[axis].push_back(std::abs(residual));
    }
  }
  for (std::vector<float>& each : sizes)
    corrected_errors_.push_back(each.empty() ? 1
                                             : square(base::upper_median(std::move(each))) +
                                                   square(kMinCorrectedError));
}

void NeighbourFeatures::prefetch(const Surroundings& around) const {
  for (std::size_t axis = 0; axis < lines_.axes(); ++axis) {
    for (const Neighbour* each :
         {&around[axis].low2, &around[axis].low, &around[axis].high, &around[axis].high2}) {
      if (*each) __builtin_prefetch(record(each->site));
    }
  }
}

float NeighbourFeatures::interpolated(const Neighbours& n, double at) const {
  return between(n, at, [&](Site site) { return u(site); });
}

float NeighbourFeatures::beyond(const Neighbour& near, const Neighbour& far, double at) const {
  if (!near || !far) return kNone;
  const double slope = (u(near.site) - u(far.site)) / (near.at - far.at);
  return static_cast<float>(u(near.site) + slope * (at - near.at));
}

float NeighbourFeatures::own_error(const Neighbours& n, double at) const {
  // The interpolation at a neighbour, between what lies on both sides of it but for the point
  // itself.
  const auto error = [&](const Neighbour& of, const Neighbour& before, const Neighbour& after) {
    if (!of || !before || !after) return kNone;
    return u(of.site) - interpolated({{}, before, after, {}}, of.at);
  };
  const float low = error(n.low, n.low2, n.high);
  const float high = error(n.high, n.low, n.high2);
  if (std::isnan(low)) return high;
  if (std::isnan(high)) return low;
  const double share = (at - n.low.at) / (n.high.at - n.low.at);
  return static_cast<float>((1 - share) * low + share * high);
}

float NeighbourFeatures::crossed(const Point& point, const Neighbours& on_along, std::size_t of,
                                 std::size_t along) const {
  // Residuals of the neighbours that have one.
  Neighbours n = on_along;
  const auto residual = [&](Site site) { return record(site)[kResidual + of]; };
  if (n.low && std::isnan(residual(n.low.site))) n.low = {};
  if (n.high && std::isnan(residual(n.high.site))) n.high = {};
  return between(n, point.at[along], residual);
}

float NeighbourFeatures::corrected(float estimate, const Surroundings& around,
                                   std::span<const float> errors) const {
  double sum = 0;
  double weights = 0;
  for (std::size_t along = 0; along < errors.size(); ++along) {
    if (std::isnan(errors[along])) continue;
    const double weight = trust(around[along], along) / errors_[along];
    sum += weight * static_cast<double>(errors[along]);
    weights += weight;
  }
  return weights > 0 ? estimate + static_cast<float>(sum / weights) : kNone;
}

float NeighbourFeatures::bilinear(const Point& point, std::size_t first, std::size_t second) const {
  const auto levels = lines_.levels(point.slice, first);
  const auto above = std::upper_bound(levels.begin(), levels.end(), point.at[first]);
  auto below = std::lower_bound(levels.begin(), levels.end(), point.at[first]);
  const auto estimate = [&](double level) {
    Point moved = point;
    moved.at[first] = level;
    return interpolated(lines_.along(moved, second), point.at[second]);
  };
  const bool has_low = below != levels.begin();
  const bool has_high = above != levels.end();
  const float low = has_low ? estimate(*(below - 1)) : kNone;
  const float high = has_high ? estimate(*above) : kNone;
  if (std::isnan(low)) return high;
  if (std::isnan(high)) return low;
  const double start = *(below - 1);
  const double share = (point.at[first] - start) / (*above - start);
  return static_cast<float>((1 - share) * low + share * high);
}

void NeighbourFeatures::write(const Point& point, const Surroundings& all,
                              std::span<const float> waves, const Blindfold& blindfold,
                              std::span<float> out) const {
  using L = NeighbourLayout;
  const L at = layout();
  const std::size_t axes = at.axes;
  std::fill(out.begin(), out.end(), kNone);
  prefetch(all);
  Surroundings around;
  for (std::size_t axis = 0; axis < axes; ++axis)
    around[axis] = visible(all[axis], axis, blindfold);
  for (std::size_t along = 0; along < axes; ++along) {
    if (!around[along].any()) continue;
    for (std::size_t of = 0; of < axes; ++of) {
      if (along == of || (blindfold.lines & (1U << of)) != 0) continue;
      out[at.crossed(of, along)] = crossed(point, around[along], of, along);
    }
  }
  double sum = 0;
  double weights = 0;
  double corrected_sum = 0;
  double corrected_weights = 0;
  for (std::size_t axis = 0; axis < axes; ++axis) {
    const Neighbours& n = around[axis];
    if (!n.any()) continue;
    float* const f = &out[at.around(axis)];
    f[L::kEstimate] = interpolated(n, point.at[axis]);
    f[L::kFromLow] = beyond(n.low, n.low2, point.at[axis]);
    f[L::kFromHigh] = beyond(n.high, n.high2, point.at[axis]);
    f[L::kOwnError] = own_error(n, point.at[axis]);
    const auto side = [&](const Neighbour& each, std::size_t value, std::size_t distance) {
      if (!each) return;
      f[value] = u(each.site);
      if (distance < L::kAround)
        f[distance] = static_cast<float>(std::abs(each.at - point.at[axis]));
    };
    side(n.low, L::kLow, L::kLowDistance);
    side(n.high, L::kHigh, L::kHighDistance);
    side(n.low2, L::kLow2, L::kAround);
    side(n.high2, L::kHigh2, L::kAround);
    const double weight = trust(n, axis) / errors_[axis];
    sum += weight * f[L::kEstimate];
    weights += weight;
    const float corrected_estimate =
        corrected(f[L::kEstimate], around, out.subspan(at.crossed(axis, 0), axes));
    if (std::isnan(corrected_estimate)) continue;
    out[at.corrected(axis)] = corrected_estimate;
    const double own = trust(n, axis) / corrected_errors_[axis];
    corrected_sum += own * static_cast<double>(corrected_estimate);
    corrected_weights += own;
  }
  if (weights == 0) {
    for (std::size_t first = 0; first < axes; ++first) {
      for (std::size_t second = first + 1; second < axes; ++second) {
        const std::uint32_t bits = (1U << first) | (1U << second);
        if (blindfold.levels != 0 && blindfold.levels != bits) continue;
        if (lines_.max_levels(first) <= 2 || lines_.max_levels(second) <= 2) continue;
        const float estimate = bilinear(point, first, second);
        if (std::isnan(estimate)) continue;
        out[at.pair(first, second)] = estimate;
        const double weight = 1 / (errors_[first] + errors_[second]);
        sum += weight * estimate;
        weights += weight;
      }
    }
  }
  const auto plain = static_cast<float>(weights > 0 ? sum / weights : 0);
  const float base =
      corrected_weights > 0 ? static_cast<float>(corrected_sum / corrected_weights) : plain;
  if (weights > 0) out[at.plain()] = plain - base;
  for (std::size_t axis = 0; axis < axes; ++axis) {
    float* const f = &out[at.around(axis)];
    const Neighbours& n = around[axis];
    if (n.any() && !waves.empty() && lines_.max_levels(axis) > 2) {
      for (std::size_t tile = 0; tile < kTileCount; ++tile) {
        const auto value = [&](Site site) { return u(site) - record(site)[kWaves + tile]; };
        out[at.tiled(axis) + tile] = between(n, point.at[axis], value) + waves[tile] - base;
      }
    }
    for (const std::size_t value :
         {L::kEstimate, L::kFromLow, L::kFromHigh, L::kLow, L::kHigh, L::kLow2, L::kHigh2})
      f[value] -= base;
    out[at.corrected(axis)] -= base;
    for (std::size_t other = axis + 1; other < axes; ++other) out[at.pair(axis, other)] -= base;
  }
  out[at.base()] = base;
}

}  // namespace oplat::estimate
