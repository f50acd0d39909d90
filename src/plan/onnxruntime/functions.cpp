// SPDX-License-Identifier: Apache-2.0
/// Operators that ONNX defines by nodes of others. Where the CPU provider has no kernel for one, or
/// none for its type, the runtime runs the nodes of the definition
/// (core/framework/graph_partitioner.cc). Four are written out here as it does; the others are
/// refused, since a plan that keeps them whole is of a kernel that nobody runs.
#include <algorithm>
#include <array>
#include <span>

#include "base/text.hpp"
#include "plan/onnxruntime/functions.hpp"
#include "plan/onnxruntime/passes.hpp"

namespace oplat::plan::ort {
namespace {

using ir::Dtype;

constexpr std::array kF32 = {Dtype::F32};
constexpr std::array kF32AndF64 = {Dtype::F32, Dtype::F64};
constexpr std::array kOfSums = {Dtype::F32, Dtype::F64, Dtype::I32, Dtype::I64};
constexpr std::array kOfRelu = {Dtype::F32, Dtype::F64, Dtype::I32, Dtype::I8};
constexpr std::array kOfRange = {Dtype::F32, Dtype::F64, Dtype::I16, Dtype::I32, Dtype::I64};
constexpr std::array kOfClip = {Dtype::F32, Dtype::F64, Dtype::I8,  Dtype::U8,
                                Dtype::I32, Dtype::U32, Dtype::I64, Dtype::U64};
constexpr std::array kAllNumbers = {Dtype::F32, Dtype::F64, Dtype::I8,  Dtype::U8,  Dtype::I16,
                                    Dtype::U16, Dtype::I32, Dtype::U32, Dtype::I64, Dtype::U64};
constexpr std::array kIndices = {Dtype::I32, Dtype::I64};

/// An operator that is a function from a version on, and the types of its first operand that the
/// CPU provider of 1.31.1 has a kernel for (of half precision see check_type()).
struct DefinedOperator {
  std::string_view op;
  std::int64_t since = 0;
  std::span<const Dtype> types;
};
constexpr DefinedOperator kDefinedOperators[] = {{"AffineGrid", 20, kF32AndF64},
                                                 {"Attention", 23, kF32},
                                                 {"Bernoulli", 15, {}},
                                                 {"BlackmanWindow", 17, kIndices},
                                                 {"CastLike", 15, {}},
                                                 {"Celu", 12, kF32},
                                                 {"CenterCropPad", 18, {}},
                                                 {"Clip", 13, kOfClip},
                                                 {"DynamicQuantizeLinear", 11, kF32},
                                                 {"Elu", 6, kF32},
                                                 {"Gelu", 20, kF32},
                                                 {"GreaterOrEqual", 12, kAllNumbers},
                                                 {"GroupNormalization", 18, {}},
                                                 {"HammingWindow", 17, kIndices},
                                                 {"HannWindow", 17, kIndices},
                                                 {"HardSigmoid", 6, kF32},
                                                 {"HardSwish", 14, {}},
                                                 {"LayerNormalization", 17, kF32AndF64},
                                                 {"LeakyRelu", 16, kF32},
                                                 {"LessOrEqual", 12, kAllNumbers},
                                                 {"LogSoftmax", 13, kF32AndF64},
                                                 {"MeanVarianceNormalization", 9, kF32},
                                                 {"Mish", 18, {}},
                                                 {"NegativeLogLikelihoodLoss", 12, {}},
                                                 {"PRelu", 16, kF32},
                                                 {"RMSNormalization", 23, kF32AndF64},
                                                 {"Range", 11, kOfRange},
                                                 {"ReduceL1", 18, kOfSums},
                                                 {"ReduceL2", 18, kOfSums},
                                                 {"ReduceLogSum", 18, kOfSums},
                                                 {"ReduceLogSumExp", 18, kOfSums},
                                                 {"ReduceSumSquare", 18, kOfSums},
                                                 {"Relu", 14, kOfRelu},
                                                 {"RotaryEmbedding", 23, kF32},
                                                 {"Selu", 6, kF32},
                                                 {"SequenceMap", 17, {}},
                                                 {"Shrink", 9, kAllNumbers},
                                                 {"Softmax", 13, kF32AndF64},
                                                 {"SoftmaxCrossEntropyLoss", 12, {}},
                                                 {"Softplus", 1, kF32},
                                                 {"Softsign", 1, kF32},
                                                 {"Swish", 24, {}},
                                                 {"ThresholdedRelu", 10, kF32}};

constexpr bool is_before(const DefinedOperator& a, const DefinedOperator& b) { return a.op < b.op; }
static_assert(std::is_sorted(std::begin(kDefinedOperators), std::end(kDefinedOperators),
                             is_before));

/// Operators of whose earliest versions the CPU provider has no kernel, by the first version that
/// it has one of. Those that its optimiser takes away before it looks for kernels are not listed.
struct FirstVersion {
  std::int64_t since = 0;
  std::span<const std::string_view> ops;
};
constexpr std::string_view kSince2[] = {"GlobalLpPool", "LpPool", "Pad", "Split"};
constexpr std::string_view kSince4[] = {"Concat"};
constexpr std::string_view kSince6[] = {"Abs",        "Cast",        "Ceil",
                                        "Clip",       "Elu",         "Exp",
                                        "Floor",      "HardSigmoid", "InstanceNormalization",
                                        "LeakyRelu",  "Log",         "Max",
                                        "Mean",       "Min",         "Neg",
                                        "Reciprocal", "Relu",        "Selu",
                                        "Sigmoid",    "Sqrt",        "Sum",
                                        "Tanh",       "Tile"};
constexpr std::string_view kSince7[] = {
    "Add",  "And", "AveragePool", "Div",   "Equal", "GRU", "Gemm", "Greater",  "LSTM",
    "Less", "Mul", "Or",          "PRelu", "Pow",   "RNN", "Sub",  "Upsample", "Xor"};
constexpr FirstVersion kFirstVersions[] = {{2, kSince2}, {4, kSince4}, {6, kSince6}, {7, kSince7}};

Status check_version(const Net& net, NodeId id) {
  constexpr std::int64_t kAllSince = 7;
  if (net.opset() < 1 || net.opset() >= kAllSince || !net.node(id).domain.empty()) return {};
  const std::string_view op = net.node(id).op;
  for (const FirstVersion& one : kFirstVersions) {
    if (net.opset() >= one.since || std::find(one.ops.begin(), one.ops.end(), op) == one.ops.end())
      continue;
    return fail(
        Code::Refused,
        "the node '{}' ({}): the runtime has no kernel for this operator before operator set {}, "
        "and the model uses {}; export it with a later one",
        base::printable(net.node(id).source->name), base::printable(op), one.since, net.opset());
  }
  return {};
}

/// Nodes of a definition, one after the other.
class Definition {
 public:
  Definition(Net& net, NodeId id)
      : net_(net), source_(net.node(id).source), result_(net.result(id)) {
    net.remove(id);
  }
  TensorId add(std::string_view op, Ids inputs, const Tensor& like,
               std::vector<ir::NamedValue> attributes = {}) {
    return add(op, std::move(inputs), like.dtype, like.dims, std::move(attributes));
  }
  TensorId add(std::string_view op, Ids inputs, Dtype dtype, Dims dims,
               std::vector<ir::NamedValue> attributes = {}) {
    const TensorId made = net_.add_tensor(dtype, dims);
    net_.add("", op, std::move(inputs), {made}, source_, std::move(attributes));
    return made;
  }
  /// The last, which writes the function's result.
  void end(std::string_view op, Ids inputs) {
    net_.add("", op, std::move(inputs), {result_}, source_);
  }

 private:
  Net& net_;
  const ir::Node* source_;
  TensorId result_;
};

void write_hard_swish(Net& net, NodeId id) {
  const TensorId x = net.input(id, 0);
  const Tensor like = net.tensor(x);
  constexpr double kSixth = 0.16666667163372040;
  Definition body(net, id);
  const TensorId inner = body.add("HardSigmoid", {x}, like, {{"alpha", kSixth}, {"beta", 0.5}});
  body.end("Mul", {x, inner});
}

void write_mish(Net& net, NodeId id) {
  const TensorId x = net.input(id, 0);
  const Tensor like = net.tensor(x);
  Definition body(net, id);
  const TensorId plus = body.add("Softplus", {x}, like);
  const TensorId tanh = body.add("Tanh", {plus}, like);
  body.end("Mul", {x, tanh});
}

constexpr std::int64_t kNumberOfF32 = 1;  // onnx.proto, TensorProto.DataType

void write_swish(Net& net, NodeId id) {
  const TensorId x = net.input(id, 0);
  const Tensor like = net.tensor(x);
  const double alpha = net.attribute_real(id, "alpha", 1);
  Definition body(net, id);
  const TensorId number = net.add_constant(Dtype::F32, Dims());
  net.set_value(number, ir::List{ir::Value(alpha)});
  const TensorId cast = body.add("Cast", {number}, Dtype::F32, Dims(), {{"to", kNumberOfF32}});
  const TensorId scaled = body.add("Mul", {cast, x}, like);
  const TensorId sigmoid = body.add("Sigmoid", {scaled}, like);
  body.end("Mul", {x, sigmoid});
}

/// From this version on a GroupNormalization has a scale for each channel, not for each group.
constexpr std::int64_t kScaleByChannel = 21;

/// Groups of channels, where the definition fits the operands.
std::optional<std::int64_t> groups_of(const Net& net, NodeId id) {
  const Dims& x = net.tensor(net.input(id, 0)).dims;
  const std::int64_t groups = net.attribute_int(id, "num_groups", 0);
  if (groups < 1 || x.size() < 3 || x.size() >= static_cast<int>(Dims::kMaxRank) ||
      x[1] % groups != 0 || x.elements() < 1 || net.input(id, 1) == kNone ||
      net.input(id, 2) == kNone ||
      net.attribute_int(id, "stash_type", kNumberOfF32) != kNumberOfF32)
    return std::nullopt;
  const std::int64_t scales = net.opset() >= kScaleByChannel ? x[1] : groups;
  for (const std::size_t i : {std::size_t{1}, std::size_t{2}})
    if (net.tensor(net.input(id, i)).dims.elements() != scales) return std::nullopt;
  return groups;
}

/// From kScaleByChannel on the definition casts to the type that it computes in, too.
void write_group_norm(Net& net, NodeId id) {
  const bool by_channel = net.opset() >= kScaleByChannel;
  const TensorId x = net.input(id, 0), scale = net.input(id, 1), bias = net.input(id, 2);
  const Tensor like = net.tensor(x);
  const std::int64_t groups = *groups_of(net, id);
  const std::int64_t n = like.dims[0], per_group = like.dims[1] / groups;
  const Dims of_scale = net.tensor(scale).dims, of_bias = net.tensor(bias).dims;
  const std::vector<ir::NamedValue> to_float = {{"to", kNumberOfF32}};
  const double epsilon = net.attribute_real(id, "epsilon", 1e-5);
  Definition body(net, id);
  const auto ints = [](std::int64_t count) { return Dims{count}; };
  const TensorId small = net.add_constant(Dtype::F32, ints(1));
  net.set_value(small, ir::List{ir::Value(epsilon)});
  const TensorId least = body.add("Cast", {small}, Dtype::F32, ints(1), to_float);
  const TensorId wide = by_channel ? body.add("Cast", {x}, Dtype::F32, like.dims, to_float) : x;
  const TensorId shape = body.add("Shape", {wide}, Dtype::I64, ints(like.dims.size()));
  const TensorId channels = body.add("Shape", {x}, Dtype::I64, ints(1),
                                     {{"start", std::int64_t{1}}, {"end", std::int64_t{2}}});
  const TensorId count = net.add_ints({groups});
  const TensorId size = body.add("Div", {channels, count}, Dtype::I64, ints(1));
  const TensorId batch = body.add("Shape", {x}, Dtype::I64, ints(1),
                                  {{"start", std::int64_t{0}}, {"end", std::int64_t{1}}});
  const TensorId rest =
      body.add("Shape", {x}, Dtype::I64, ints(like.dims.size() - 2), {{"start", std::int64_t{2}}});
  const TensorId grouped = body.add("Concat", {batch, count, size, rest}, Dtype::I64,
                                    ints(like.dims.size() + 1), {{"axis", std::int64_t{0}}});
  Dims split = {n, groups, per_group};
  for (int i = 2; i < like.dims.size(); ++i) split.push(like.dims[i]);
  const Dims flat = {n, groups, like.dims.elements() / n / groups};
  const Dims one = {n, groups, 1};
  const TensorId parted = body.add("Reshape", {wide, grouped}, Dtype::F32, split);
  const TensorId three = net.add_ints({0, 0, -1});
  const TensorId x3 = body.add("Reshape", {parted, three}, Dtype::F32, flat);
  const TensorId last = net.add_ints({2});
  const TensorId mean = body.add("ReduceMean", {x3, last}, Dtype::F32, one);
  const TensorId square = body.add("Mul", {x3, x3}, Dtype::F32, flat);
  const TensorId mean_of_square = body.add("ReduceMean", {square, last}, Dtype::F32, one);
  const TensorId square_of_mean = body.add("Mul", {mean, mean}, Dtype::F32, one);
  const TensorId variance = body.add("Sub", {mean_of_square, square_of_mean}, Dtype::F32, one);
  const TensorId above = body.add("Add", {variance, least}, Dtype::F32, one);
  const TensorId deviation = body.add("Sqrt", {above}, Dtype::F32, one);
  const TensorId off = body.add("Sub", {x3, mean}, Dtype::F32, flat);
  TensorId normal = body.add("Div", {off, deviation}, Dtype::F32, flat);
  Dims scaled = flat;
  if (by_channel) {
    scaled = {n, like.dims[1], like.dims.elements() / n / like.dims[1]};
    normal = body.add("Reshape", {normal, shape}, Dtype::F32, like.dims);
    normal = body.add("Reshape", {normal, three}, Dtype::F32, scaled);
    normal = body.add("Cast", {normal}, Dtype::F32, scaled, to_float);
  }
  const TensorId column = net.add_ints({1, -1, 1});
  const TensorId scale_cast = body.add("Cast", {scale}, Dtype::F32, of_scale, to_float);
  const TensorId bias_cast = body.add("Cast", {bias}, Dtype::F32, of_bias, to_float);
  const TensorId scale3 =
      body.add("Reshape", {scale_cast, column}, Dtype::F32, {1, of_scale.elements(), 1});
  const TensorId bias3 =
      body.add("Reshape", {bias_cast, column}, Dtype::F32, {1, of_bias.elements(), 1});
  const TensorId product = body.add("Mul", {scale3, normal}, Dtype::F32, scaled);
  const TensorId sum = body.add("Add", {product, bias3}, Dtype::F32, scaled);
  body.end("Reshape", {sum, shape});
}

using Write = void (*)(Net&, NodeId);
constexpr std::pair<std::string_view, Write> kWritten[] = {{kWrittenOperators[0], write_group_norm},
                                                           {kWrittenOperators[1], write_hard_swish},
                                                           {kWrittenOperators[2], write_mish},
                                                           {kWrittenOperators[3], write_swish}};
static_assert(std::size(kWritten) == kWrittenOperators.size());

/// What writes the node out; nullptr: nothing does.
Write writer_of(const Net& net, NodeId id) {
  const auto* const found = std::find_if(std::begin(kWritten), std::end(kWritten),
                                         [&](const auto& one) { return net.is(id, one.first); });
  if (found == std::end(kWritten) || net.tensor(net.input(id, 0)).dtype != Dtype::F32 ||
      (found->second == write_group_norm && !groups_of(net, id)))
    return nullptr;
  return found->second;
}

}  // namespace

Status check_kernel(const Net& net, NodeId id) {
  OPLAT_CHECK(check_version(net, id));
  const Node& node = net.node(id);
  if (!node.domain.empty()) return {};
  const DefinedOperator wanted{node.op, 0, {}};
  const auto* const found = std::lower_bound(std::begin(kDefinedOperators),
                                             std::end(kDefinedOperators), wanted, is_before);
  if (found == std::end(kDefinedOperators) || !is_same(found->op, node.op) ||
      net.opset() < found->since || net.input(id, 0) == kNone || writer_of(net, id) != nullptr)
    return {};
  const Dtype dtype = net.tensor(net.input(id, 0)).dtype;
  if (std::find(found->types.begin(), found->types.end(), dtype) != found->types.end()) return {};
  return fail(Code::Refused,
              "the node '{}' ({} of {}): the runtime has no kernel for it and expands it into "
              "other operators, which the rules do not know; use --plan runtime",
              base::printable(node.source->name), base::printable(node.op), ir::name(dtype));
}

bool inline_functions(Net& net, const Machine&) {
  bool changed = false;
  for (const NodeId id : net.order()) {
    const Write write = writer_of(net, id);
    if (write == nullptr) continue;
    write(net, id);
    changed = true;
  }
  return changed;
}

}  // namespace oplat::plan::ort
