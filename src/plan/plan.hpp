// SPDX-License-Identifier: Apache-2.0
/// From a graph and what a runtime said of one run to a plan: kernels with keys and counts.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "formats/format_reader.hpp"
#include "ir/graph.hpp"
#include "plan/graph_view.hpp"
#include "plan/records.hpp"

namespace oplat::plan {

/// A tensor as one execution of a node saw it.
struct SeenTensor {
  std::optional<ir::Dtype> dtype;
  ir::Shape shape;
};

/// One execution of one node, in order of execution. Runtimes leave out operands and results that
/// are missing or not tensors, so the lists hold those that are present, in order.
struct NodeRun {
  std::string node;  ///< Node::name, unique over the graph and its bodies
  std::vector<SeenTensor> inputs;
  std::vector<SeenTensor> outputs;
  std::vector<ir::NamedValue> tags;  ///< facts of the runtime that are not attributes
  /// Place among all executions by when they ended: a node with bodies ends after what they ran, so
  /// that each of its executions gets the steps that are its own. 0: not known.
  std::size_t ended = 0;
};

/// Bytes that one run touches: constants of executed nodes once each, of those that are only picked
/// from (ir::picks_constants) what is picked, and results of executed nodes.
struct Footprint {
  double weight_bytes = 0;
  double activation_bytes = 0;
};
Footprint footprint(const ir::Graph& graph, std::span<const NodeRun> runs);

/// The kernels that ran: one entry per (node, key) in order of first execution, with the number of
/// executions. A node with bodies is a kernel, too: its time without that of its bodies' kernels;
/// that of a Loop says in tags how many steps it took ("steps") and whether data decided about them
/// ("ends=data"). A view whose result leaves the graph is tagged as copied (ir::kCopiedTag), and so
/// is a constant that does, which gets a kernel named after the output. Each says what it reads of
/// the model's inputs (PlanKernel::input_bytes). Code::Internal where a run names a node that the
/// graph lacks.
Result<std::vector<PlanKernel>> kernels_of(const ir::Graph& graph, std::span<const NodeRun> runs);

/// Those of every node of one domain.
struct DomainTags {
  std::string_view domain;
  std::vector<ir::NamedValue> tags;
};
/// The kernels of a graph without bodies whose nodes run in this order, with results of the types
/// and sizes that the graph states; and their footprint.
Result<std::vector<PlanKernel>> kernels_of_nodes(const GraphView& graph,
                                                 std::span<const std::size_t> order,
                                                 const DomainTags& tags, Footprint& bytes);

}  // namespace oplat::plan
