// SPDX-License-Identifier: Apache-2.0
/// Caffe2's int8 operators as calls of the dispatcher. Tensors of four dimensions are NCHW to
/// libtorch and lie in memory as NHWC.
#include "runtimes/qnnpack/kernel.hpp"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/native/quantized/PackedParams.h>

#include <array>
#include <utility>

namespace oplat::runtimes::qnnpack {
namespace {

using ConvWeights = c10::intrusive_ptr<ConvPackedParamsBase<2>>;
using LinearWeights = c10::intrusive_ptr<LinearPackedParamsBase>;
using Integers = torch::List<std::int64_t>;

/// A handle of an operator; libtorch throws where the signature is another one.
template <class Signature>
auto find(const char* name, const char* overload = "") {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, overload).typed<Signature>();
}

Integers list(const std::array<std::int64_t, 2>& pair) { return Integers({pair[0], pair[1]}); }
std::vector<std::int64_t> vector(const std::array<std::int64_t, 2>& pair) {
  return {pair[0], pair[1]};
}

/// The filter in libtorch's order (channels second, but last in memory); the data is copied.
at::Tensor filter_tensor(const Spec& spec, const Constants& constants) {
  const at::Tensor bytes = at::empty(spec.filter, at::kChar);
  std::copy(constants.filter.begin(), constants.filter.end(), bytes.data_ptr<std::int8_t>());
  const at::Tensor ordered = spec.filter.size() == 4 ? bytes.permute({0, 3, 1, 2}) : bytes;
  return at::_make_per_tensor_quantized_tensor(ordered, constants.filter_scale, 0);
}

at::Tensor bias_tensor(const Constants& constants) {
  const at::Tensor bias = at::empty({static_cast<std::int64_t>(constants.bias.size())}, at::kFloat);
  auto* out = bias.data_ptr<float>();
  for (const std::int32_t value : constants.bias)
    *out++ = static_cast<float>(value * kScale * constants.filter_scale);
  return bias;
}

Call conv(const Spec& spec, const Constants& constants) {
  const auto prepack = find<ConvWeights(at::Tensor, c10::optional<at::Tensor>, Integers, Integers,
                                        Integers, std::int64_t)>("quantized::conv2d_prepack");
  const ConvWeights weights = prepack.call(filter_tensor(spec, constants), bias_tensor(constants),
                                           list(spec.window.strides), list(spec.window.pads),
                                           list(spec.window.dilations), spec.group);
  const auto op = find<at::Tensor(at::Tensor, const ConvWeights&, double, std::int64_t)>(
      spec.relu ? "quantized::conv2d_relu" : "quantized::conv2d", "new");
  return [op, weights](const Operands& in) { return op.call(in[0], weights, kScale, kZeroPoint); };
}

/// The same bytes under other dimensions, both in the order of the key.
at::Tensor reshaped(const at::Tensor& x, const Dims& dims) {
  const at::Tensor plain = x.dim() == 4 ? x.permute({0, 2, 3, 1}) : x;
  if (dims.size() != 4) return plain.reshape(dims);
  return plain.reshape(dims).permute({0, 3, 1, 2});
}

Call fully_connected(const Spec& spec, const Constants& constants) {
  const auto prepack =
      find<LinearWeights(at::Tensor, c10::optional<at::Tensor>)>("quantized::linear_prepack");
  const LinearWeights weights =
      prepack.call(filter_tensor(spec, constants), bias_tensor(constants));
  const auto op = find<at::Tensor(at::Tensor, const LinearWeights&, double, std::int64_t)>(
      spec.relu ? "quantized::linear_relu" : "quantized::linear");
  if (spec.inputs[0].dims.size() == 2)
    return
        [op, weights](const Operands& in) { return op.call(in[0], weights, kScale, kZeroPoint); };
  const Dims rows{spec.inputs[0].dims[0], spec.filter[1]};
  return [op, weights, rows](const Operands& in) {
    return op.call(reshaped(in[0], rows), weights, kScale, kZeroPoint);
  };
}

Call sum(const Spec& spec) {
  const auto op = find<at::Tensor(at::Tensor, at::Tensor, double, std::int64_t)>(
      spec.relu ? "quantized::add_relu" : "quantized::add");
  return [op](const Operands& in) { return op.call(in[0], in[1], kScale, kZeroPoint); };
}

Call average_pool(const Spec& spec) {
  const auto kernel = vector(spec.window.kernel);
  const auto strides = vector(spec.window.strides);
  const auto pads = vector(spec.window.pads);
  return [=](const Operands& in) { return at::avg_pool2d(in[0], kernel, strides, pads); };
}

Call max_pool(const Spec& spec) {
  const auto kernel = vector(spec.window.kernel);
  const auto strides = vector(spec.window.strides);
  const auto pads = vector(spec.window.pads);
  const std::vector<std::int64_t> dilations{1, 1};
  return [=](const Operands& in) {
    return at::quantized_max_pool2d(in[0], kernel, strides, pads, dilations);
  };
}

Call softmax() {
  const auto op =
      find<at::Tensor(const at::Tensor&, std::int64_t, double, std::int64_t)>("quantized::softmax");
  return [op](const Operands& in) { return op.call(in[0], 1, kSoftmaxScale, kSoftmaxZeroPoint); };
}

Call concat(const Spec& spec) {
  const auto op = find<at::Tensor(const c10::List<at::Tensor>&, std::int64_t, c10::optional<double>,
                                  c10::optional<std::int64_t>)>("quantized::cat");
  // Height, width and channels of the key are the second, third and first dimension behind the
  // batch to libtorch.
  constexpr std::array<std::int64_t, 4> kAxes{0, 2, 3, 1};
  const std::int64_t axis =
      spec.result.dims.size() == 4 ? kAxes[spec.axis] : static_cast<std::int64_t>(spec.axis);
  return [op, axis](const Operands& in) {
    c10::List<at::Tensor> parts;
    for (std::size_t i = 0; i < in.size(); ++i) parts.push_back(in[i]);
    // The dispatcher finds no tensor in a list from which to tell the backend.
    return op.redispatch(c10::DispatchKeySet(c10::DispatchKey::QuantizedCPU), parts, axis, kScale,
                         kZeroPoint);
  };
}

}  // namespace

Call make_call(const Spec& spec, const Constants& constants) {
  switch (spec.kind) {
    case Kind::Conv:
      return conv(spec, constants);
    case Kind::Fc:
      return fully_connected(spec, constants);
    case Kind::Sum:
      return sum(spec);
    case Kind::AveragePool:
      return average_pool(spec);
    case Kind::MaxPool:
      return max_pool(spec);
    case Kind::ChannelShuffle:
      return [group = spec.group](const Operands& in) { return at::channel_shuffle(in[0], group); };
    case Kind::Softmax:
      return softmax();
    case Kind::Relu:
    case Kind::FloatRelu:
      return [](const Operands& in) { return at::relu(in[0]); };
    case Kind::Quantize:
      return [](const Operands& in) {
        return at::quantize_per_tensor(in[0], kScale, kZeroPoint, at::kQUInt8);
      };
    case Kind::Dequantize:
      return [](const Operands& in) { return in[0].dequantize(); };
    case Kind::ToNhwc:
      return [](const Operands& in) { return in[0].contiguous(at::MemoryFormat::ChannelsLast); };
    case Kind::ToNchw:
      return [](const Operands& in) { return in[0].contiguous(); };
    case Kind::Concat:
      return concat(spec);
    case Kind::Reshape:
      return [dims = spec.result.dims](const Operands& in) { return reshaped(in[0], dims); };
  }
  return {};
}

}  // namespace oplat::runtimes::qnnpack
