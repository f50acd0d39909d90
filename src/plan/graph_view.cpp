// SPDX-License-Identifier: Apache-2.0
#include "plan/graph_view.hpp"

namespace oplat::plan {

GraphView::GraphView(const ir::Graph& graph)
    : inputs(graph.inputs), outputs(graph.outputs), opsets(&graph.opsets), whole(&graph) {
  tensors.reserve(graph.tensors.size());
  for (const ir::TensorInfo& one : graph.tensors)
    tensors.push_back({one.name, one.dtype, one.shape.ranked, one.constant, one.overridable,
                       one.outer, one.shape.dims, one.constant_bytes, one.constant_hash,
                       one.small_value ? one.small_value->list() : nullptr});
  nodes.reserve(graph.nodes.size());
  for (const ir::Node& one : graph.nodes)
    nodes.push_back({one.name,
                     one.domain,
                     one.op,
                     one.since,
                     {one.attributes, {}},
                     one.inputs,
                     one.outputs,
                     one.captured,
                     &one});
}

}  // namespace oplat::plan
