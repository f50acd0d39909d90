// SPDX-License-Identifier: Apache-2.0
/// Rates and processors from rows.
#include "estimate/learned/machine.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "oplat/base/random.hpp"

namespace oplat::estimate {
namespace {

/// The fastest row does some work, too.
constexpr double kOverheadOfFastest = 0.6;
/// Faster rows do fewer operations than are counted (Winograd), or find their data in caches.
constexpr double kBestShare = 0.98;
/// Pairs of rows that the search for the processors looks at.
constexpr std::size_t kPairsLookedAt = 12000;
constexpr std::size_t kLeastPairs = 200;
constexpr std::int32_t kMostProcessors = 256;
/// Rows of less than so many overheads say little about waves.
constexpr double kLeastOverheads = 10;
/// A pair whose times no tile explains to a tenth is of two kinds of kernels.
constexpr double kMostStep = 0.1;
/// Waves must explain the steps between neighbours better by this share before they are believed in.
constexpr double kLeastGain = 0.02;

double quantile(std::vector<double> values, double level) {
  const auto at = static_cast<std::ptrdiff_t>(level * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return values[static_cast<std::size_t>(at)];
}

void learn_rates(std::span<const ir::Description> rows, std::span<const double> log_ns, Machine& machine) {
  std::vector<double> flops;
  std::vector<double> bytes;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double ns = std::exp(log_ns[i]);
    if (rows[i].work.flops && *rows[i].work.flops > 0) flops.push_back(*rows[i].work.flops / ns);
    if (rows[i].work.bytes() > 0) bytes.push_back(rows[i].work.bytes() / ns);
  }
  if (!flops.empty()) machine.flops_per_ns = quantile(std::move(flops), kBestShare);
  if (!bytes.empty()) machine.bytes_per_ns = quantile(std::move(bytes), kBestShare);
}

/// Two rows next to each other on a line.
struct Step {
  const ir::Contraction* from = nullptr;
  const ir::Contraction* to = nullptr;
  double log_ratio = 0;  ///< of their times less the overhead
};

std::vector<Step> steps_between(std::span<const ir::Description> rows, std::span<const double> log_ns, const Lines& lines,
                                const Machine& machine) {
  const double least = std::log(kLeastOverheads * machine.overhead_ns);
  const auto usable = [&](Site site) {
    const auto& product = rows[static_cast<std::size_t>(site)].contraction;
    return product && product->in_c * product->out_c > 1 && log_ns[static_cast<std::size_t>(site)] >= least;
  };
  const auto net = [&](Site site) { return std::log(std::exp(log_ns[static_cast<std::size_t>(site)]) - machine.overhead_ns); };
  std::vector<Step> steps;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto site = static_cast<Site>(i);
    if (!usable(site)) continue;
    for (std::size_t axis = 0; axis < lines.axes(); ++axis) {
      if (lines.most_levels(axis) <= 2) continue;
      const Neighbour next = lines.along(lines.sites()[i], axis).high;
      if (!next || !usable(next.site)) continue;
      steps.push_back({&*rows[i].contraction, &*rows[static_cast<std::size_t>(next.site)].contraction, net(next.site) - net(site)});
    }
  }
  base::Random random(1);
  base::shuffle(steps, random);
  if (steps.size() > kPairsLookedAt) steps.resize(kPairsLookedAt);
  return steps;
}

/// How far the step between two neighbours is from what the waves of the best tile make of it.
double unexplained(const std::vector<Step>& steps, std::int32_t processors) {
  double sum = 0;
  for (const Step& step : steps) {
    double least = kMostStep;
    for (const Tile& tile : kTiles) {
      const double waves = log_wave_work(*step.to, tile, processors) - log_wave_work(*step.from, tile, processors);
      least = std::min(least, std::abs(waves - step.log_ratio));
    }
    sum += least;
  }
  return sum;
}

}  // namespace

double Machine::bound_ns(const ir::Work& work) const {
  return overhead_ns + std::max(work.flops.value_or(0) / flops_per_ns, work.bytes() / bytes_per_ns);
}

double tiles_of(const ir::Contraction& product, const Tile& tile) {
  const double rows = product.batch * product.out_h * product.out_w;
  return product.groups * std::ceil(rows / tile.rows) * std::ceil(product.out_c / tile.columns);
}

double log_wave_work(const ir::Contraction& product, const Tile& tile, std::int32_t processors) {
  const double waves = std::ceil(tiles_of(product, tile) / processors);
  return std::log(waves * tile.rows * tile.columns * product.in_c * product.kernel_h * product.kernel_w);
}

Machine learn_machine(std::span<const ir::Description> rows, std::span<const double> log_ns) {
  Machine machine;
  if (rows.empty()) return machine;
  machine.overhead_ns = kOverheadOfFastest * std::exp(*std::min_element(log_ns.begin(), log_ns.end()));
  learn_rates(rows, log_ns, machine);
  return machine;
}

std::int32_t learn_processors(std::span<const ir::Description> sites, std::span<const double> log_ns, const Lines& lines,
                              const Machine& machine) {
  const std::vector<Step> steps = steps_between(sites, log_ns, lines, machine);
  if (steps.size() < kLeastPairs) return 1;
  double least = (1 - kLeastGain) * unexplained(steps, 1);
  std::int32_t best = 1;
  for (std::int32_t processors = 2; processors <= kMostProcessors; ++processors) {
    const double rest = unexplained(steps, processors);
    if (rest >= least) continue;
    least = rest;
    best = processors;
  }
  return best;
}

}  // namespace oplat::estimate
