// SPDX-License-Identifier: Apache-2.0
/// Cache states as one more number of a description, so that one model learns all of them.
#pragma once

#include <array>
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

/// Sets the state of each sample, by its footprint among those of the same key: the least is hot,
/// the rest are cold where more than `cold_from` bytes lie between two uses.
void put_states(std::span<Sample> samples, std::optional<double> cold_from);
/// The sample as models learn it, its state the last of its numbers; std::nullopt if the key has no
/// description.
std::optional<ir::Description> description_of(const Sample& sample, const ir::Catalogue& catalogue);

/// Sets the state, which is the last of the numbers, too: rows of two states are two points.
void append_state(ir::Description& description, std::size_t state);

}  // namespace oplat::estimate
