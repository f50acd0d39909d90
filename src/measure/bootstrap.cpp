// SPDX-License-Identifier: Apache-2.0
/// Bootstrap of the median over processes and their blocks.
#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "base/interval.hpp"
#include "base/random.hpp"
#include "base/stats.hpp"
#include "measure/statistics.hpp"

namespace oplat::measure {
namespace {

constexpr std::size_t kMaxExact = 100;

/// powers[i] = (i / n)^exponent, i = 0..n.
std::vector<double> powers_of_shares(std::size_t n, std::size_t exponent) {
  std::vector<double> powers;
  for (std::size_t i = 0; i <= n; ++i) {
    powers.push_back(
        std::pow(static_cast<double>(i) / static_cast<double>(n), static_cast<double>(exponent)));
  }
  return powers;
}

double choose(std::size_t n, std::size_t k) {
  return std::exp(std::lgamma(static_cast<double>(n) + 1) -
                  std::lgamma(static_cast<double>(k) + 1) -
                  std::lgamma(static_cast<double>(n - k) + 1));
}

/// P(at least `least` of n draws are among the first i of n values), i = 0..n.
std::vector<double> at_least(std::size_t n, std::size_t least) {
  std::vector<double> result;
  for (std::size_t i = 0; i < n; ++i) {
    const double odds = static_cast<double>(i) / static_cast<double>(n - i);
    double exactly =
        std::pow(static_cast<double>(n - i) / static_cast<double>(n), static_cast<double>(n));
    double sum = 0;
    for (std::size_t k = 0; k <= n; ++k) {
      if (k >= least) sum += exactly;
      exactly *= odds * static_cast<double>(n - k) / static_cast<double>(k + 1);
    }
    result.push_back(sum);
  }
  result.push_back(1);
  return result;
}

/// Every median that n draws of n values can have, with its probability.
std::vector<std::pair<double, double>> median_distribution(const std::vector<double>& sorted) {
  const std::size_t n = sorted.size();
  const std::size_t half = n / 2;
  std::vector<std::pair<double, double>> medians;
  if (n % 2 == 1) {
    const std::vector<double> cumulative = at_least(n, half + 1);
    for (std::size_t i = 0; i < n; ++i)
      medians.emplace_back(sorted[i], cumulative[i + 1] - cumulative[i]);
    return medians;
  }
  // The middle two draws are the i-th and a later j-th value where half of the draws are among the
  // first i with the i-th itself, and the other half likewise from the j-th on. What is left of the
  // lower one's probability is i = j.
  const std::vector<double> lower = at_least(n, half);
  const std::vector<double> shares = powers_of_shares(n, half);
  const double orders = choose(n, half);
  for (std::size_t i = 0; i < n; ++i) {
    double left = lower[i + 1] - lower[i];
    for (std::size_t j = i + 1; j < n; ++j) {
      const double both =
          orders * (shares[i + 1] - shares[i]) * (shares[n - j] - shares[n - j - 1]);
      medians.emplace_back((sorted[i] + sorted[j]) / 2, both);
      left -= both;
    }
    medians.emplace_back(sorted[i], std::max(left, 0.0));
  }
  std::sort(medians.begin(), medians.end());
  return medians;
}

base::Interval exact_interval(std::vector<double> values, double level) {
  std::sort(values.begin(), values.end());
  const std::vector<std::pair<double, double>> medians = median_distribution(values);
  base::Interval interval{values.front(), values.back()};
  const double tail = (1 - level) / 2;
  double below = 0;
  for (const auto& [value, probability] : medians) {
    below += probability;
    if (below >= tail) {
      interval.low = value;
      break;
    }
  }
  double above = 0;
  for (auto each = medians.rbegin(); each != medians.rend(); ++each) {
    above += each->second;
    if (above >= tail) {
      interval.high = each->first;
      break;
    }
  }
  return interval;
}

base::Interval drawn_interval(const std::vector<std::vector<double>>& processes, double level,
                              std::uint64_t seed, int resamples) {
  base::Random random(seed);
  std::vector<double> medians;
  medians.reserve(static_cast<std::size_t>(resamples));
  std::vector<double> drawn;
  for (int i = 0; i < resamples; ++i) {
    drawn.clear();
    for (std::size_t p = 0; p < processes.size(); ++p) {
      // With a single process only its blocks can be drawn from.
      const std::vector<double>& values =
          processes[static_cast<std::size_t>(random.below(processes.size()))];
      for (std::size_t b = 0; b < values.size(); ++b) {
        drawn.push_back(values[static_cast<std::size_t>(random.below(values.size()))]);
      }
    }
    medians.push_back(*base::median(drawn));
  }
  std::sort(medians.begin(), medians.end());
  return {*base::quantile(medians, (1 - level) / 2), *base::quantile(medians, (1 + level) / 2)};
}

}  // namespace

std::optional<base::Interval> bootstrap_median_interval(std::span<const BlockValue> blocks,
                                                        double level, std::uint64_t seed,
                                                        int resamples) {
  if (blocks.size() < 2 || resamples < 1) return std::nullopt;
  std::map<std::int64_t, std::vector<double>> by_process;
  for (const BlockValue& block : blocks) by_process[block.process].push_back(block.value);
  if (by_process.size() == blocks.size() && blocks.size() <= kMaxExact) {
    std::vector<double> values;
    for (const BlockValue& block : blocks) values.push_back(block.value);
    return exact_interval(std::move(values), level);
  }
  std::vector<std::vector<double>> processes;
  for (auto& [process, values] : by_process) processes.push_back(std::move(values));
  return drawn_interval(processes, level, seed, resamples);
}

}  // namespace oplat::measure
