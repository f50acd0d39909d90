// SPDX-License-Identifier: Apache-2.0
/// The runtime's own plan of a model: what it executes after all its optimisations.
#pragma once

#include <string_view>
#include <vector>

#include "formats/onnx.hpp"
#include "plan/records.hpp"
#include "runtimes/onnxruntime/batch_check.hpp"
#include "runtimes/onnxruntime/inputs.hpp"
#include "runtimes/onnxruntime/session.hpp"
#include "runtimes/protocol.hpp"

namespace oplat::runtimes::onnxruntime {

/// The graph of `model` with shapes of its inner tensors, as far as the runtime infers them.
Result<ir::Graph> graph_with_shapes(const Api& api, const formats::onnx::Model& model);

/// What one run of the model executes without any optimisation.
Result<GraphRun> run_as_it_is(const Api& api, const formats::onnx::Model& model,
                              const std::vector<InputData>& data, const SessionOptions& options);

/// Lets the runtime optimise `model` (its shapes are fixed), names the nodes of the result, runs it
/// once under the profiler and joins the two. Fills kernels, weight_bytes and activation_bytes of a
/// Plan. `made_up` ends the message of a run that fails, not that of a model which the runtime does
/// not load at all.
Result<plan::Plan> make_plan(const Api& api, const formats::onnx::Model& model,
                             const std::vector<InputData>& data, std::string_view made_up,
                             const SessionOptions& options);

/// What one execution of the nodes of make_plan() takes inside the model: from the fastest of some
/// profiled runs to their lower quartile. The profiler's own work, which is timed on a kernel of
/// next to none, is taken off as far as it is known. Nodes with bodies are left out, and all nodes
/// if there are too many executions to record. `further` makes other inputs for runs behind the
/// first (vary_inputs()); empty where the same will do.
Result<NodeTimes> time_nodes(const Api& api, const formats::onnx::Model& model,
                             const std::vector<InputData>& inputs, const InputMaker& further,
                             const SessionOptions& options);

}  // namespace oplat::runtimes::onnxruntime
