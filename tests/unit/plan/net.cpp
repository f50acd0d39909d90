// SPDX-License-Identifier: Apache-2.0
/// Graphs written by hand, and runs as a runtime reports them.
#include "unit/plan/net.hpp"

namespace oplat::plan::testing {

SeenTensor seen(const Dims& dims, ir::Dtype dtype) { return {dtype, ir::Shape::of(dims)}; }

ir::TensorId Net::id(const std::string& name) {
  if (name.empty()) return ir::kNoTensor;
  for (std::size_t i = 0; i < graph.tensors.size(); ++i) {
    if (graph.tensors[i].name == name) return static_cast<ir::TensorId>(i);
  }
  ir::TensorInfo info;
  info.name = name;
  info.shape.ranked = false;
  graph.tensors.push_back(std::move(info));
  return static_cast<ir::TensorId>(graph.tensors.size() - 1);
}

ir::TensorInfo& Net::constant(const std::string& name, const Dims& dims, ir::Dtype dtype) {
  ir::TensorInfo& info = tensor(name);
  info.constant = true;
  info.dtype = dtype;
  info.shape = ir::Shape::of(dims);
  info.constant_hash = std::hash<std::string>()(name);
  info.constant_bytes = static_cast<std::uint64_t>(*info.shape.elements() * *ir::bits(dtype) / 8);
  return info;
}

ir::Node& Net::node(const std::string& op, const std::vector<std::string>& inputs,
                    const std::vector<std::string>& outputs, const std::string& name) {
  ir::Node out;
  out.op = op;
  out.name = name.empty() ? op : name;
  for (const std::string& input : inputs) out.inputs.push_back(id(input));
  for (const std::string& output : outputs) out.outputs.push_back(id(output));
  graph.nodes.push_back(std::move(out));
  return graph.nodes.back();
}

std::vector<std::string> keys(const Net& net, const std::vector<NodeRun>& runs) {
  const auto kernels = kernels_of(net.graph, runs);
  if (!kernels) return {kernels.error().message};
  std::vector<std::string> texts;
  for (const PlanKernel& kernel : *kernels) texts.push_back(kernel.key);
  return texts;
}

}  // namespace oplat::plan::testing
