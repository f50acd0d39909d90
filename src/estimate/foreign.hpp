// SPDX-License-Identifier: Apache-2.0
/// What other tenants of a machine bring into the last level (docs/adr/0091).
///
/// A row out of the core's own cache is measured with copies of its kernel in turn, so that all of
/// them lie between two uses of a weight, and with them time. A host's neighbours go on filling the
/// last level meanwhile: a weight that lies 4 MiB and 2 ms back is as if it lay 4 MiB and what they
/// brought in back. So rows of long kernels are nearer to cold ones than those of short kernels,
/// and say how much that is.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "estimate/estimator.hpp"
#include "estimate/exact.hpp"
#include "estimate/reuse.hpp"
#include "table/memory_hierarchy.hpp"

namespace oplat::estimate {

/// A row that lost more than this to others says nothing of the last level.
inline constexpr double kMostLost = 0.7;

/// Bytes a ns, 0 to 100: with which kernels that were measured hot, in the last level and cold lie
/// where they do between hot and cold, in the mean magnitude of what is left. 0 where time makes no
/// difference; std::nullopt if kernels are few. `samples`: as read_samples_in_states() has them.
std::optional<double> foreign_rate_by_rows(std::span<const Sample> samples, const Ramp& last);

/// The same by looks at memory after waits (docs/adr/0095): with which as much of a pool is gone
/// after a wait as its loads say. 0 where nothing is gone; std::nullopt if nobody looked, or memory
/// is hardly slower than the last level.
std::optional<double> foreign_rate_by_looks(const table::MemoryHierarchy& memory, const Ramp& last);

/// By rows where there are enough, since they are of the whole time of measuring, else by looks; 0
/// if nobody knows.
double foreign_rate(std::span<const Sample> samples, const table::MemoryHierarchy& memory,
                    const Ramp& last);

/// A row of the last level, of which others took the share `lost` (at most kMostLost), as if they
/// had not: by the kernel's own hot and cold rows, neither below the hot one nor above itself.
/// Logarithms of times.
double without_loss(double log_ns, double hot_log_ns, double cold_log_ns, double lost);

/// Takes from the times of the last level what others made of them, where the kernel has a hot and
/// a cold row, and leaves out rows that lost more than kMostLost. `rate`: foreign_rate().
void undo_losses(std::vector<Sample>& samples, const Ramp& last, double rate);

/// read_samples_in_states() as kernels are learned from: without the losses to others.
Result<std::vector<Sample>> read_samples_to_learn(const RowSource& rows);

}  // namespace oplat::estimate
