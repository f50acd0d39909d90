// SPDX-License-Identifier: Apache-2.0
/// Layers of PyTorch: output shapes, parameters, work, keys.
#include <algorithm>
#include <array>
#include <string_view>

#include "compat/mobile_vision/module_operators.hpp"

namespace oplat::compat::mobile_vision {

using namespace ir;  // NOLINT: the file is about keys

using namespace modules;

namespace {

Status positive(const ModuleQuery& query, const Dims& out) {
  for (const std::int64_t dim : out) {
    if (dim < 1)
      return fail(Code::Input,
                  "the output would be [{}], since the window is larger than the input [{}]",
                  fmt::join(out, ","), fmt::join(query.input_shapes[0], ","));
  }
  return {};
}

/// Steps of a window over an axis.
std::int64_t steps(std::int64_t size, std::int64_t window, std::int64_t pad, std::int64_t stride,
                   bool round_up) {
  const std::int64_t room = size + 2 * pad - window;
  if (room < 0) return 0;
  std::int64_t count = (room + (round_up ? stride - 1 : 0)) / stride + 1;
  // As PyTorch: the last window begins within the input or the padding before it.
  if (round_up && (count - 1) * stride >= size + pad) --count;
  return count;
}

Result<Dims> output_of(const Operator& op, const ModuleQuery& query) {
  const Dims& in = query.input_shapes[0];
  Dims out = in;
  switch (op.kind) {
    case Kind::Linear:
      out.back() = one(query, "out_features");
      return out;
    case Kind::Attention:
      return out;
    case Kind::AdaptiveAvgPool: {
      const Dims sizes = many(query, "output_size");
      std::copy(sizes.begin(), sizes.end(), out.begin() + 2);
      return out;
    }
    case Kind::MatMul: {
      const Dims& other = query.input_shapes[1];
      if (in.size() != other.size())
        return fail(Code::Input, "the inputs have {} and {} dimensions; expected the same number",
                    in.size(), other.size());
      const std::size_t batched = in.size() - 2;
      if (in[batched + 1] != other[batched])
        return fail(Code::Input, "[{}] times [{}]: {} columns, but {} rows", fmt::join(in, ","),
                    fmt::join(other, ","), in[batched + 1], other[batched]);
      for (std::size_t i = 0; i < batched; ++i) {
        if (in[i] != other[i] && in[i] != 1 && other[i] != 1)
          return fail(Code::Input, "[{}] times [{}]: the batch dimensions do not match",
                      fmt::join(in, ","), fmt::join(other, ","));
        out[i] = std::max(in[i], other[i]);
      }
      out[batched + 1] = other[batched + 1];
      return out;
    }
    default:
      break;
  }
  const Dims kernel = many(query, "kernel_size");
  const Dims stride = many(query, "stride");
  const Dims pad = many(query, "padding");
  const bool has_dilation = find(query.args, "dilation") != nullptr;
  const Dims dilation = has_dilation ? many(query, "dilation") : Dims(op.axes, 1);
  const bool round_up = find(query.args, "ceil_mode") != nullptr && one(query, "ceil_mode") == 1;
  for (std::size_t i = 0; i < op.axes; ++i) {
    const std::int64_t window = dilation[i] * (kernel[i] - 1) + 1;
    out[i + 2] =
        op.kind == Kind::ConvTranspose
            ? (in[i + 2] - 1) * stride[i] - 2 * pad[i] + window + many(query, "output_padding")[i]
            : steps(in[i + 2], window, pad[i], stride[i], round_up);
  }
  if (op.kind == Kind::Conv || op.kind == Kind::ConvTranspose) out[1] = one(query, "out_channels");
  OPLAT_CHECK(positive(query, out));
  return out;
}

struct Parameters {
  std::vector<Dims> weights;
  std::vector<Dims> biases;
};

Parameters parameters_of(const Operator& op, const ModuleQuery& query) {
  Parameters made;
  switch (op.kind) {
    case Kind::Conv:
    case Kind::ConvTranspose: {
      const bool transposed = op.kind == Kind::ConvTranspose;
      const std::int64_t first = one(query, transposed ? "in_channels" : "out_channels");
      const std::int64_t second = one(query, transposed ? "out_channels" : "in_channels");
      Dims weight = {first, second / one(query, "groups")};
      for (const std::int64_t size : many(query, "kernel_size")) weight.push_back(size);
      made.weights.push_back(std::move(weight));
      if (one(query, "bias") == 1) made.biases.push_back({one(query, "out_channels")});
      break;
    }
    case Kind::Linear:
      made.weights.push_back({one(query, "out_features"), one(query, "in_features")});
      if (one(query, "bias") == 1) made.biases.push_back({one(query, "out_features")});
      break;
    case Kind::Attention: {
      const std::int64_t width = one(query, "embed_dim");
      made.weights = {
          {width, width}, {width, one(query, "kdim")}, {width, one(query, "vdim")}, {width, width}};
      made.biases = {{3 * width}, {width}};
      break;
    }
    default:
      break;
  }
  return made;
}

double as_double(const Dims& dims) {
  double all = 1;
  for (const std::int64_t dim : dims) all *= static_cast<double>(dim);
  return all;
}

/// Positions of a map at which all weights are used: of everything but the channels.
double positions(const Dims& shape) { return as_double(shape) / static_cast<double>(shape[1]); }

void count_work(const Operator& op, const ModuleQuery& query, ModuleFacts& facts) {
  const Dims& in = query.input_shapes[0];
  const auto weights = static_cast<double>(facts.weights);
  switch (op.kind) {
    case Kind::Conv:
      facts.macs = facts.mobile_cv_flops = weights * positions(facts.output_shape);
      break;
    case Kind::ConvTranspose:
      facts.macs = weights * positions(in);
      facts.mobile_cv_flops = weights * positions(facts.output_shape);
      break;
    case Kind::Linear:
      facts.macs = facts.mobile_cv_flops = weights * as_double(in) / static_cast<double>(in.back());
      break;
    case Kind::MatMul:
      facts.macs = facts.mobile_cv_flops =
          as_double(facts.output_shape) * static_cast<double>(in.back());
      break;
    case Kind::Attention: {
      const auto length = static_cast<double>(in[0]);
      const auto keys = static_cast<double>(query.input_shapes[1][0]);
      const auto width = static_cast<double>(in[2]);
      const auto inputs = static_cast<double>(query.input_shapes[1][2] + query.input_shapes[2][2]);
      facts.macs = static_cast<double>(in[1]) *
                   (2 * length * width * width + keys * inputs * width + 2 * length * keys * width);
      facts.mobile_cv_flops = facts.macs;
      break;
    }
    case Kind::AdaptiveAvgPool:
    case Kind::AvgPool:
    case Kind::MaxPool:
      facts.mobile_cv_flops = as_double(in);
      break;
  }
}

}  // namespace

Result<ModuleFacts> facts_of(const ModuleQuery& query) {
  OPLAT_TRY(op, operator_of(query.op));
  ModuleFacts facts;
  OPLAT_TRY(out, output_of(*op, query));
  facts.output_shape = std::move(out);
  OPLAT_CHECK(product(facts.output_shape));
  const Parameters parameters = parameters_of(*op, query);
  for (const Dims& shape : parameters.weights) {
    OPLAT_TRY(elements, product(shape));
    if (__builtin_add_overflow(facts.weights, elements, &facts.weights))
      return fail(Code::Input, "the number of weights overflows");
  }
  facts.parameters = facts.weights;
  for (const Dims& shape : parameters.biases) {
    if (__builtin_add_overflow(facts.parameters, shape[0], &facts.parameters))
      return fail(Code::Input, "the number of weights overflows");
  }
  count_work(*op, query, facts);
  return facts;
}

Result<Key> key_of(const ModuleQuery& query) {
  OPLAT_TRY(op, operator_of(query.op));
  OPLAT_TRY(facts, facts_of(query));
  Key key;
  key.domain = "torch";
  key.op = query.op;
  for (const NamedValue& arg : query.args) {
    // Shapes of the operands say these.
    static constexpr std::array<std::string_view, 8> kSaid = {
        "bias",         "in_channels", "out_channels", "in_features",
        "out_features", "embed_dim",   "kdim",         "vdim"};
    if (std::find(kSaid.begin(), kSaid.end(), arg.first) == kSaid.end())
      key.attributes.push_back(arg);
  }
  for (const Dims& shape : query.input_shapes)
    key.operands.emplace_back(TensorEntry{Dtype::F32, false, Shape::of(shape), std::nullopt});
  const Parameters parameters = parameters_of(*op, query);
  for (const std::vector<Dims>* shapes : {&parameters.weights, &parameters.biases}) {
    for (const Dims& shape : *shapes)
      key.operands.emplace_back(TensorEntry{Dtype::F32, true, Shape::of(shape), std::nullopt});
  }
  key.results.emplace_back(
      TensorEntry{Dtype::F32, false, Shape::of(facts.output_shape), std::nullopt});
  key.canonicalise();
  return key;
}

}  // namespace oplat::compat::mobile_vision
