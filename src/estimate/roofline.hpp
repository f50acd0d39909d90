// SPDX-License-Identifier: Apache-2.0
/// The last link, asked for by `--missing roofline`: a roofline fitted to the table's own rows.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "estimate/estimator.hpp"
#include "ir/catalogue.hpp"
#include "ir/key.hpp"

namespace oplat::estimate {

/// time = scale * (overhead_ns + max(flops / peak, bytes / bandwidth)).
struct Roofline {
  double overhead_ns = 0;  ///< the fastest row, at most kMaxOverheadNs
  std::optional<double>
      flops_per_ns;         ///< the most that any row achieved; nothing: no row has a formula
  double bytes_per_ns = 0;  ///< the most that any row achieved
  /// median of time / bound over the rows: how far off the roof they typically are
  double scale = 1;
  double sd_log = 0;  ///< of log(time / (scale * bound)) over the rows, at least kRooflineSd
  std::int64_t rows = 0;
  friend bool operator==(const Roofline&, const Roofline&) = default;
};

/// A roofline knows no algorithm and no cache: a factor of two either way is ordinary.
inline constexpr double kRooflineSd = 0.7;
/// Without a formula for the operations only the bytes bound the time.
inline constexpr double kRooflineBytesOnlySd = 1.0;
/// A table of large kernels only says nothing about dispatch; no runtime known needs more than
/// this.
inline constexpr double kMaxOverheadNs = 10'000;

/// std::nullopt if no sample has a key that parses with every size known.
std::optional<Roofline> fit_roofline(std::span<const Sample> samples,
                                     const ir::Catalogue& catalogue);
/// std::nullopt if the key's sizes are unknown.
std::optional<Estimate> estimate_roofline(const Roofline& roofline, const ir::Key& key,
                                          const ir::Catalogue& catalogue);

/// Learns a roofline from the samples. nullptr where fit_roofline() finds none: such a table leaves
/// missing kernels missing. `catalogue` must outlive the estimator.
std::unique_ptr<Estimator> make_roofline(std::span<const Sample> samples,
                                         const ir::Catalogue& catalogue);

}  // namespace oplat::estimate
