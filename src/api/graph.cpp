// SPDX-License-Identifier: Apache-2.0
#include "oplat/graph.hpp"

#include <set>
#include <utility>

#include "api/boundary.hpp"
#include "api/values.hpp"
#include "formats/format_reader.hpp"

namespace oplat {

struct Graph::Impl {
  std::string path;
  ModelInputs model_inputs;
  std::vector<NamedTensor> inputs;
  std::vector<NamedTensor> outputs;
  std::vector<Node> nodes;
  std::uint64_t weight_bytes = 0;
};

namespace {

std::string name_of(const ir::Graph& graph, ir::TensorId id) {
  return id == ir::kNoTensor ? std::string() : graph.tensors[static_cast<std::size_t>(id)].name;
}

std::vector<NamedTensor> named_tensors(const ir::Graph& graph,
                                       const std::vector<ir::TensorId>& ids) {
  std::vector<NamedTensor> named;
  for (const ir::TensorId id : ids) {
    if (id == ir::kNoTensor) continue;
    const ir::TensorInfo& info = graph.tensors[static_cast<std::size_t>(id)];
    named.push_back({info.name, api::tensor_of(info.dtype, info.constant, info.shape)});
  }
  return named;
}

std::uint64_t distinct_weight_bytes(const ir::Graph& graph) {
  std::set<std::pair<std::uint64_t, std::uint64_t>> seen;
  std::uint64_t bytes = 0;
  for (const ir::TensorInfo& info : graph.tensors) {
    if (!info.constant || !seen.insert({info.constant_bytes, info.constant_hash}).second) continue;
    bytes += info.constant_bytes;
  }
  return bytes;
}

}  // namespace

Result<Graph> Graph::read(const std::string& path, const ModelInputs& inputs) {
  const app::ModelInputs asked = api::inputs_of(inputs);
  OPLAT_API_CHECK(app::check_model_file(path));
  OPLAT_API_TRY(source, base::Source::open(path));
  OPLAT_API_TRY(reader, formats::reader_for(source));
  OPLAT_API_TRY(graph, reader->read(source, asked.shapes));
  auto impl = std::make_shared<Impl>();
  impl->path = path;
  impl->model_inputs = inputs;
  impl->inputs = named_tensors(graph, graph.inputs);
  impl->outputs = named_tensors(graph, graph.outputs);
  impl->weight_bytes = distinct_weight_bytes(graph);
  for (const ir::Node& node : graph.nodes) {
    Node& to = impl->nodes.emplace_back();
    to.name = node.name;
    to.op = api::qualified_op(node.domain, node.op);
    for (const ir::TensorId id : node.inputs) to.inputs.push_back(name_of(graph, id));
    for (const ir::TensorId id : node.outputs) to.outputs.push_back(name_of(graph, id));
  }
  return Graph(std::move(impl));
}

Graph::Graph(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
const std::string& Graph::path() const { return impl_->path; }
const ModelInputs& Graph::model_inputs() const { return impl_->model_inputs; }
const std::vector<NamedTensor>& Graph::inputs() const { return impl_->inputs; }
const std::vector<NamedTensor>& Graph::outputs() const { return impl_->outputs; }
const std::vector<Node>& Graph::nodes() const { return impl_->nodes; }
std::uint64_t Graph::weight_bytes() const { return impl_->weight_bytes; }

}  // namespace oplat
