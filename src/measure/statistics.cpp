// SPDX-License-Identifier: Apache-2.0
/// Order statistics, spread, slope, and the summary of a row's blocks.
///
/// The problem: calls that follow one another are far from independent, and times have a long upper
/// tail. So the mean and the standard error of calls would promise too much. Everything here works
/// on blocks, one value each: the lower quartile within a block, since others only ever make a call
/// longer, and the median over blocks, since operand placement varies a time in both directions
/// (docs/adr/0017). Intervals are t-intervals of logarithms, pooled with a prior, and from eight
/// blocks on also the bootstrap over (process, block).
#include "measure/statistics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <vector>
#include "base/stats.hpp"

namespace oplat::measure {
namespace {

std::vector<double> logarithms(std::span<const double> values) {
  std::vector<double> logs;
  logs.reserve(values.size());
  for (double v : values) logs.push_back(std::log(v));
  return logs;
}

bool all_positive(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(),
                     [](double v) { return v > 0 && std::isfinite(v); });
}

double mean(std::span<const double> values) {
  double sum = 0;
  for (double v : values) sum += v;
  return sum / static_cast<double>(values.size());
}

double sample_sd(std::span<const double> values) {
  const double centre = mean(values);
  double sum = 0;
  for (double v : values) sum += (v - centre) * (v - centre);
  return std::sqrt(sum / static_cast<double>(values.size() - 1));
}

/// Around `centre`, the median of `values`, which are positive and at least one.
base::Interval row_interval(double centre, std::span<const double> values,
                            std::span<const BlockValue> units, double level, std::uint64_t seed,
                            double single_sd_log) {
  if (values.size() == 1) {
    // So many degrees of freedom that Student's distribution is the normal one: the spread is
    // assumed, not estimated.
    const double reach = base::student_quantile(0.5 + level / 2, 1e6) * single_sd_log;
    return {values[0] * std::exp(-reach), values[0] * std::exp(reach)};
  }
  base::Interval interval = *log_t_interval(values, level, kRowPrior);
  if (values.size() >= kMinBootstrapBlocks) {
    const base::Interval resampled = *bootstrap_median_interval(units, level, seed);
    interval = {std::min(interval.low, resampled.low), std::max(interval.high, resampled.high)};
  }
  // The t-interval is centred on the geometric mean; a skewed handful of blocks may leave the
  // median just outside.
  const double below = std::max(0.0, std::log(centre / interval.low));
  const double above = std::max(0.0, std::log(interval.high / centre));
  return {centre * std::exp(-kLookFactor * below), centre * std::exp(kLookFactor * above)};
}

}  // namespace

std::optional<double> lower_quartile_ns(std::span<const double> calls) {
  return base::quantile(calls, 0.25);
}

std::optional<double> sd_of_log(std::span<const double> values) {
  if (values.size() < 2 || !all_positive(values)) return std::nullopt;
  return sample_sd(logarithms(values));
}

double slope(double one_copy_ns, double k_copies_ns, std::int64_t copies) {
  return (k_copies_ns - one_copy_ns) / static_cast<double>(copies - 1);
}

std::optional<base::Interval> log_t_interval(std::span<const double> values, double level,
                                             const SpreadPrior& prior) {
  if (values.size() < 2 || !all_positive(values)) return std::nullopt;
  const std::vector<double> logs = logarithms(values);
  const auto n = static_cast<double>(logs.size());
  const double sd = sample_sd(logs);
  const double degrees = n - 1 + prior.degrees;
  const double variance =
      ((n - 1) * sd * sd + prior.degrees * prior.sd_log * prior.sd_log) / degrees;
  const double reach = base::student_quantile(0.5 + level / 2, degrees) * std::sqrt(variance / n);
  const double centre = mean(logs);
  return base::Interval{std::exp(centre - reach), std::exp(centre + reach)};
}

std::optional<double> relative_half_width(const base::Interval& interval, double centre) {
  if (!(centre > 0)) return std::nullopt;
  return (interval.high - interval.low) / 2 / centre;
}

std::optional<double> fastest_compute_ns(std::span<const table::Block> blocks) {
  std::optional<double> fastest;
  for (const table::Block& block : blocks) {
    const auto& reference = block.reference_compute_ns;
    if (reference) fastest = std::min(fastest.value_or(*reference), *reference);
  }
  return fastest;
}

std::optional<double> usual_full_clock_ns(std::span<const double> readings) {
  constexpr double kNear = 0.015;
  constexpr std::size_t kOneIn = 10;
  constexpr std::size_t kFew = 2;
  std::vector<double> logs;
  for (const double reading : readings) {
    if (reading > 0 && std::isfinite(reading)) logs.push_back(std::log(reading));
  }
  if (logs.empty()) return std::nullopt;
  std::sort(logs.begin(), logs.end());
  struct Crowd {
    std::size_t first = 0;
    std::size_t count = 0;
  };
  std::vector<Crowd> about;  // each reading, in their order
  std::size_t first = 0;
  std::size_t last = 0;  // one past
  std::size_t largest = 0;
  for (const double log : logs) {
    while (logs[first] < log - kNear) ++first;
    while (last < logs.size() && logs[last] <= log + kNear) ++last;
    about.push_back({first, last - first});
    largest = std::max(largest, last - first);
  }
  const std::size_t least = std::min(largest, std::max(kFew, (largest + kOneIn - 1) / kOneIn));
  const auto is_smaller = [](const Crowd& a, const Crowd& b) { return a.count < b.count; };
  // From the fastest crowd that is large enough to the top of its hill.
  auto at = std::find_if(about.begin(), about.end(),
                         [&](const Crowd& crowd) { return crowd.count >= least; });
  for (;;) {
    const auto begin = about.begin() + static_cast<std::ptrdiff_t>(at->first);
    const auto top =
        std::max_element(begin, begin + static_cast<std::ptrdiff_t>(at->count), is_smaller);
    if (top->count <= at->count) break;
    at = top;
  }
  return std::exp(logs[at->first + at->count / 2]);
}

bool is_at_lower_clock(const std::optional<double>& reference_compute_ns,
                       const std::optional<double>& full_clock_ns) {
  constexpr double kSameClock = 1.03;
  return full_clock_ns && reference_compute_ns &&
         *reference_compute_ns > kSameClock * *full_clock_ns;
}

bool is_at_lower_clock(const table::Block& block, const std::optional<double>& full_clock_ns) {
  return is_at_lower_clock(block.reference_compute_ns, full_clock_ns);
}

void SpreadOfBlocks::Pool::add(std::span<const double> logs, double centre,
                               double degrees_of_them) {
  for (const double log : logs) squares += (log - centre) * (log - centre);
  degrees += degrees_of_them;
}

double SpreadOfBlocks::sd_log(const table::Block& block) const {
  constexpr double kMinDegrees = 5;
  constexpr double kMaxSdLog = 0.5;
  Pool pool = is_at_lower_clock(block, full_clock_ns_) ? slow_ : at_clock_;
  if (pool.degrees < kMinDegrees)
    pool = {at_clock_.squares + slow_.squares, at_clock_.degrees + slow_.degrees};
  if (pool.degrees < kMinDegrees) return kAssumedSdLog;
  return std::clamp(std::sqrt(pool.squares / pool.degrees), kAssumedSdLog, kMaxSdLog);
}

double SpreadOfBlocks::common_sd_log(std::span<const table::Block> blocks) const {
  constexpr double kMinRows = 5;
  constexpr double kMaxSdLog = 0.5;
  constexpr std::size_t kMinAtFullClock = 2;  // as many outvote the others, see assess()
  const Kinds kinds = kinds_of(blocks);
  if (kinds.at_clock.size() >= std::min(kMinAtFullClock, kinds.slow.size())) return 0;
  double sd_log = kAssumedLowerClockSdLog;
  if (!kinds.at_clock.empty()) {
    sd_log = std::max(0.0, mean(kinds.slow) - kinds.at_clock.front());
  } else if (offsets_.degrees >= kMinRows) {
    sd_log = std::sqrt(offsets_.squares / offsets_.degrees);
  }
  return std::min(sd_log, kMaxSdLog);
}

SpreadOfBlocks::Kinds SpreadOfBlocks::kinds_of(std::span<const table::Block> blocks) const {
  Kinds kinds;
  for (const table::Block& block : blocks) {
    if (!(block.value_ns > 0) || !std::isfinite(block.value_ns)) return {};
    (is_at_lower_clock(block, full_clock_ns_) ? kinds.slow : kinds.at_clock)
        .push_back(std::log(block.value_ns));
  }
  return kinds;
}

void SpreadOfBlocks::add_row(std::span<const table::Block> blocks) {
  const auto [at_clock, slow] = kinds_of(blocks);
  const auto degrees_alone = [](const std::vector<double>& logs) {
    return static_cast<double>(logs.size()) - 1;
  };
  if (at_clock.size() >= 2) at_clock_.add(at_clock, mean(at_clock), degrees_alone(at_clock));
  if (!at_clock.empty())
    slow_.add(slow, mean(at_clock), static_cast<double>(slow.size()));
  else if (slow.size() >= 2)
    slow_.add(slow, mean(slow), degrees_alone(slow));
  if (!at_clock.empty() && !slow.empty()) offsets_.add(std::array{mean(slow)}, mean(at_clock), 1);
}

std::optional<table::Timing> summarise(std::span<const table::Block> blocks, double level,
                                       std::uint64_t seed, double single_sd_log,
                                       double common_sd_log) {
  std::vector<double> values;
  std::vector<BlockValue> units;
  std::set<std::int64_t> processes;
  for (const table::Block& block : blocks) {
    values.push_back(block.value_ns);
    units.push_back({block.process, block.value_ns});
    processes.insert(block.process);
  }
  if (values.empty() || !all_positive(values)) return std::nullopt;

  table::Timing timing;
  timing.median_ns = *base::median(values);
  timing.sd_log = sd_of_log(values).value_or(single_sd_log);
  timing.ci_level = level;
  timing.min_ns = *base::quantile(values, 0);
  timing.p10_ns = *base::quantile(values, 0.1);
  timing.p90_ns = *base::quantile(values, 0.9);
  timing.blocks = static_cast<std::int64_t>(values.size());
  timing.processes = static_cast<std::int64_t>(processes.size());

  const base::Interval interval =
      row_interval(timing.median_ns, values, units, level, seed, single_sd_log);
  timing.ci_low_ns = interval.low;
  timing.ci_high_ns = interval.high;
  if (common_sd_log > 0) {
    const double reach = base::two_sided_normal_quantile(level) * common_sd_log;
    const auto widened = [&](double end) {
      return timing.median_ns * std::exp(std::hypot(std::log(end / timing.median_ns), reach) *
                                         (end < timing.median_ns ? -1 : 1));
    };
    timing.ci_low_ns = widened(interval.low);
    timing.ci_high_ns = widened(interval.high);
  }
  return timing;
}

}  // namespace oplat::measure
