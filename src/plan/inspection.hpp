// SPDX-License-Identifier: Apache-2.0
/// What a model asks of any device: its nodes as kernels, its parameters, and the memory that its
/// results take at once. No runtime, no times.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "ir/catalogue.hpp"
#include "ir/graph.hpp"
#include "plan/records.hpp"

namespace oplat::plan {

/// The nodes of the graph as the file has them, one kernel each in their order, with the file's
/// names. Sizes that the file does not say are unknown in the keys. Code::Input: a key that no
/// table holds.
Result<std::vector<PlanKernel>> kernels_of_file(const ir::Graph& graph);

/// Whether the kernels are all that runs and every size is in their keys: nothing is decided by
/// data or left to shape inference.
bool is_complete(const ir::Graph& graph, std::span<const PlanKernel> kernels);

/// Gives tensors of unknown size those that the results of kernels have, matched by the names of
/// nodes, else by their order if operators and numbers agree.
void take_sizes(std::span<const PlanKernel> kernels, ir::Graph& graph);

/// Constants of numbers, shared ones once; those of 64-bit integers and booleans are sizes and
/// switches, not parameters.
struct ParameterSum {
  double count = 0;
  double bytes = 0;
};
/// Those of bodies as well, whether they run or not.
ParameterSum parameters_of(const ir::Graph& graph);
/// Of the constants that one node reads.
ParameterSum parameters_of(const ir::Graph& graph, const ir::Node& node);
/// Of the constants that a kernel reads.
ParameterSum parameters_of(const ir::Key& key);

/// Inputs and results that are alive together at most, in the order of the nodes. Views share their
/// operand's memory; the inputs are held by the caller all the time. What kernels need for
/// themselves is not known.
struct PeakMemory {
  double bytes = 0;
  std::string node;  ///< during which; empty without a name
};
/// std::nullopt if a size is unknown.
std::optional<PeakMemory> peak_memory(const ir::Graph& graph, const ir::Catalogue& catalogue);

}  // namespace oplat::plan
