// SPDX-License-Identifier: Apache-2.0
/// Nodes, attributes and initialisers.
#include "compat/tinynas/model_writer.hpp"

#include <cmath>
#include <cstring>

#include "base/hash.hpp"
#include "formats/onnx/types.hpp"
#include "formats/random_data.hpp"

namespace oplat::compat::tinynas {
namespace {

namespace wire = formats::onnx::wire;

constexpr std::int64_t kIrVersion = 8;
constexpr std::int64_t kOpset = 17;
constexpr double kMaxWrittenBytes =
    0x1p31 - 0x1p20;  // protobuf's limit, with room for all that is not a weight
constexpr float kEpsilon = 1e-5F;
constexpr float kLeak = 0.01F;  // PyTorch's default
constexpr float kMaxOfRelu6 = 6;
constexpr std::uint64_t kSeed = 1;
// AttributeProto.type
constexpr int kFloat = 1;
constexpr int kInt = 2;
constexpr int kInts = 7;

void set_type(wire::ValueInfo& info, const std::vector<std::int64_t>& dims) {
  wire::TensorType& tensor = *info.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(formats::onnx::onnx_type_of(ir::Dtype::F32));
  for (const std::int64_t dim : dims) tensor.mutable_shape()->add_dim()->set_dim_value(dim);
}

wire::Attribute& attribute(wire::Node& node, const char* name, int type) {
  wire::Attribute& out = *node.add_attribute();
  out.set_name(name);
  out.set_type(type);
  return out;
}
void set_int(wire::Node& node, const char* name, std::int64_t value) {
  attribute(node, name, kInt).set_i(value);
}
void set_float(wire::Node& node, const char* name, float value) {
  attribute(node, name, kFloat).set_f(value);
}
void set_ints(wire::Node& node, const char* name, const std::vector<std::int64_t>& values) {
  wire::Attribute& out = attribute(node, name, kInts);
  for (const std::int64_t value : values) out.add_ints(value);
}

}  // namespace

ModelWriter::ModelWriter(std::string graph_name) {
  model_.set_ir_version(kIrVersion);
  model_.set_producer_name("oplat");
  model_.add_opset_import()->set_version(kOpset);
  model_.mutable_graph()->set_name(std::move(graph_name));
}

ModelWriter::Name ModelWriter::input(const std::string& name,
                                     const std::vector<std::int64_t>& dims) {
  wire::ValueInfo& info = *model_.mutable_graph()->add_input();
  info.set_name(name);
  set_type(info, dims);
  return name;
}

wire::Node& ModelWriter::node(const std::string& name, const char* op,
                              const std::vector<Name>& inputs) {
  wire::Node& out = *model_.mutable_graph()->add_node();
  out.set_name(name);
  out.set_op_type(op);
  for (const Name& one : inputs) out.add_input(one);
  out.add_output(name);
  return out;
}

ModelWriter::Name ModelWriter::weights(const std::string& name,
                                       const std::vector<std::int64_t>& dims, double low,
                                       double high, bool both_signs) {
  double count = 1;
  for (const std::int64_t dim : dims) count *= static_cast<double>(dim);
  weight_bytes_ += count * sizeof(float);
  // Too much is an error of finish(); it is not made first.
  if (weight_bytes_ > kMaxWrittenBytes) return name;
  wire::Tensor& tensor = *model_.mutable_graph()->add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(formats::onnx::onnx_type_of(ir::Dtype::F32));
  for (const std::int64_t dim : dims) tensor.add_dims(dim);
  const formats::DataRange range{low, high, both_signs, 2, false};
  tensor.set_raw_data(formats::random_data(ir::Dtype::F32, static_cast<std::int64_t>(count), range,
                                           base::hash64(name, kSeed)));
  return name;
}

ModelWriter::Name ModelWriter::convolution(const std::string& name, const Name& x,
                                           const ConvTuple& conv, std::int64_t padding) {
  const std::int64_t group = conv.type == ConvType::Depthwise ? conv.out_c : conv.group;
  const std::int64_t in_c = conv.type == ConvType::Depthwise ? conv.out_c : conv.in_c;
  const std::int64_t k = conv.kernel;
  // Sums of as many products as a filter has weights stay near one.
  const double scale = 1 / std::sqrt(static_cast<double>(in_c / group) * static_cast<double>(k) *
                                     static_cast<double>(k));
  const Name weight =
      weights(name + ".weight", {conv.out_c, in_c / group, k, k}, 0.75 * scale, 1.25 * scale, true);
  wire::Node& convolution = node(name, "Conv", {x, weight});
  set_ints(convolution, "dilations", {1, 1});
  set_int(convolution, "group", group);
  set_ints(convolution, "kernel_shape", {k, k});
  set_ints(convolution, "pads", {padding, padding, padding, padding});
  set_ints(convolution, "strides", {conv.stride, conv.stride});
  const std::string norm = name + ".norm";
  const std::vector<std::int64_t> channels = {conv.out_c};
  const std::vector<Name> inputs = {name, weights(norm + ".scale", channels, 0.75, 1.25, false),
                                    weights(norm + ".bias", channels, 0.05, 0.15, true),
                                    weights(norm + ".mean", channels, 0.05, 0.15, true),
                                    weights(norm + ".variance", channels, 0.75, 1.25, false)};
  set_float(node(norm, "BatchNormalization", inputs), "epsilon", kEpsilon);
  return norm;
}

ModelWriter::Name ModelWriter::activation(const std::string& name, const Name& x, Activation kind) {
  switch (kind) {
    case Activation::Relu:
      node(name, "Relu", {x});
      break;
    case Activation::Sigmoid:
      node(name, "Sigmoid", {x});
      break;
    case Activation::LeakyRelu:
      set_float(node(name, "LeakyRelu", {x}), "alpha", kLeak);
      break;
    case Activation::Swish:
      return multiply(name, x, sigmoid(name + ".sigmoid", x));
    case Activation::Relu6: {
      const auto scalar = [&](const std::string& tensor_name, float value) {
        wire::Tensor& tensor = *model_.mutable_graph()->add_initializer();
        tensor.set_name(tensor_name);
        tensor.set_data_type(formats::onnx::onnx_type_of(ir::Dtype::F32));
        std::string raw(sizeof value, '\0');
        std::memcpy(raw.data(), &value, sizeof value);
        tensor.set_raw_data(raw);
        return tensor_name;
      };
      node(name, "Clip", {x, scalar(name + ".min", 0), scalar(name + ".max", kMaxOfRelu6)});
      break;
    }
  }
  return name;
}

ModelWriter::Name ModelWriter::add(const std::string& name, const Name& a, const Name& b) {
  node(name, "Add", {a, b});
  return name;
}
ModelWriter::Name ModelWriter::multiply(const std::string& name, const Name& a, const Name& b) {
  node(name, "Mul", {a, b});
  return name;
}
ModelWriter::Name ModelWriter::sigmoid(const std::string& name, const Name& x) {
  node(name, "Sigmoid", {x});
  return name;
}
ModelWriter::Name ModelWriter::global_average_pool(const std::string& name, const Name& x) {
  node(name, "GlobalAveragePool", {x});
  return name;
}

ModelWriter::Name ModelWriter::average_pool(const std::string& name, const Name& x,
                                            std::int64_t stride, bool odd) {
  wire::Node& pool = node(name, "AveragePool", {x});
  if (odd) set_int(pool, "ceil_mode", 1);
  set_ints(pool, "kernel_shape", {stride, stride});
  set_ints(pool, "strides", {stride, stride});
  return name;
}

Result<std::string> ModelWriter::finish(const Name& x, const std::vector<std::int64_t>& dims) {
  if (weight_bytes_ > kMaxWrittenBytes) {
    return fail(Code::Input, "its weights take {:.1f} GiB; the limit for an ONNX file is 2 GiB",
                weight_bytes_ * 0x1p-30);
  }
  // The last node's result gets the name, so that nothing is copied.
  wire::Graph& graph = *model_.mutable_graph();
  for (wire::Node& one : *graph.mutable_node()) {
    if (one.output_size() == 1 && one.output(0) == x) one.set_output(0, "output");
  }
  wire::ValueInfo& info = *graph.add_output();
  info.set_name("output");
  set_type(info, dims);
  return model_.SerializeAsString();
}

}  // namespace oplat::compat::tinynas
