// SPDX-License-Identifier: Apache-2.0
/// Applies rules to a graph.
#pragma once

#include "base/result.hpp"
#include "plan/rules/rule.hpp"
#include "plan/rules/work_graph.hpp"

namespace oplat::plan::rules {

/// Puts what the rule leaves in the place of its matches. Code::Input where more than `most` steps
/// were needed since `steps` was 0.
Status apply(WorkGraph& graph, const Rule& rule, std::size_t& steps, std::size_t most);
/// Puts casts where numbers of the narrow type begin and end, and gives tensors their types.
void apply(WorkGraph& graph, const CastRule& rule);

}  // namespace oplat::plan::rules
