// SPDX-License-Identifier: Apache-2.0
/// Small ONNX models, written field by field.
#include "unit/formats/models.hpp"

#include <algorithm>
#include <utility>

namespace oplat::formats::onnx::testing {

void add_value(wire::ValueInfo& info, const std::string& name, std::int32_t type,
               const Names& dims) {
  info.set_name(name);
  wire::TensorType& tensor = *info.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(type);
  wire::TensorShape& shape = *tensor.mutable_shape();
  for (const std::string& dim : dims) {
    wire::Dimension& out = *shape.add_dim();
    if (dim == "?") continue;
    if (dim.find_first_not_of("0123456789") == std::string::npos) {
      out.set_dim_value(std::stoll(dim));
    } else {
      out.set_dim_param(dim);
    }
  }
}

void add_input(wire::Model& model, const std::string& name, const Names& dims, std::int32_t type) {
  add_value(*model.mutable_graph()->add_input(), name, type, dims);
}

void add_output(wire::Model& model, const std::string& name, const Names& dims) {
  add_value(*model.mutable_graph()->add_output(), name, kF32, dims);
}

wire::Node& add_node(wire::Graph& graph, const std::string& op, const Names& inputs,
                     const Names& outputs) {
  wire::Node& node = *graph.add_node();
  node.set_op_type(op);
  node.set_name(op + std::to_string(graph.node_size() - 1));
  for (const std::string& input : inputs) node.add_input(input);
  for (const std::string& output : outputs) node.add_output(output);
  return node;
}

wire::Tensor& add_tensor(wire::Graph& graph, const std::string& name, std::int32_t type,
                         const std::vector<std::int64_t>& dims) {
  wire::Tensor& tensor = *graph.add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(type);
  for (const std::int64_t dim : dims) tensor.add_dims(dim);
  return tensor;
}

wire::Attribute& add_attribute(wire::Node& node, const std::string& name, std::int32_t type) {
  wire::Attribute& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(type);
  return attribute;
}

wire::Model empty_model() {
  wire::Model model;
  model.set_ir_version(8);
  model.mutable_graph()->set_name("g");
  model.add_opset_import()->set_version(17);
  return model;
}

wire::Model small_model() {
  wire::Model model = empty_model();
  add_input(model, "x", {"N", "4"});
  add_tensor(*model.mutable_graph(), "w", kF32, {4, 2})
      .set_raw_data(raw(std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8}));
  add_node(*model.mutable_graph(), "MatMul", {"x", "w"}, {"h"});
  add_node(*model.mutable_graph(), "Relu", {"h"}, {"y"});
  add_output(model, "y", {"N", "2"});
  return model;
}

wire::Model nested_model(int depth) {
  wire::Graph body;
  add_node(body, "Identity", {"x"}, {"y"});
  body.add_output()->set_name("y");
  for (int i = 0; i < depth; ++i) {
    wire::Graph outer;
    wire::Node& node = add_node(outer, "If", {"c"}, {"y"});
    add_attribute(node, "then_branch", 5).mutable_g()->Swap(&body);
    outer.add_output()->set_name("y");
    body.Swap(&outer);
  }
  wire::Model model = empty_model();
  model.mutable_graph()->Swap(&body);
  add_input(model, "c", {}, kBool);
  add_input(model, "x", {"4"});
  return model;
}

base::Source source_of(const wire::Model& model) {
  return base::Source::from_bytes("net.onnx", model.SerializeAsString());
}

Result<Model> load(const wire::Model& model) { return Model::load(source_of(model)); }

Result<ir::Graph> graph_of(const wire::Model& model) {
  OPLAT_TRY(loaded, load(model));
  return loaded.graph();
}

}  // namespace oplat::formats::onnx::testing
