// SPDX-License-Identifier: Apache-2.0
/// Is there a trend in a row's blocks, and do they fall into two modes?
#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "measure/statistics.hpp"

namespace oplat::measure {
namespace {

constexpr std::size_t kMaxExactTrend = 100;
constexpr std::size_t kMinSplit = 8;

/// P(inversions <= most) of a random order of n distinct values.
double inversions_at_most(std::size_t n, std::size_t most) {
  // share[i]: probability of i inversions; the m-th value adds 0..m-1 of them, each equally likely.
  std::vector<double> share(most + 1, 0.0);
  share[0] = 1;
  for (std::size_t m = 2; m <= n; ++m) {
    std::vector<double> next(most + 1, 0.0);
    double window = 0;
    for (std::size_t i = 0; i <= most; ++i) {
      window += share[i];
      if (i >= m) window -= share[i - m];
      next[i] = window / static_cast<double>(m);
    }
    share.swap(next);
  }
  double sum = 0;
  for (double s : share) sum += s;
  return std::clamp(sum, 0.0, 1.0);
}

double tie_correction(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  double sum = 0;
  for (std::size_t i = 0; i < sorted.size();) {
    std::size_t j = i;
    while (j < sorted.size() && sorted[j] == sorted[i]) ++j;
    const auto t = static_cast<double>(j - i);
    sum += t * (t - 1) * (2 * t + 5);
    i = j;
  }
  return sum;
}

}  // namespace

double mann_kendall_p(std::span<const double> values) {
  const std::size_t n = values.size();
  if (n < 3) return 1;
  std::size_t rising = 0;
  std::size_t falling = 0;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = i + 1; j < n; ++j) {
      if (values[j] > values[i]) ++rising;
      if (values[j] < values[i]) ++falling;
    }
  }
  const bool ties = rising + falling < n * (n - 1) / 2;
  if (!ties && n <= kMaxExactTrend)
    return std::min(1.0, 2 * inversions_at_most(n, std::min(rising, falling)));

  const auto count = static_cast<double>(n);
  const double variance = (count * (count - 1) * (2 * count + 5) - tie_correction(values)) / 18;
  if (variance <= 0) return 1;
  const double score = std::abs(static_cast<double>(rising) - static_cast<double>(falling));
  return std::erfc(std::max(0.0, score - 1) / std::sqrt(2 * variance));
}

std::optional<TwoModes> split_in_two(std::span<const double> values) {
  const std::size_t n = values.size();
  if (n < kMinSplit) return std::nullopt;
  std::vector<double> logs;
  for (double v : values) {
    if (!(v > 0)) return std::nullopt;
    logs.push_back(std::log(v));
  }
  std::sort(logs.begin(), logs.end());
  double sum = 0;
  for (double x : logs) sum += x;
  const double centre = sum / static_cast<double>(n);
  double total = 0;
  for (double x : logs) total += (x - centre) * (x - centre);

  TwoModes best{0, std::exp(centre), std::exp(centre)};
  if (total <= 0) return best;
  const auto least = std::max<std::size_t>(2, (n + 4) / 5);
  double low_sum = 0;
  for (std::size_t cut = 1; cut < n; ++cut) {
    low_sum += logs[cut - 1];
    if (cut < least || n - cut < least) continue;
    const auto below = static_cast<double>(cut);
    const auto above = static_cast<double>(n - cut);
    const double low = low_sum / below;
    const double high = (sum - low_sum) / above;
    const double between =
        below * (low - centre) * (low - centre) + above * (high - centre) * (high - centre);
    if (between / total > best.explained) best = {between / total, std::exp(low), std::exp(high)};
  }
  return best;
}

bool is_bimodal(std::span<const double> values) {
  const std::optional<TwoModes> split = split_in_two(values);
  if (!split || split->high < 1.02 * split->low) return false;
  // The best split of many normal values explains 2 / pi of their variance; the second term was
  // fitted to the 99 % quantile in 6,000 simulated samples for each of ten sizes from 8 to 40.
  const double threshold =
      2 * std::numbers::inv_pi + 0.80 * std::pow(static_cast<double>(values.size()), -0.47);
  return split->explained > threshold;
}

}  // namespace oplat::measure
