// SPDX-License-Identifier: Apache-2.0
/// Rates from rows.
#include "estimate/learned/machine.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "estimate/learned/waves.hpp"

namespace oplat::estimate {
namespace {

/// The fastest row does some work, too.
constexpr double kOverheadOfFastest = 0.6;
/// Faster rows do fewer operations than are counted (Winograd), or find their data in caches.
constexpr double kBestShare = 0.98;

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

Machine learn_machine(std::span<const ir::Description> rows, std::span<const double> log_ns, const Space& space) {
  Machine machine;
  if (rows.empty()) return machine;
  machine.overhead_ns = kOverheadOfFastest * std::exp(*std::min_element(log_ns.begin(), log_ns.end()));
  learn_rates(rows, log_ns, machine);
  machine.processors = learn_waves(rows, log_ns, space, machine);
  return machine;
}

}  // namespace oplat::estimate
