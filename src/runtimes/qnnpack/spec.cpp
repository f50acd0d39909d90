// SPDX-License-Identifier: Apache-2.0
#include "runtimes/qnnpack/spec.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.hpp"
#include "ir/dtype.hpp"

namespace oplat::runtimes::qnnpack {
namespace {

/// Largest attribute and largest tensor: far above any network, far below an overflow of our
/// products.
constexpr std::int64_t kMaxAttribute = 1 << 16;
constexpr std::int64_t kMaxElements = std::int64_t{1} << 31;
constexpr std::size_t kMaxOperands = 64;
/// Copies of the weights that packing holds at one time: ours, the tensor's, the packed ones, and
/// one in between.
constexpr double kWeightCopies = 4;

/// A refusal, or nothing.
using Refusal = std::optional<std::variant<table::Unsupported, table::Failed>>;

Refusal unsupported(std::string reason) { return table::Unsupported{std::move(reason)}; }
Refusal failed(const ir::Key& key, std::string_view what) {
  return table::Failed{fmt::format("{}: {}", base::printable(key.op), what)};
}

/// One integer; std::nullopt if it is missing, of another type or beyond all reason.
std::optional<std::int64_t> number(const ir::Value* value, std::int64_t low) {
  const std::int64_t* found = value == nullptr ? nullptr : value->integer();
  if (found == nullptr || *found < low || *found > kMaxAttribute) return std::nullopt;
  return *found;
}

/// `count` integers; nothing as above.
std::optional<Dims> numbers(const ir::Value* value, std::size_t count, std::int64_t low) {
  const ir::List* list = value == nullptr ? nullptr : value->list();
  if (list == nullptr || list->size() != count) return std::nullopt;
  Dims found;
  for (const ir::Value& entry : *list) {
    const auto one = number(&entry, low);
    if (!one) return std::nullopt;
    found.push_back(*one);
  }
  return found;
}

class SpecReader {
 public:
  explicit SpecReader(const ir::Key& key) : key_(key) {}

  Refusal read(Spec& spec);

 private:
  Refusal tensors(Spec& spec);
  Refusal activation(const ir::TensorEntry& tensor, Activation& activation) const;
  Refusal operator_of(Spec& spec);
  Refusal conv(Spec& spec);
  Refusal fully_connected(Spec& spec);
  Refusal pool(Spec& spec, Kind kind);
  Refusal sum(Spec& spec);
  Refusal shuffle(Spec& spec);
  Refusal softmax(Spec& spec);
  Refusal layout(Spec& spec, Kind kind);
  Refusal concat(Spec& spec);
  Refusal reshape(Spec& spec);
  Refusal same_shape(Spec& spec, Kind kind, bool quantised_in, bool quantised_out);

  Refusal window(Spec& spec);
  Refusal result_is(const Spec& spec, const Dims& dims) const;
  Refusal inputs_are(const Spec& spec, std::size_t count, bool quantised, std::size_t rank) const;
  /// Whether an integer attribute is missing or says `value`.
  [[nodiscard]] bool stated_as(std::string_view name, std::int64_t value) const {
    const ir::Value* found = key_.attribute(name);
    return found == nullptr || number(found, 0) == value;
  }
  [[nodiscard]] Refusal misshapen() const {
    return failed(key_, "the operands do not fit together");
  }
  [[nodiscard]] Refusal bad(std::string_view attribute) const {
    return failed(key_, fmt::format("attribute {}", attribute));
  }

  const ir::Key& key_;
  std::vector<const ir::TensorEntry*> constants_;
};

Refusal SpecReader::activation(const ir::TensorEntry& tensor, Activation& activation) const {
  if (tensor.dtype != ir::Dtype::U8 && tensor.dtype != ir::Dtype::F32)
    return unsupported(fmt::format("{} with dtype {}", key_.op, ir::name(tensor.dtype)));
  const auto elements = tensor.shape.elements();
  if (!elements || tensor.shape.dims.empty())
    return unsupported(fmt::format("{} with a shape that is not known", key_.op));
  if (*elements < 1 || *elements > kMaxElements)
    return unsupported(fmt::format("{} with a tensor of {} elements", key_.op, *elements));
  activation.quantised = tensor.dtype == ir::Dtype::U8;
  for (const auto& dim : tensor.shape.dims) activation.dims.push_back(*dim);
  activation.nhwc = activation.dims.size() == 4;
  return std::nullopt;
}

Refusal SpecReader::tensors(Spec& spec) {
  if (key_.operands.size() > kMaxOperands)
    return unsupported(fmt::format("{} with {} operands", key_.op, key_.operands.size()));
  std::vector<std::size_t> position(key_.operands.size());  // of an operand among the inputs
  for (std::size_t i = 0; i < key_.operands.size(); ++i) {
    const ir::TensorEntry* tensor = key_.operand(i);
    if (tensor == nullptr) return failed(key_, "an operand is missing");
    if (tensor->constant) {
      constants_.push_back(tensor);
      continue;
    }
    const auto* alias = std::get_if<ir::AliasEntry>(&key_.operands[i]);
    position[i] = spec.inputs.size();
    spec.source.push_back(alias == nullptr ? position[i] : position[alias->index]);
    spec.inputs.emplace_back();
    if (auto refusal = activation(*tensor, spec.inputs.back())) return refusal;
  }
  const ir::TensorEntry* result = key_.result(0);
  if (result == nullptr || spec.inputs.empty())
    return failed(key_, "there is no operand or no result");
  return activation(*result, spec.result);
}

Refusal SpecReader::result_is(const Spec& spec, const Dims& dims) const {
  if (spec.result.dims == dims) return std::nullopt;
  return failed(key_, fmt::format("the result has shape [{}], the key says [{}]",
                                  fmt::join(dims, ","), fmt::join(spec.result.dims, ",")));
}

Refusal SpecReader::inputs_are(const Spec& spec, std::size_t count, bool quantised,
                               std::size_t rank) const {
  if (spec.inputs.size() != count)
    return unsupported(fmt::format("{} of {} operands", key_.op, spec.inputs.size()));
  for (const Activation& input : spec.inputs) {
    if (input.quantised != quantised)
      return unsupported(fmt::format("{} of {}", key_.op, input.quantised ? "u8" : "f32"));
    if (rank != 0 && input.dims.size() != rank)
      return unsupported(fmt::format("{} of {} dimensions", key_.op, input.dims.size()));
  }
  return std::nullopt;
}

Refusal SpecReader::window(Spec& spec) {
  const auto pads = key_.attribute("pads") == nullptr ? std::optional(Dims(4, 0))
                                                      : numbers(key_.attribute("pads"), 4, 0);
  const auto strides = key_.attribute("strides") == nullptr
                           ? std::optional(Dims(2, 1))
                           : numbers(key_.attribute("strides"), 2, 1);
  const auto dilations = key_.attribute("dilations") == nullptr
                             ? std::optional(Dims(2, 1))
                             : numbers(key_.attribute("dilations"), 2, 1);
  const auto kernel = numbers(key_.attribute("kernels"), 2, 1);
  if (!pads) return bad("pads");
  if (!strides) return bad("strides");
  if (!dilations) return bad("dilations");
  if (!kernel) return bad("kernels");
  if ((*pads)[0] != (*pads)[2] || (*pads)[1] != (*pads)[3])
    return unsupported(fmt::format("{} with pads that differ at the two ends", key_.op));
  for (const std::size_t i : {0U, 1U}) {
    spec.window.kernel[i] = (*kernel)[i];
    spec.window.strides[i] = (*strides)[i];
    spec.window.dilations[i] = (*dilations)[i];
    spec.window.pads[i] = (*pads)[i];
  }
  return std::nullopt;
}

/// Steps of the window along height (0) or width (1) of `dims`; 0 where it does not fit.
std::int64_t steps(const Window& window, const Dims& dims, std::size_t axis) {
  const std::int64_t span = (window.kernel[axis] - 1) * window.dilations[axis] + 1;
  const std::int64_t room = dims[axis + 1] + 2 * window.pads[axis] - span;
  return room < 0 ? 0 : room / window.strides[axis] + 1;
}

Refusal SpecReader::conv(Spec& spec) {
  if (auto refusal = inputs_are(spec, 1, true, 4)) return refusal;
  if (auto refusal = window(spec)) return refusal;
  spec.kind = Kind::Conv;
  const auto group = key_.attribute("group") == nullptr ? std::optional<std::int64_t>(1)
                                                        : number(key_.attribute("group"), 1);
  if (!group) return bad("group");
  spec.group = *group;
  const Dims& x = spec.inputs[0].dims;
  if (constants_.empty() || constants_.size() > 2 || constants_[0]->dtype != ir::Dtype::U8)
    return misshapen();
  for (const auto& dim : constants_[0]->shape.dims) spec.filter.push_back(dim.value_or(0));
  const Dims& w = spec.filter;
  if (w.size() != 4 || w[0] < 1 || w[3] < 1 || w[0] % *group != 0 || x[3] % *group != 0 ||
      w[3] != x[3] / *group)
    return misshapen();
  if (w[1] != spec.window.kernel[0] || w[2] != spec.window.kernel[1]) return misshapen();
  if (const auto weights = constants_[0]->shape.elements(); !weights || *weights > kMaxElements)
    return misshapen();
  if (constants_.size() == 2 && constants_[1]->shape != ir::Shape::of({w[0]})) return misshapen();
  return result_is(spec, {x[0], steps(spec.window, x, 0), steps(spec.window, x, 1), w[0]});
}

Refusal SpecReader::fully_connected(Spec& spec) {
  if (auto refusal = inputs_are(spec, 1, true, 0)) return refusal;
  spec.kind = Kind::Fc;
  if (!stated_as("axis", 1) || !stated_as("axis_w", 1))
    return unsupported(fmt::format("{} split along another axis than 1", key_.op));
  const Dims& x = spec.inputs[0].dims;
  if (x.size() != 2 && x.size() != 4)
    return unsupported(fmt::format("{} of {} dimensions", key_.op, x.size()));
  if (constants_.empty() || constants_.size() > 2 || constants_[0]->dtype != ir::Dtype::U8)
    return misshapen();
  for (const auto& dim : constants_[0]->shape.dims) spec.filter.push_back(dim.value_or(0));
  const std::int64_t columns = spec.inputs[0].elements() / x[0];
  if (spec.filter.size() != 2 || spec.filter[0] < 1 || spec.filter[1] != columns)
    return misshapen();
  if (const auto weights = constants_[0]->shape.elements(); !weights || *weights > kMaxElements)
    return misshapen();
  if (constants_.size() == 2 && constants_[1]->shape != ir::Shape::of({spec.filter[0]}))
    return misshapen();
  return result_is(spec, {x[0], spec.filter[0]});
}

Refusal SpecReader::pool(Spec& spec, Kind kind) {
  if (auto refusal = inputs_are(spec, 1, true, 4)) return refusal;
  spec.kind = kind;
  const Dims& x = spec.inputs[0].dims;
  if (auto refusal = window(spec)) return refusal;
  for (const std::size_t axis : {0U, 1U}) {
    if (spec.window.dilations[axis] != 1)
      return unsupported(fmt::format("{} with dilations", key_.op));
    if (2 * spec.window.pads[axis] > spec.window.kernel[axis]) return misshapen();
  }
  return result_is(spec, {x[0], steps(spec.window, x, 0), steps(spec.window, x, 1), x[3]});
}

Refusal SpecReader::sum(Spec& spec) {
  if (auto refusal = inputs_are(spec, 2, true, 0)) return refusal;
  spec.kind = Kind::Sum;
  if (spec.inputs[0] != spec.inputs[1]) return misshapen();
  return result_is(spec, spec.inputs[0].dims);
}

Refusal SpecReader::shuffle(Spec& spec) {
  if (auto refusal = inputs_are(spec, 1, true, 4)) return refusal;
  spec.kind = Kind::ChannelShuffle;
  const auto group = number(key_.attribute("group"), 1);
  if (!group || spec.inputs[0].dims[3] % *group != 0) return bad("group");
  spec.group = *group;
  return result_is(spec, spec.inputs[0].dims);
}

Refusal SpecReader::softmax(Spec& spec) {
  const bool image = spec.inputs.size() == 1 && spec.inputs[0].dims.size() == 4;
  if (auto refusal = inputs_are(spec, 1, true, image ? 4 : 2)) return refusal;
  spec.kind = Kind::Softmax;
  const Dims& x = spec.inputs[0].dims;
  if (!stated_as("axis", 1))
    return unsupported(fmt::format("{} along another axis than 1", key_.op));
  // Caffe2 takes all that stands behind the axis as one vector, libtorch the channels: the same
  // where the image is a point.
  if (image && (x[1] != 1 || x[2] != 1))
    return unsupported(fmt::format("{} over an image of more than one point", key_.op));
  return result_is(spec, x);
}

Refusal SpecReader::layout(Spec& spec, Kind kind) {
  if (spec.inputs.size() != 1 || spec.inputs[0].dims.size() != 4 ||
      spec.inputs[0].quantised != spec.result.quantised)
    return misshapen();
  spec.kind = kind;
  const Dims& x = spec.inputs[0].dims;
  if (kind == Kind::ToNhwc) {
    spec.inputs[0].nhwc = false;
    return result_is(spec, {x[0], x[2], x[3], x[1]});
  }
  spec.result.nhwc = false;
  return result_is(spec, {x[0], x[3], x[1], x[2]});
}

Refusal SpecReader::concat(Spec& spec) {
  spec.kind = Kind::Concat;
  if (!stated_as("add_axis", 0)) return unsupported(fmt::format("{} along a new axis", key_.op));
  const std::size_t rank = spec.result.dims.size();
  if (auto refusal = inputs_are(spec, spec.inputs.size(), true, rank)) return refusal;
  if (rank != 2 && rank != 4) return unsupported(fmt::format("{} of {} dimensions", key_.op, rank));
  const ir::Value* axis = key_.attribute("axis");
  const auto found =
      axis == nullptr ? std::optional(static_cast<std::int64_t>(rank) - 1) : number(axis, 0);
  if (!found || *found >= static_cast<std::int64_t>(rank)) return bad("axis");
  spec.axis = static_cast<std::size_t>(*found);
  Dims dims = spec.inputs[0].dims;
  for (std::size_t i = 1; i < spec.inputs.size(); ++i) {
    Dims other = spec.inputs[i].dims;
    dims[spec.axis] += std::exchange(other[spec.axis], 0);
    Dims first = spec.inputs[0].dims;
    first[spec.axis] = 0;
    if (other != first) return misshapen();
  }
  return result_is(spec, dims);
}

Refusal SpecReader::reshape(Spec& spec) {
  if (auto refusal = inputs_are(spec, 1, true, 0)) return refusal;
  spec.kind = Kind::Reshape;
  for (const std::size_t rank : {spec.inputs[0].dims.size(), spec.result.dims.size()}) {
    if (rank != 2 && rank != 4)
      return unsupported(fmt::format("{} of {} dimensions", key_.op, rank));
  }
  if (spec.inputs[0].elements() != spec.result.elements()) return misshapen();
  return std::nullopt;
}

Refusal SpecReader::same_shape(Spec& spec, Kind kind, bool quantised_in, bool quantised_out) {
  if (auto refusal = inputs_are(spec, 1, quantised_in, 0)) return refusal;
  spec.kind = kind;
  if (spec.result.quantised != quantised_out)
    return unsupported(fmt::format("{} to {}", key_.op, spec.result.quantised ? "u8" : "f32"));
  return result_is(spec, spec.inputs[0].dims);
}

Refusal SpecReader::operator_of(Spec& spec) {
  const std::string& op = key_.op;
  if (op == "NCHW2NHWC") return layout(spec, Kind::ToNhwc);
  if (op == "NHWC2NCHW") return layout(spec, Kind::ToNchw);
  if (op == "Int8Dequantize") return same_shape(spec, Kind::Dequantize, true, false);
  if (op == "Int8Quantize") return same_shape(spec, Kind::Quantize, false, true);
  if (!op.starts_with("Int8"))
    return unsupported(
        fmt::format("caffe2:{}: QNNPACK computes in int8 only", base::printable(op)));
  if (!spec.result.quantised) return unsupported(fmt::format("{} to f32", base::printable(op)));
  const ir::Value* order = key_.attribute("order");
  if (order != nullptr && (order->text() == nullptr || *order->text() != "NHWC"))
    return unsupported(fmt::format("{} of another order than NHWC", base::printable(op)));
  spec.relu =
      op == "Int8ConvRelu" || op == "Int8FCRelu" || op == "Int8SumRelu" || op == "Int8AddRelu";
  if (op == "Int8Conv" || op == "Int8ConvRelu") return conv(spec);
  if (op == "Int8FC" || op == "Int8FCRelu") return fully_connected(spec);
  if (op == "Int8Sum" || op == "Int8Add" || op == "Int8SumRelu" || op == "Int8AddRelu")
    return sum(spec);
  if (op == "Int8AveragePool") return pool(spec, Kind::AveragePool);
  if (op == "Int8MaxPool") return pool(spec, Kind::MaxPool);
  if (op == "Int8ChannelShuffle") return shuffle(spec);
  if (op == "Int8Softmax") return softmax(spec);
  if (op == "Int8Relu") return same_shape(spec, Kind::Relu, true, true);
  if (op == "Int8Concat") return concat(spec);
  if (op == "Int8Flatten" || op == "Int8Reshape") return reshape(spec);
  return unsupported(
      fmt::format("caffe2:{}: no kernel of QNNPACK behind libtorch", base::printable(op)));
}

Refusal SpecReader::read(Spec& spec) {
  const bool dispatch = key_.domain.empty() && key_.op == "Relu";
  if (key_.domain != "caffe2" && !dispatch) {
    return unsupported(fmt::format(
        "{}{}{}: QNNPACK runs the int8 operators of Caffe2 (caffe2:Int8...)",
        base::printable(key_.domain), key_.domain.empty() ? "" : ":", base::printable(key_.op)));
  }
  if (auto refusal = tensors(spec)) return refusal;
  if (dispatch) return same_shape(spec, Kind::FloatRelu, false, false);
  return operator_of(spec);
}

}  // namespace

std::int64_t Activation::elements() const {
  std::int64_t product = 1;
  for (const std::int64_t dim : dims) product *= dim;
  return product;
}

std::int64_t Spec::fan_in() const {
  std::int64_t product = 1;
  for (std::size_t i = 1; i < filter.size(); ++i) product *= filter[i];
  return product;
}

double Spec::bytes(std::int64_t weight_sets, std::int64_t results) const {
  double activations = static_cast<double>(result.bytes()) * static_cast<double>(results);
  for (const Activation& input : inputs) activations += static_cast<double>(input.bytes());
  double weights = 0;
  if (!filter.empty())
    weights = kWeightCopies * static_cast<double>(fan_in()) * static_cast<double>(filter[0]);
  if (kind == Kind::Conv) {
    // A convolution keeps a pointer for every position of its kernel and every result pixel.
    const double pixels = static_cast<double>(result.elements() / result.dims[3]);
    weights += static_cast<double>(sizeof(void*)) * pixels *
               static_cast<double>(window.kernel[0] * window.kernel[1] * group);
  }
  return activations + weights * static_cast<double>(weight_sets);
}

Read read_spec(const ir::Key& key) {
  Spec spec;
  const Refusal refusal = SpecReader(key).read(spec);
  if (!refusal) return spec;
  return std::visit([](const auto& why) -> Read { return why; }, *refusal);
}

}  // namespace oplat::runtimes::qnnpack
