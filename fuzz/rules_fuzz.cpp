// SPDX-License-Identifier: Apache-2.0
/// Fusion rules: read or refused, and what was read applies to a small graph, within bounds.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "compat/registry.hpp"
#include "plan/rules.hpp"

namespace {

/// A convolution, a norm, an activation, a fork and a product, named as Paddle names them.
oplat::ir::Graph small_graph(const std::string& domain) {
  oplat::ir::Graph graph;
  const auto tensor = [&](bool constant, const std::vector<std::int64_t>& dims) {
    oplat::ir::TensorInfo info;
    info.dtype = oplat::ir::Dtype::F32;
    info.shape = oplat::ir::Shape::of(dims);
    info.constant = constant;
    graph.tensors.push_back(info);
    return static_cast<oplat::ir::TensorId>(graph.tensors.size() - 1);
  };
  const auto node = [&](const char* op, std::vector<oplat::ir::TensorId> in,
                        std::vector<std::string> slots, const char* out) {
    oplat::ir::Node made;
    made.name = op + std::to_string(graph.nodes.size());
    made.domain = domain;
    made.op = op;
    made.attributes = {{"strides", oplat::ir::Value::ints({1, 1})},
                       {"groups", oplat::ir::Value(1)},
                       {"scale", oplat::ir::Value(1.0)}};
    made.inputs = std::move(in);
    made.input_slots = std::move(slots);
    made.outputs = {tensor(false, {1, 4, 8, 8})};
    made.output_slots = {out};
    graph.nodes.push_back(made);
    return made.outputs[0];
  };
  const auto x = tensor(false, {1, 4, 8, 8});
  graph.inputs = {x};
  auto y = x;
  for (int i = 0; i < 3; ++i) {
    y = node("conv2d", {tensor(true, {4, 4, 1, 1}), y}, {"Filter", "Input"}, "Output");
    y = node("relu", {y}, {"X"}, "Out");
    y = node("scale", {y}, {"X"}, "Out");
  }
  graph.outputs = {node("elementwise_add", {x, y}, {"X", "Y"}, "Out")};
  return graph;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto source = oplat::base::Source::from_bytes(
      "fuzz", std::string(reinterpret_cast<const char*>(data), size));
  const auto sets = oplat::plan::read_rules(source);
  if (!sets) {
    if (sets.error().code != oplat::Code::Input) std::abort();
    return 0;
  }
  for (const auto& set : *sets) {
    const auto fused = oplat::plan::fuse(small_graph(set.reads), set, set.options);
    if (!fused) {
      if (fused.error().code != oplat::Code::Input) std::abort();
      continue;
    }
    for (const auto& node : fused->nodes) {
      for (const auto id : node.inputs)
        if (id >= static_cast<oplat::ir::TensorId>(fused->tensors.size())) std::abort();
      (void)oplat::plan::fused_words(*fused, node);
    }
    if (const auto plan = oplat::plan::plan_of_fused(*fused, set, oplat::compat::catalogue());
        plan && plan->kernels.size() != fused->nodes.size())
      std::abort();
  }
  return 0;
}
