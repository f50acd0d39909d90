// SPDX-License-Identifier: Apache-2.0
/// Rates from rows.
#include "estimate/learned/machine.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/stats.hpp"
#include "estimate/learned/waves.hpp"

namespace oplat::estimate {
namespace {

/// The fastest row does some work, too.
constexpr double kOverheadOfFastest = 0.6;
/// Faster rows do fewer operations than are counted (Winograd), or find their data in caches.
constexpr double kBestShare = 0.98;

/// None of 95,000 FP32 and 13,000 FP16 rows of a V100 takes less than 0.63 of its bound by FLOPs,
/// weights and results.
constexpr double kSureShare = 0.5;
/// Small kernels alone teach rates that larger ones exceed. With this power of the distance hardly
/// an FP32 row lay below the floor learned from batch 1, from sizes up to 20 or from 64 channels
/// (0.0 %); 15 % did where all three were so few at once, and 19 % of FP16 rows where sizes went up
/// to 20.
constexpr double kLessPerDoubling = 0.5;

/// Its order statistic at `level` of the way, rounded down.
double rate_at(std::vector<double> values, double level) {
  const auto at = static_cast<std::size_t>(level * static_cast<double>(values.size() - 1));
  return base::order_statistic(std::move(values), at);
}

void learn_rates(std::span<const ir::Description> rows, std::span<const double> log_ns,
                 Machine& machine) {
  std::vector<double> flops;
  std::vector<double> bytes;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double ns = std::exp(log_ns[i]);
    if (rows[i].work.flops && *rows[i].work.flops > 0) flops.push_back(*rows[i].work.flops / ns);
    if (rows[i].work.bytes() > 0) bytes.push_back(rows[i].work.bytes() / ns);
  }
  if (!flops.empty()) machine.flops_per_ns = rate_at(std::move(flops), kBestShare);
  if (!bytes.empty()) machine.bytes_per_ns = rate_at(std::move(bytes), kBestShare);
}

}  // namespace

double Machine::bound_ns(const ir::Work& work) const {
  return overhead_ns + std::max({work.flops.value_or(0) / flops_per_ns, work.bytes() / bytes_per_ns,
                                 work.steps * kStepNs});
}

double Machine::floor_ns(const ir::Work& work, double outside) const {
  // A stride may pass over most of what comes in; results and the weights that are read count.
  const double bytes = work.bytes_weights + work.bytes_out;
  const double least = std::max(work.flops.value_or(0) / flops_per_ns, bytes / bytes_per_ns);
  return overhead_ns + kSureShare * std::exp2(-kLessPerDoubling * outside) * least;
}

double tiles_of(const ir::Contraction& product, const Tile& tile) {
  const double rows = product.batch * product.out_h * product.out_w;
  return product.groups * std::ceil(rows / tile.rows) * std::ceil(product.out_c / tile.columns);
}

double log_wave_work(const ir::Contraction& product, const Tile& tile, std::int32_t processors) {
  const double waves = std::ceil(tiles_of(product, tile) / processors);
  return std::log(waves * tile.rows * tile.columns * product.in_c * product.kernel_h *
                  product.kernel_w);
}

Machine learn_machine(std::span<const ir::Description> rows, std::span<const double> log_ns,
                      const Space& space) {
  Machine machine;
  if (rows.empty()) return machine;
  machine.overhead_ns =
      kOverheadOfFastest * std::exp(*std::min_element(log_ns.begin(), log_ns.end()));
  learn_rates(rows, log_ns, machine);
  machine.processors = learn_waves(rows, log_ns, space, machine);
  return machine;
}

}  // namespace oplat::estimate
