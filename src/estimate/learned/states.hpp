// SPDX-License-Identifier: Apache-2.0
/// Cache states as one more number of a description, so that one model learns all of them.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "estimate/estimator.hpp"
#include "estimate/reuse.hpp"
#include "ir/catalogue.hpp"
#include "ir/description.hpp"

namespace oplat::estimate {

/// Hot; out of the core's own cache; out of every cache. Rows without a state are of the first.
inline constexpr std::size_t kStates = 3;
/// Kernels of fewer weight bytes are measured hot alone: nothing of them can be evicted that would
/// matter.
inline constexpr double kWeightsThatMatter = 64.0 * 1024;

/// From how many bytes between two uses on weights are out of the core's own cache, and out of
/// every cache; infinite where that is not known.
struct StateLimits {
  double own_bytes = std::numeric_limits<double>::infinity();
  double all_bytes = std::numeric_limits<double>::infinity();
  [[nodiscard]] std::size_t state_at(double bytes) const {
    return bytes > all_bytes ? 2 : bytes >= own_bytes ? 1 : 0;
  }
};

/// Sets the state of each sample, by its footprint among those of the same key: the least is hot,
/// the rest are cold where more bytes lie between two uses than all caches hold. Of hot ones also
/// where the kernel's own bytes leave its weights.
void put_states(std::span<Sample> samples, const StateLimits& limits);
/// The state in which a kernel is that follows itself: its own bytes lie between two uses of its
/// weights. Weights that do not matter are always hot.
std::size_t state_of_its_own(const ir::Description& kernel, const StateLimits& limits);
/// The sample as models learn it, its state the last of its numbers: where its weights really were,
/// though no footprint is less. `host`: its device and setting. std::nullopt if the key has no
/// description.
std::optional<ir::Description> description_of(const Sample& sample, const ir::Catalogue& catalogue,
                                              const ir::Host& host);

/// Sets the state, which is the last of the numbers, too: rows of two states are two points.
void append_state(ir::Description& description, std::size_t state);

/// Of each row the first one of the same kernel, in whatever state: what is not known of a kernel
/// is not known in any.
std::vector<std::size_t> kernels_of(std::span<const ir::Description> rows);

}  // namespace oplat::estimate
