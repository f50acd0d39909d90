// SPDX-License-Identifier: Apache-2.0
/// Operators whose results have the sizes of an operand, or of all together.
#include "plan/onnxruntime/shapes/rules.hpp"

namespace oplat::plan::ort::shapes {
namespace {

bool like_first(Net& net, NodeId id) {
  if (!has(net, id, 0)) return false;
  const Tensor first = operand(net, id, 0);
  for (std::size_t i = 0; i < net.node(id).outputs.size(); ++i)
    set(net, id, i, first.dtype, first.dims);
  return true;
}

bool broadcast_as(Net& net, NodeId id, std::size_t from, std::optional<ir::Dtype> dtype) {
  if (!has(net, id, from)) return false;
  Dims dims = operand(net, id, from).dims;
  const ir::Dtype own = operand(net, id, from).dtype;
  for (std::size_t i = 0; i < net.node(id).inputs.size(); ++i) {
    if (!has(net, id, i)) continue;
    const auto both = broadcast(dims, operand(net, id, i).dims);
    if (!both) return false;
    dims = *both;
  }
  set(net, id, 0, dtype.value_or(own), dims);
  return true;
}

bool has_all(const Net& net, NodeId id, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    if (!has(net, id, i)) return false;
  return net.node(id).inputs.size() == count;
}

bool variadic(Net& net, NodeId id) { return broadcast_as(net, id, 0, std::nullopt); }

bool elementwise(Net& net, NodeId id) {
  return has_all(net, id, 2) && broadcast_as(net, id, 0, std::nullopt);
}

bool comparison(Net& net, NodeId id) {
  return has_all(net, id, 2) && broadcast_as(net, id, 0, ir::Dtype::Bool);
}

bool where(Net& net, NodeId id) {
  return has_all(net, id, 3) && broadcast_as(net, id, 1, std::nullopt);
}

bool to_bool(Net& net, NodeId id) {
  set(net, id, 0, ir::Dtype::Bool, operand(net, id, 0).dims);
  return true;
}

bool dropout(Net& net, NodeId id) {
  const Tensor first = operand(net, id, 0);
  set(net, id, 0, first.dtype, first.dims);
  set(net, id, 1, ir::Dtype::Bool, first.dims);
  return true;
}

/// ONNX numbers element types so (onnx.proto, TensorProto.DataType).
std::optional<ir::Dtype> dtype_numbered(std::int64_t number) {
  using ir::Dtype;
  switch (number) {
    case 1:
      return Dtype::F32;
    case 2:
      return Dtype::U8;
    case 3:
      return Dtype::I8;
    case 4:
      return Dtype::U16;
    case 5:
      return Dtype::I16;
    case 6:
      return Dtype::I32;
    case 7:
      return Dtype::I64;
    case 9:
      return Dtype::Bool;
    case 10:
      return Dtype::F16;
    case 11:
      return Dtype::F64;
    case 12:
      return Dtype::U32;
    case 13:
      return Dtype::U64;
    case 16:
      return Dtype::BF16;
    default:
      return std::nullopt;
  }
}

bool cast(Net& net, NodeId id) {
  const auto dtype = dtype_numbered(net.attribute_int(id, "to", 0));
  if (!dtype) return false;
  set(net, id, 0, *dtype, operand(net, id, 0).dims);
  return true;
}

bool normalised(Net& net, NodeId id) {
  const Tensor x = operand(net, id, 0);
  set(net, id, 0, x.dtype, x.dims);
  // Results beyond the first are those of training, or statistics.
  return net.node(id).outputs.size() == 1;
}

/// A type that the node may name, else `otherwise`.
std::optional<ir::Dtype> output_dtype(const Net& net, NodeId id, ir::Dtype otherwise) {
  const std::int64_t number = net.attribute_int(id, "output_dtype", 0);
  return number == 0 ? otherwise : dtype_numbered(number);
}

bool quantise(Net& net, NodeId id) {
  if (!has(net, id, 1)) return false;
  const auto dtype =
      has(net, id, 2) ? operand(net, id, 2).dtype : output_dtype(net, id, ir::Dtype::U8);
  if (dtype) set(net, id, 0, *dtype, operand(net, id, 0).dims);
  return dtype.has_value();
}

bool dequantise(Net& net, NodeId id) {
  if (!has(net, id, 1)) return false;
  const auto dtype = output_dtype(net, id, operand(net, id, 1).dtype);
  if (dtype) set(net, id, 0, *dtype, operand(net, id, 0).dims);
  return dtype.has_value();
}

bool dynamic_quantise(Net& net, NodeId id) {
  set(net, id, 0, ir::Dtype::U8, operand(net, id, 0).dims);
  set(net, id, 1, ir::Dtype::F32, Dims());
  set(net, id, 2, ir::Dtype::U8, Dims());
  return true;
}

bool qlinear_binary(Net& net, NodeId id) {
  if (!has(net, id, 3)) return false;
  const auto dims = broadcast(operand(net, id, 0).dims, operand(net, id, 3).dims);
  if (dims) set(net, id, 0, operand(net, id, 0).dtype, *dims);
  return dims.has_value();
}

constexpr std::string_view kLikeFirst[] = {"Relu",
                                           "Sigmoid",
                                           "Tanh",
                                           "Erf",
                                           "Sqrt",
                                           "Exp",
                                           "Log",
                                           "Neg",
                                           "Abs",
                                           "Clip",
                                           "HardSigmoid",
                                           "HardSwish",
                                           "LeakyRelu",
                                           "Elu",
                                           "Selu",
                                           "Celu",
                                           "ThresholdedRelu",
                                           "Gelu",
                                           "Softplus",
                                           "Softsign",
                                           "Floor",
                                           "Ceil",
                                           "Round",
                                           "Reciprocal",
                                           "Sign",
                                           "Sin",
                                           "Cos",
                                           "Tan",
                                           "Asin",
                                           "Acos",
                                           "Atan",
                                           "Sinh",
                                           "Cosh",
                                           "Asinh",
                                           "Acosh",
                                           "Atanh",
                                           "Not",
                                           "Identity",
                                           "Softmax",
                                           "LogSoftmax",
                                           "Hardmax",
                                           "Mish",
                                           "LRN",
                                           "InstanceNormalization",
                                           "GroupNormalization",
                                           "LpNormalization",
                                           "MeanVarianceNormalization",
                                           "CumSum",
                                           "Trilu",
                                           "ScatterND",
                                           "ScatterElements",
                                           "Shrink",
                                           "BitwiseNot",
                                           "Swish",
                                           "RMSNormalization",
                                           "SimplifiedLayerNormalization"};
constexpr std::string_view kOfTwo[] = {"Add",      "Sub",        "Mul",      "Div", "Pow",
                                       "Mod",      "And",        "Or",       "Xor", "PRelu",
                                       "BitShift", "BitwiseAnd", "BitwiseOr"};
constexpr std::string_view kOfMany[] = {"Sum", "Max", "Min", "Mean"};
constexpr std::string_view kComparisons[] = {"Equal", "Greater", "Less", "GreaterOrEqual",
                                             "LessOrEqual"};
constexpr std::string_view kLikeFirstOfContrib[] = {"Gelu",
                                                    "QuickGelu",
                                                    "FastGelu",
                                                    "BiasGelu",
                                                    "SkipLayerNormalization",
                                                    "SkipSimplifiedLayerNormalization",
                                                    "QLinearSigmoid",
                                                    "QLinearLeakyRelu",
                                                    "QLinearSoftmax"};

}  // namespace

void add_elementwise(Rules& to) {
  for (const std::string_view op : kLikeFirst) to.onnx.emplace(op, like_first);
  for (const std::string_view op : kOfTwo) to.onnx.emplace(op, elementwise);
  for (const std::string_view op : kOfMany) to.onnx.emplace(op, variadic);
  for (const std::string_view op : kComparisons) to.onnx.emplace(op, comparison);
  to.onnx.insert({{"Where", where},
                  {"IsNaN", to_bool},
                  {"IsInf", to_bool},
                  {"Dropout", dropout},
                  {"Cast", cast},
                  {"BatchNormalization", normalised},
                  {"LayerNormalization", normalised},
                  {"QuantizeLinear", quantise},
                  {"DequantizeLinear", dequantise},
                  {"DynamicQuantizeLinear", dynamic_quantise}});
  for (const std::string_view op : kLikeFirstOfContrib) to.contrib.emplace(op, like_first);
  to.contrib.insert({{"QLinearAdd", qlinear_binary},
                     {"QLinearMul", qlinear_binary},
                     {"QuantizeLinear", quantise},
                     {"DequantizeLinear", dequantise}});
}

}  // namespace oplat::plan::ort::shapes
