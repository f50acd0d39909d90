// SPDX-License-Identifier: Apache-2.0
/// Machine: what the rows say about the device that made them.
#pragma once

#include <cstdint>
#include <span>

#include "estimate/learned/lines.hpp"
#include "oplat/ir/description.hpp"

namespace oplat::estimate {

/// Bound of the time: overhead_ns + max(flops / flops_per_ns, bytes / bytes_per_ns).
struct Machine {
  double overhead_ns = 1;
  double flops_per_ns = 1;
  double bytes_per_ns = 1;
  /// Units among which a device deals out the tiles of a product (multiprocessors, cores): work comes in waves of so
  /// many. 1 where the rows show no such steps.
  std::int32_t processors = 1;
  [[nodiscard]] double bound_ns(const ir::Work& work) const;
};

/// A tile of a matrix product as kernels cut it.
struct Tile {
  double rows;
  double columns;
};
inline constexpr Tile kTiles[] = {{256, 128}, {128, 128}, {128, 64}, {64, 64}, {128, 32}, {32, 32}, {256, 64}};
inline constexpr std::size_t kTileCount = std::size(kTiles);

/// How many tiles the products of all groups are cut into.
double tiles_of(const ir::Contraction& product, const Tile& tile);
/// ln of the multiply-adds that one unit does while all units work off the tiles wave by wave.
double log_wave_work(const ir::Contraction& product, const Tile& tile, std::int32_t processors);

/// The overhead is that of the fastest row; the rates are those that all but the best rows stay below. One processor.
Machine learn_machine(std::span<const ir::Description> rows, std::span<const double> log_ns);
/// The number of processors whose waves explain best how times change from one site of the lines to the next; 1 where
/// none does.
std::int32_t learn_processors(std::span<const ir::Description> sites, std::span<const double> log_ns, const Lines& lines,
                              const Machine& machine);

}  // namespace oplat::estimate
