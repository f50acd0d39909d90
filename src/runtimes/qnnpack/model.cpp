// SPDX-License-Identifier: Apache-2.0
#include "runtimes/qnnpack/model.hpp"

#include <optional>
#include <utility>

#include "base/files.hpp"
#include "base/random.hpp"
#include "base/text.hpp"
#include "ir/key.hpp"

namespace oplat::runtimes::qnnpack {
namespace {

std::vector<plan::SeenTensor> seen(const ir::Graph& graph, const std::vector<ir::TensorId>& ids) {
  std::vector<plan::SeenTensor> tensors;
  for (const ir::TensorId id : ids) {
    if (id == ir::kNoTensor) continue;
    const ir::TensorInfo& tensor = graph.tensors[static_cast<std::size_t>(id)];
    tensors.push_back({tensor.dtype, tensor.shape});
  }
  return tensors;
}

}  // namespace

Result<Net> read_net(const base::Source& source, const formats::ShapeOptions& shapes) {
  const std::string& path = source.name();
  OPLAT_TRY(reader, formats::reader_for(source));
  if (reader->name() != "caffe2")
    return fail(Code::Input, "{}: a model of format {}; qnnpack runs Caffe2 nets", path,
                reader->name());
  OPLAT_TRY(graph, reader->read(source, shapes));
  Net net;
  net.graph = std::move(graph);
  std::vector<plan::NodeRun> runs;
  for (const ir::Node& node : net.graph.nodes)
    runs.push_back({node.name, seen(net.graph, node.inputs), seen(net.graph, node.outputs), {}});
  OPLAT_TRY(kernels, plan::kernels_of(net.graph, runs));
  if (kernels.size() != net.graph.nodes.size())
    return fail(Code::Input, "{}: two operators of the net have one name", path);
  net.kernels = std::move(kernels);
  net.footprint = plan::footprint(net.graph, runs);
  if (!net.graph.inputs.empty()) {
    const ir::Shape& shape =
        net.graph.tensors[static_cast<std::size_t>(net.graph.inputs.front())].shape;
    if (!shape.dims.empty()) net.batch = shape.dims.front().value_or(1);
  }
  return net;
}

std::variant<std::vector<Spec>, table::Unsupported, table::Failed> specs_of(const Net& net) {
  std::vector<Spec> specs;
  for (const plan::PlanKernel& kernel : net.kernels) {
    const auto key = ir::parse(kernel.key);
    if (!key) return table::Failed{key.error().message};
    auto read = read_spec(*key);
    if (auto* unsupported = std::get_if<table::Unsupported>(&read))
      return table::Unsupported{
          fmt::format("operator {}: {}", base::printable(kernel.name), unsupported->reason)};
    if (auto* failed = std::get_if<table::Failed>(&read))
      return table::Failed{
          fmt::format("operator {}: {}", base::printable(kernel.name), failed->reason)};
    specs.push_back(std::move(std::get<Spec>(read)));
  }
  return specs;
}

Result<Program> make_program(const Net& net, const std::vector<Spec>& specs, std::uint64_t seed) {
  Program program;
  std::vector<std::optional<Slot>> slots(net.graph.tensors.size());
  for (std::size_t n = 0; n < specs.size(); ++n) {
    const ir::Node& node = net.graph.nodes[n];
    StepOptions step;
    for (const ir::TensorId id : node.inputs) {
      if (id == ir::kNoTensor) continue;
      const auto tensor = static_cast<std::size_t>(id);
      if (net.graph.tensors[tensor].constant) continue;
      const std::size_t input = step.inputs.size();
      if (input >= specs[n].inputs.size())
        return fail(Code::Internal, "operator {}: more operands than its key has",
                    base::printable(node.name));
      if (!slots[tensor])
        slots[tensor] = program.add_input(specs[n].inputs[input], base::mix_seed(seed, tensor));
      step.inputs.push_back(*slots[tensor]);
    }
    if (step.inputs.size() != specs[n].inputs.size() || node.outputs.empty()) {
      return fail(Code::Internal, "operator {}: fewer operands or results than its key has",
                  base::printable(node.name));
    }
    // Of the node's place: equal layers of a net have weights of their own.
    const Constants constants = make_constants(specs[n], base::mix_seed(~seed, n));
    step.constants = &constants;
    OPLAT_TRY(result, program.add_step(specs[n], step));
    if (node.outputs.front() != ir::kNoTensor)
      slots[static_cast<std::size_t>(node.outputs.front())] = result;
  }
  program.finish(1);
  return program;
}

}  // namespace oplat::runtimes::qnnpack
