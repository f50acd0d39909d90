// SPDX-License-Identifier: Apache-2.0
/// Another batch for a model that fixes its own.
///
/// The problem: most exported models fix the batch of their inputs, and people want to know what
/// another batch costs. Writing it into the inputs is not enough: a Reshape to constant sizes keeps
/// the old batch, fails, or silently moves the batch into another dimension. So only what is plain
/// is rewritten, all else is refused with its reason, and a worker compares the results of all
/// nodes before and after it (runtimes/onnxruntime/batch_check.hpp) before it runs such a model.
#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/text.hpp"
#include "formats/onnx/model_impl.hpp"
#include "formats/onnx/types.hpp"

namespace oplat::formats::onnx {
namespace {

constexpr std::int64_t kMaxRank = 64;

bool is_own(const wire::Node& node) { return own_domain(node.domain()).empty(); }

std::string title(const wire::Node& node) {
  return node.name().empty() ? base::printable(node.op_type())
                             : fmt::format("{} '{}'", base::printable(node.op_type()),
                                           base::printable(node.name()));
}

/// The constant tensors of the graph by name: initialisers and what Constant nodes hold.
std::unordered_map<std::string, const wire::Tensor*> constants_of(const wire::Graph& graph) {
  std::unordered_map<std::string, const wire::Tensor*> constants;
  for (const wire::Tensor& tensor : graph.initializer()) constants[tensor.name()] = &tensor;
  for (const wire::Node& node : graph.node()) {
    if (!is_own(node) || node.op_type() != "Constant" || node.output_size() != 1) continue;
    for (const wire::Attribute& attribute : node.attribute())
      if (attribute.has_t()) constants[node.output(0)] = &attribute.t();
  }
  return constants;
}

/// The integers of a small constant; std::nullopt if it is not one.
std::optional<std::vector<std::int64_t>> integers(const wire::Tensor& tensor) {
  const auto elements = small_elements(tensor, kMaxRank);
  if (!elements) return std::nullopt;
  std::vector<std::int64_t> numbers;
  for (const ir::Value& element : *elements) {
    if (element.integer() == nullptr) return std::nullopt;
    numbers.push_back(*element.integer());
  }
  return numbers;
}

/// The batch that all inputs begin with, or why there is none.
tl::expected<std::int64_t, std::string> common_batch(const std::vector<wire::ValueInfo*>& inputs) {
  std::optional<std::int64_t> common;
  for (const wire::ValueInfo* input : inputs) {
    const wire::TensorShape& shape = input->type().tensor_type().shape();
    const std::string name = base::printable(input->name());
    if (shape.dim_size() == 0)
      return tl::unexpected(fmt::format("the input '{}' has no dimension for it", name));
    if (shape.dim_size() < 2 && inputs.size() > 1)
      return tl::unexpected(fmt::format(
          "the input '{}' has one dimension, which may be another than the batch", name));
    const std::int64_t leading = shape.dim(0).dim_value();
    if (leading < 1 || common.value_or(leading) != leading)
      return tl::unexpected(std::string("its inputs do not begin with one batch"));
    common = leading;
  }
  if (!common) return tl::unexpected(std::string("it has no inputs"));
  return *common;
}

/// What no rewriting of inputs reaches.
std::optional<std::string> obstacle(const wire::Model& model) {
  for (const wire::Node& node : model.graph().node()) {
    const bool bodied = std::any_of(node.attribute().begin(), node.attribute().end(),
                                    [](const auto& a) { return a.has_g() || a.graphs_size() > 0; });
    if (bodied) return fmt::format("{} has bodies of its own", title(node));
    if (node.op_type() == "LSTM" || node.op_type() == "GRU" || node.op_type() == "RNN")
      return fmt::format("{} may take time for its first dimension", title(node));
  }
  return std::nullopt;
}

/// One Reshape of data whose batch grows: its constant sizes, rewritten where they begin with the
/// old batch. std::nullopt: nothing to do. An error says what is in the way.
tl::expected<std::optional<std::vector<std::int64_t>>, std::string> rewritten_sizes(
    const wire::Node& node, const wire::Tensor& sizes, std::int64_t from, std::int64_t to) {
  const auto target = integers(sizes);
  if (!target) return tl::unexpected(fmt::format("the sizes of {} cannot be read", title(node)));
  const std::string text = fmt::format("[{}]", fmt::join(*target, ", "));
  if (target->empty())
    return tl::unexpected(fmt::format("{} makes a number of its data", title(node)));
  if (target->front() == -1 || target->front() == 0) return std::nullopt;
  if (target->front() != from)
    return tl::unexpected(
        fmt::format("{} has constant sizes {}, of which none is the batch", title(node), text));
  std::vector<std::int64_t> rewritten = *target;
  rewritten.front() = to;
  return rewritten;
}

wire::Tensor sizes_tensor(const std::string& name, const std::vector<std::int64_t>& sizes) {
  wire::Tensor tensor;
  tensor.set_name(name);
  tensor.set_data_type(onnx_type_of(ir::Dtype::I64));
  tensor.add_dims(static_cast<std::int64_t>(sizes.size()));
  for (const std::int64_t size : sizes) tensor.add_int64_data(size);
  return tensor;
}

/// Rewrites constant sizes of Reshapes that the inputs' data reach; says what is in the way.
std::optional<std::string> rewrite_reshapes(wire::Graph& graph,
                                            const std::vector<wire::ValueInfo*>& inputs,
                                            std::int64_t from, std::int64_t to) {
  const auto constants = constants_of(graph);
  std::unordered_set<std::string> data;
  for (const wire::ValueInfo* input : inputs) data.insert(input->name());
  std::vector<wire::Tensor> added;
  for (wire::Node& node : *graph.mutable_node()) {
    const bool reached = std::any_of(node.input().begin(), node.input().end(),
                                     [&](const auto& name) { return data.contains(name); });
    // What is computed from sizes follows from the sizes.
    if (!reached || (is_own(node) && (node.op_type() == "Shape" || node.op_type() == "Size")))
      continue;
    data.insert(node.output().begin(), node.output().end());
    if (!is_own(node) || node.op_type() != "Reshape" || !data.contains(node.input(0))) continue;
    if (node.input_size() < 2)
      return fmt::format("{} is of an opset that has its sizes in an attribute", title(node));
    const auto constant = constants.find(node.input(1));
    if (constant == constants.end()) continue;  // computed: the worker compares what comes of it
    auto sizes = rewritten_sizes(node, *constant->second, from, to);
    if (!sizes) return sizes.error();
    if (!*sizes) continue;
    const std::string name = fmt::format("oplat_batch_{}_{}", to, added.size());
    node.set_input(1, name);
    added.push_back(sizes_tensor(name, **sizes));
  }
  for (wire::Tensor& tensor : added) *graph.add_initializer() = std::move(tensor);
  return std::nullopt;
}

}  // namespace

tl::expected<std::int64_t, std::string> rewrite_batch(wire::Model& model,
                                                      const std::vector<wire::ValueInfo*>& inputs,
                                                      std::int64_t batch) {
  auto from = common_batch(inputs);
  if (!from) return from;
  if (auto found = obstacle(model)) return tl::unexpected(*std::move(found));
  wire::Graph& graph = *model.mutable_graph();
  if (auto found = rewrite_reshapes(graph, inputs, *from, batch))
    return tl::unexpected(*std::move(found));
  for (wire::ValueInfo* input : inputs)
    input->mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(0)->set_dim_value(
        batch);
  // The runtime infers results itself; the sizes that the file gives them are of the old batch.
  for (wire::ValueInfo& output : *graph.mutable_output()) {
    if (output.type().has_tensor_type())
      output.mutable_type()->mutable_tensor_type()->clear_shape();
  }
  graph.clear_value_info();
  return from;
}

}  // namespace oplat::formats::onnx
