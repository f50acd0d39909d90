// SPDX-License-Identifier: Apache-2.0
/// Where no dimension is called a batch, what all inputs share is taken for one.
#include "formats/batch.hpp"

#include <algorithm>
#include <optional>

#include "base/text.hpp"

namespace oplat::formats {
namespace {

bool is_empty_input(const FedInput& input) {
  return std::find(input.dims.begin(), input.dims.end(), 0) != input.dims.end();
}

/// Of an input that a recurrent operator reads, time comes first unless it says otherwise.
bool time_comes_first(const ir::Graph& graph, const std::string& input) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const ir::Node& node) {
    const bool recurrent = node.op == "LSTM" || node.op == "GRU" || node.op == "RNN";
    if (!recurrent || node.inputs.empty() || node.inputs[0] == ir::kNoTensor) return false;
    const bool reads = graph.tensors[static_cast<std::size_t>(node.inputs[0])].name == input;
    return reads && std::none_of(node.attributes.begin(), node.attributes.end(), [](const auto& a) {
             return a.first == "layout" && a.second.integer() != nullptr &&
                    *a.second.integer() == 1;
           });
  });
}

}  // namespace

std::int64_t leading_dimension(const ir::Graph& graph, std::span<const FedInput> inputs) {
  std::optional<std::int64_t> batch;
  for (const FedInput& input : inputs) {
    if (input.dims.empty() || is_empty_input(input)) continue;
    if (input.dims.size() < 2 && inputs.size() > 1) continue;
    const bool second = input.dims.size() > 1 && time_comes_first(graph, input.name);
    const std::int64_t found = input.dims[second ? 1 : 0];
    if (batch.value_or(found) != found) return 1;
    batch = found;
  }
  return batch.value_or(1);
}

std::optional<std::string> nothing_to_run(const ir::Graph& graph, std::span<const FedInput> inputs,
                                          std::int64_t batch) {
  const bool computes_nothing =
      !inputs.empty() && std::all_of(inputs.begin(), inputs.end(), is_empty_input) &&
      std::all_of(graph.outputs.begin(), graph.outputs.end(), [&](ir::TensorId id) {
        const ir::Shape& shape = graph.tensors[static_cast<std::size_t>(id)].shape;
        return shape.ranked && shape.elements() == 0;
      });
  if (batch >= 1 && !computes_nothing) return std::nullopt;
  const auto first = std::find_if(inputs.begin(), inputs.end(), is_empty_input);
  if (first == inputs.end()) return std::nullopt;
  return fmt::format(
      "input '{}' has the shape [{}], which holds nothing to compute with; set the batch with "
      "--batch if the model leaves it open",
      base::printable(first->name), fmt::join(first->dims, ","));
}

}  // namespace oplat::formats
