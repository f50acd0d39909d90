// SPDX-License-Identifier: Apache-2.0
/// What a graph says about how often a Loop runs its body.
#pragma once

#include <cstdint>
#include <optional>

#include "ir/graph.hpp"

namespace oplat::plan {

/// Whether a Loop's body computes the condition, instead of handing on the one that it gets.
bool computes_condition(const ir::Graph& body);
/// Steps of the node `loop` of `graph`, >= 0, if its count is a constant and its body does not end
/// it before; std::nullopt otherwise.
std::optional<std::int64_t> constant_steps(const ir::Graph& graph, const ir::Node& loop);

}  // namespace oplat::plan
