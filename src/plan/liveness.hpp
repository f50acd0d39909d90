// SPDX-License-Identifier: Apache-2.0
/// Which results a runtime may write over an operand.
#pragma once

#include <span>
#include <vector>

#include "ir/operator_info.hpp"
#include "plan/graph_view.hpp"

namespace oplat::plan {

/// For each node of `graph`, the position in Node::inputs of the operand that result 0 may
/// overwrite, or nothing. The rule is that of ONNX Runtime's allocation planner
/// (core/framework/allocation_planner.cc, FindReusableInput): the kernel allows it, it reads the
/// operand's buffer once and nobody does afterwards, and the buffer is an inner one. Whether dtype
/// and shape agree is for the caller, who knows them. `infos`: what is known of each node's
/// operator, nullptr for nothing.
std::vector<std::vector<std::size_t>> overwritable_operands(
    const GraphView& graph, std::span<const ir::OperatorInfo* const> infos);

}  // namespace oplat::plan
