// SPDX-License-Identifier: Apache-2.0
/// Bootstrap of the median over processes and their blocks.
#include <algorithm>
#include <map>
#include <vector>

#include "oplat/base/random.hpp"
#include "oplat/measure/statistics.hpp"

namespace oplat::measure {

std::optional<Interval> bootstrap_median_interval(std::span<const BlockValue> blocks, double level, std::uint64_t seed,
                                                  int resamples) {
  if (blocks.size() < 2 || resamples < 1) return std::nullopt;
  std::map<std::int64_t, std::vector<double>> by_process;
  for (const BlockValue& block : blocks) by_process[block.process].push_back(block.value);
  std::vector<std::vector<double>> processes;
  for (auto& [process, values] : by_process) processes.push_back(std::move(values));

  base::Random random(seed);
  std::vector<double> medians;
  medians.reserve(static_cast<std::size_t>(resamples));
  std::vector<double> drawn;
  for (int i = 0; i < resamples; ++i) {
    drawn.clear();
    for (std::size_t p = 0; p < processes.size(); ++p) {
      // With a single process only its blocks can be drawn from.
      const std::vector<double>& values = processes[static_cast<std::size_t>(random.below(processes.size()))];
      for (std::size_t b = 0; b < values.size(); ++b) {
        drawn.push_back(values[static_cast<std::size_t>(random.below(values.size()))]);
      }
    }
    medians.push_back(*median(drawn));
  }
  std::sort(medians.begin(), medians.end());
  return Interval{*quantile(medians, (1 - level) / 2), *quantile(medians, (1 + level) / 2)};
}

}  // namespace oplat::measure
