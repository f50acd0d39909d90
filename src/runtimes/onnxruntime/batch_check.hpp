// SPDX-License-Identifier: Apache-2.0
/// Whether a model whose fixed batch was rewritten still computes what it did, for each image.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.hpp"
#include "ir/graph.hpp"
#include "plan/plan.hpp"

namespace oplat::runtimes::onnxruntime {

/// What one run of a graph executed, by the names of its nodes.
struct GraphRun {
  ir::Graph graph;
  std::vector<plan::NodeRun> runs;
};

/// Compares one run of the model with one of the rewritten model, whose nodes are the same: exactly
/// one dimension of each result that data reach must have grown with the batch. Code::Usage names
/// the first that has not.
Status check_batch(const GraphRun& before, const GraphRun& after, std::int64_t from,
                   std::int64_t to);

/// Bytes of inputs and results when they take the most, where each is freed once nothing reads it
/// any more: what a run needs besides the weights, however a runtime orders its memory. Of a graph
/// without bodies. Sizes that the run does not say count as nothing.
double peak_bytes(const GraphRun& run);

}  // namespace oplat::runtimes::onnxruntime
