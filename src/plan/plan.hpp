// SPDX-License-Identifier: Apache-2.0
/// From a graph and what a runtime said of one run to a plan: kernels with keys and counts.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "formats/format_reader.hpp"
#include "ir/graph.hpp"
#include "plan/records.hpp"

namespace oplat::plan {

/// A tensor as one execution of a node saw it.
struct SeenTensor {
  std::optional<ir::Dtype> dtype;
  ir::Shape shape;
};

/// One execution of one node, in order of execution. Operands and results that are absent or no
/// tensors are left out by runtimes, so the lists hold those that are present, in order.
struct NodeRun {
  std::string node;  ///< Node::name, unique over the graph and its bodies
  std::vector<SeenTensor> inputs;
  std::vector<SeenTensor> outputs;
  std::vector<ir::NamedValue> tags;  ///< facts of the runtime that are no attributes
};

/// The kernels that ran: one entry per (node, key) in order of first execution, with the number of
/// executions. Control nodes (those with bodies) are left out: their bodies' kernels stand for
/// them. Code::Internal where a run names a node that the graph lacks.
Result<std::vector<PlanKernel>> kernels_of(const ir::Graph& graph, std::span<const NodeRun> runs);

/// Bytes that one run touches: constants of executed nodes once each, and results of executed
/// nodes.
struct Footprint {
  double weight_bytes = 0;
  double activation_bytes = 0;
};
Footprint footprint(const ir::Graph& graph, std::span<const NodeRun> runs);

}  // namespace oplat::plan
