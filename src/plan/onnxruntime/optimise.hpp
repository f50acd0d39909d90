// SPDX-License-Identifier: Apache-2.0
/// ONNX Runtime's plan of a model, derived from the model alone.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "ir/graph.hpp"
#include "plan/onnxruntime/passes.hpp"
#include "plan/records.hpp"

namespace oplat::plan::ort {

/// Passes that are repeated together until none changes the graph, at most `rounds` times.
struct Level {
  struct Step {
    const NamedPass* pass = nullptr;
    bool once = false;  ///< only in the first round
  };
  std::vector<Step> steps;
  int rounds = 1;
};

/// The model as the runtime writes it after its optimisations: every size known, nodes with names
/// of their own. `graph` must outlive it. Code::Refused names what the rules do not know.
Result<Net> optimise(const ir::Graph& graph, const std::vector<Level>& levels,
                     const Machine& machine);
/// The kernels of such a graph in the order of their execution; a plan without model, batch,
/// identity and source.
Result<Plan> plan_of(const GraphView& optimised, const Machine& machine);

/// The rule file data/fusion/onnxruntime.yaml.
std::string_view rules_text();

}  // namespace oplat::plan::ort
