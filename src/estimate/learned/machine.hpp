// SPDX-License-Identifier: Apache-2.0
/// Machine: what the rows say about the device that made them.
#pragma once

#include <cstdint>
#include <span>

#include "estimate/learned/space.hpp"
#include "ir/description.hpp"

namespace oplat::estimate {

/// Bound of the time: overhead_ns + max(flops / flops_per_ns, bytes / bytes_per_ns, steps in ns).
struct Machine {
  double overhead_ns = 1;
  double flops_per_ns = 1;
  double bytes_per_ns = 1;
  /// Tiles of a product that a device works off at once: work comes in waves of so many. That is
  /// the number of its multiprocessors or cores, or a multiple where each takes several. 1 where
  /// the rows show no such steps.
  std::int32_t processors = 1;
  [[nodiscard]] double bound_ns(const ir::Work& work) const;
  /// What no kernel stays below that lies `outside` doublings beyond the rows: the overhead, and of
  /// the bound a share that shrinks with the distance, since larger kernels may reach rates that no
  /// measured one did.
  [[nodiscard]] double floor_ns(const ir::Work& work, double outside) const;
};

/// Of one of ir::Work::steps.
inline constexpr double kStepNs = 1;

/// A tile of a matrix product as kernels cut it.
struct Tile {
  double rows;
  double columns;
};
inline constexpr Tile kTiles[] = {{256, 128}, {128, 128}, {128, 64}, {64, 64},
                                  {128, 32},  {32, 32},   {256, 64}};
inline constexpr std::size_t kTileCount = std::size(kTiles);

/// How many tiles the products of all groups are cut into.
double tiles_of(const ir::Contraction& product, const Tile& tile);
/// ln of the multiply-adds of one tile a wave, over all waves.
double log_wave_work(const ir::Contraction& product, const Tile& tile, std::int32_t processors);

/// The overhead is that of the fastest row; the rates are those that all but the best rows stay
/// below; the processors are learn_waves().
Machine learn_machine(std::span<const ir::Description> rows, std::span<const double> log_ns,
                      const Space& space);

}  // namespace oplat::estimate
