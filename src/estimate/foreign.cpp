// SPDX-License-Identifier: Apache-2.0
/// What other tenants of a machine bring into the last level.
#include "estimate/foreign.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "base/stats.hpp"
#include "table/memory_text.hpp"

namespace oplat::estimate {
namespace {

/// Kernels from which a rate can be told.
constexpr std::size_t kMinKernels = 30;
/// Of a cold time over a hot one, as a logarithm: less is noise.
constexpr double kLeastGap = 0.05;
/// A gap above counts no more.
constexpr double kMostGap = 0.5;
/// Shares beyond are noise of the times.
constexpr double kLeastShare = -0.5, kMostShare = 1.5;
/// Rows that lost no more than this tell what the last level itself costs.
constexpr double kFresh = 0.05;
/// Rates that are tried, bytes a ns.
constexpr double kLeastRate = 0.1, kMostRate = 100, kStep = 1.12;
/// A rate has to leave so much less than none does.
constexpr double kWorthIt = 0.95;
/// Where no wait shows more than this, looks differ by chance.
constexpr double kNothingLost = 0.05;
/// Of a load from memory over one from the last level: less says nothing of where a line was.
constexpr double kMinRise = 1.2;

struct Ends {
  std::optional<double> hot, cold;  ///< logarithms of times
};

std::unordered_map<std::string_view, Ends> ends_of(std::span<const Sample> samples) {
  std::unordered_map<std::string_view, Ends> ends;
  for (const Sample& sample : samples) {
    if (sample.state == 0) ends[sample.key].hot = sample.log_ns;
    if (sample.state == 2) ends[sample.key].cold = sample.log_ns;
  }
  return ends;
}

/// A kernel in the last level: its share of the way from hot to cold.
struct Between {
  double share = 0;
  double weight = 0;
  double reuse_bytes = 0;
  double cycle_ns = 0;
};

std::vector<Between> kernels_between(std::span<const Sample> samples) {
  const auto ends = ends_of(samples);
  std::vector<Between> kernels;
  for (const Sample& sample : samples) {
    if (sample.state != 1 || !(sample.cycle_ns > 0)) continue;
    const auto at = ends.find(sample.key);
    if (at == ends.end() || !at->second.hot || !at->second.cold) continue;
    const double gap = *at->second.cold - *at->second.hot;
    if (!(gap >= kLeastGap)) continue;
    const double share = (sample.log_ns - *at->second.hot) / gap;
    kernels.push_back({std::clamp(share, kLeastShare, kMostShare), std::min(gap, kMostGap),
                       sample.reuse_bytes.value_or(0), sample.cycle_ns});
  }
  return kernels;
}

/// Weighted mean magnitude of what a rate leaves unexplained.
double left_by(const std::vector<Between>& kernels, const Ramp& last, double rate) {
  std::vector<double> lost;
  std::vector<double> fresh;
  for (const Between& kernel : kernels) {
    lost.push_back(lost_among_others(last, kernel.reuse_bytes, rate * kernel.cycle_ns));
    if (lost.back() <= kFresh) fresh.push_back(kernel.share);
  }
  const double of_level =
      std::clamp(base::median(std::span<const double>(fresh)).value_or(0), 0.0, 0.9);
  double sum = 0;
  double weights = 0;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const double expected = of_level + (1 - of_level) * lost[i];
    sum += kernels[i].weight * std::abs(kernels[i].share - expected);
    weights += kernels[i].weight;
  }
  return sum / weights;
}

/// The rate that leaves least; 0 unless one leaves clearly less than none does.
double best_rate(const std::function<double(double)>& left_by_rate) {
  double least = kWorthIt * left_by_rate(0);
  double best = 0;
  for (double rate = kLeastRate; rate <= kMostRate; rate *= kStep) {
    const double left = left_by_rate(rate);
    if (left >= least) continue;
    least = left;
    best = rate;
  }
  return best;
}

/// What of a pool in the last level others had taken after a wait.
struct AfterWait {
  double pool_bytes = 0;
  double wait_ns = 0;
  double lost = 0;  ///< share of the way to memory, 0 to 1
};

/// std::nullopt if nobody looked, or loads from memory take hardly longer than from the last level.
std::optional<std::vector<AfterWait>> looks_after_waits(const table::MemoryHierarchy& memory) {
  if (!memory.has_last_level() || memory.waits.empty()) return std::nullopt;
  // Means of loads, while levels are lower quartiles: what all is gone from may cost more.
  double memory_ns = memory.levels.back().chase_ns;
  for (const table::MemoryWait& wait : memory.waits) memory_ns = std::max(memory_ns, wait.chase_ns);
  const double level_ns = memory.levels[1].chase_ns;
  if (!(memory_ns > kMinRise * level_ns)) return std::nullopt;
  std::vector<AfterWait> looks;
  for (const table::MemoryWait& wait : memory.waits) {
    // Ramps, too, are of the logarithm of a load's time.
    const double slower = std::log(wait.chase_ns / level_ns) / std::log(memory_ns / level_ns);
    looks.push_back(
        {static_cast<double>(wait.pool_bytes), wait.wait_ns, std::clamp(slower, 0.0, 1.0)});
  }
  return looks;
}

}  // namespace

std::optional<double> foreign_rate_by_rows(std::span<const Sample> samples, const Ramp& last) {
  const std::vector<Between> kernels = kernels_between(samples);
  if (kernels.size() < kMinKernels) return std::nullopt;
  return best_rate([&](double rate) { return left_by(kernels, last, rate); });
}

std::optional<double> foreign_rate_by_looks(const table::MemoryHierarchy& memory,
                                            const Ramp& last) {
  const auto looks = looks_after_waits(memory);
  if (!looks) return std::nullopt;
  if (std::none_of(looks->begin(), looks->end(),
                   [](const AfterWait& look) { return look.lost > kNothingLost; }))
    return 0;
  return best_rate([&](double rate) {
    double left = 0;
    for (const AfterWait& look : *looks)
      left += std::abs(look.lost - lost_among_others(last, look.pool_bytes, rate * look.wait_ns));
    return left;
  });
}

double foreign_rate(std::span<const Sample> samples, const table::MemoryHierarchy& memory,
                    const Ramp& last) {
  const auto by_rows = foreign_rate_by_rows(samples, last);
  return by_rows ? *by_rows : foreign_rate_by_looks(memory, last).value_or(0);
}

double without_loss(double log_ns, double hot_log_ns, double cold_log_ns, double lost) {
  const double alone = (log_ns - lost * cold_log_ns) / (1 - lost);
  return std::clamp(alone, std::min(hot_log_ns, log_ns), log_ns);
}

Result<std::vector<Sample>> read_samples_to_learn(const RowSource& rows) {
  OPLAT_TRY(samples, read_samples_in_states(rows));
  OPLAT_TRY(memory, table::find_memory(*rows.table, rows.device));
  if (const auto last = measured_last_level(memory))
    undo_losses(samples, *last, foreign_rate(samples, *memory, *last));
  return samples;
}

void undo_losses(std::vector<Sample>& samples, const Ramp& last, double rate) {
  if (!(rate > 0)) return;
  const auto lost_by = [&](const Sample& sample) {
    if (sample.state != 1) return 0.0;
    return lost_among_others(last, sample.reuse_bytes.value_or(0), rate * sample.cycle_ns);
  };
  const auto ends = ends_of(samples);
  for (Sample& sample : samples) {
    const double lost = lost_by(sample);
    const auto at = ends.find(sample.key);
    if (sample.state != 1 || lost > kMostLost || at == ends.end()) continue;
    const auto& [hot, cold] = at->second;
    if (hot && cold) sample.log_ns = without_loss(sample.log_ns, *hot, *cold, lost);
  }
  std::erase_if(samples, [&](const Sample& sample) { return lost_by(sample) > kMostLost; });
}

}  // namespace oplat::estimate
