// SPDX-License-Identifier: Apache-2.0
/// Rates and processors from rows.
#include "estimate/learned/machine.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <vector>

namespace oplat::estimate {
namespace {

/// Rates above this quantile may be lucky timings.
constexpr double kBestShare = 0.999;
/// Rows that the search for the number of processors looks at, evenly spread.
constexpr std::size_t kRowsLookedAt = 4000;
constexpr std::int32_t kMostProcessors = 160;
/// Waves must lower the squared error by this share before they are believed in.
constexpr double kLeastGain = 0.02;

double quantile(std::vector<double> values, double level) {
  if (values.empty()) return 0;
  const auto at = static_cast<std::ptrdiff_t>(level * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return values[static_cast<std::size_t>(at)];
}

/// Squared error of a linear fit of the excess over the bound on the wave works.
double squared_error(const std::vector<const ir::Description*>& rows, const Eigen::VectorXd& excess,
                     const Eigen::VectorXd& bounds, std::int32_t processors) {
  const auto count = static_cast<Eigen::Index>(rows.size());
  Eigen::MatrixXd x(count, static_cast<Eigen::Index>(kTileCount) + 1);
  for (Eigen::Index i = 0; i < count; ++i) {
    const ir::Contraction& product = *rows[static_cast<std::size_t>(i)]->contraction;
    x(i, 0) = 1;
    for (std::size_t tile = 0; tile < kTileCount; ++tile) {
      x(i, static_cast<Eigen::Index>(tile) + 1) = log_wave_work(product, kTiles[tile], processors) - bounds(i);
    }
  }
  const Eigen::MatrixXd normal = x.transpose() * x + 1e-6 * Eigen::MatrixXd::Identity(x.cols(), x.cols());
  const Eigen::VectorXd solution = normal.ldlt().solve(x.transpose() * excess);
  return (x * solution - excess).squaredNorm();
}

std::int32_t learn_processors(std::span<const ir::Description> rows, std::span<const double> log_ns, const Machine& machine) {
  std::vector<std::size_t> usable;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].contraction && rows[i].contraction->in_c * rows[i].contraction->out_c > 1) usable.push_back(i);
  }
  if (usable.size() < 200) return 1;
  std::vector<const ir::Description*> chosen;
  std::vector<double> excess;
  std::vector<double> bounds;
  const double step = std::max(1.0, static_cast<double>(usable.size()) / static_cast<double>(kRowsLookedAt));
  for (double at = 0; at < static_cast<double>(usable.size()); at += step) {
    const std::size_t i = usable[static_cast<std::size_t>(at)];
    const double bound = std::log(machine.bound_ns(rows[i].work));
    chosen.push_back(&rows[i]);
    bounds.push_back(bound);
    excess.push_back(log_ns[i] - bound);
  }
  const auto count = static_cast<Eigen::Index>(chosen.size());
  const Eigen::VectorXd y = Eigen::Map<const Eigen::VectorXd>(excess.data(), count);
  const Eigen::VectorXd b = Eigen::Map<const Eigen::VectorXd>(bounds.data(), count);
  const double without = squared_error(chosen, y, b, 1);
  double least = (1 - kLeastGain) * without;
  std::int32_t best = 1;
  for (std::int32_t processors = 2; processors <= kMostProcessors; ++processors) {
    const double error = squared_error(chosen, y, b, processors);
    if (error < least) {
      least = error;
      best = processors;
    }
  }
  return best;
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
  std::vector<double> flops;
  std::vector<double> bytes;
  Machine machine;
  machine.overhead_ns = 1e300;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double ns = std::exp(log_ns[i]);
    machine.overhead_ns = std::min(machine.overhead_ns, ns);
    if (rows[i].work.flops && *rows[i].work.flops > 0) flops.push_back(*rows[i].work.flops / ns);
    if (rows[i].work.bytes() > 0) bytes.push_back(rows[i].work.bytes() / ns);
  }
  // The fastest row does some work, too.
  machine.overhead_ns = rows.empty() ? 1 : 0.6 * machine.overhead_ns;
  if (!flops.empty()) machine.flops_per_ns = quantile(std::move(flops), kBestShare);
  if (!bytes.empty()) machine.bytes_per_ns = quantile(std::move(bytes), kBestShare);
  machine.processors = learn_processors(rows, log_ns, machine);
  return machine;
}

}  // namespace oplat::estimate
