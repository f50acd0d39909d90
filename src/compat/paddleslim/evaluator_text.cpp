// SPDX-License-Identifier: Apache-2.0
/// Fields of the operator texts: https://github.com/PaddlePaddle/PaddleSlim
/// paddleslim/analysis/latency.py writes them.
#include "compat/paddleslim/evaluator_text.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "base/text.hpp"
#include "compat/paddleslim/key.hpp"

namespace oplat::compat::paddleslim {
namespace {

using Numbers = std::vector<std::int64_t>;

constexpr std::size_t kMaxFields = 64;
constexpr std::array<std::string_view, 7> kFunctions = {"relu", "prelu", "sigmoid",   "relu6",
                                                        "elu",  "brelu", "leaky_relu"};
constexpr std::array<std::string_view, 3> kElementwise = {"elementwise_mul", "elementwise_add",
                                                          "elementwise_max"};

/// Fields from `first` on as whole numbers of a tensor's size.
Result<Numbers> numbers_of(const std::vector<std::string>& fields, std::size_t first,
                           std::size_t least, std::size_t most) {
  if (fields.size() < first + least || fields.size() > first + most) {
    return fail(Code::Input, "{} has {} fields; expected {} to {}", fields[0], fields.size(),
                first + least, first + most);
  }
  Numbers numbers;
  for (std::size_t i = first; i < fields.size(); ++i) {
    const auto number = base::parse_int(fields[i]);
    if (!number || *number < 0 || *number > kMaxPaddleDim) {
      return fail(Code::Input, "field {} of {} is '{}'; expected an integer from 0 to {}", i + 1,
                  fields[0], base::printable(fields[i], 40), kMaxPaddleDim);
    }
    numbers.push_back(*number);
  }
  return numbers;
}

Status require_sizes(const Numbers& numbers, std::size_t count, std::string_view type) {
  for (std::size_t i = 0; i < count; ++i) {
    if (numbers[i] < 1) return fail(Code::Input, "a size of {} has 0 elements", type);
  }
  return {};
}

/// The window that four numbers tell, and those of the other axis that follow where an axis
/// differs: each in its place where all four differ, else nobody knows whose they are.
PaddleWindow window_of(std::int64_t kernel, std::int64_t pad, std::int64_t stride,
                       std::int64_t dilation, const Numbers& more, std::size_t most) {
  PaddleWindow window;
  window.kernel = {kernel, kernel};
  window.pads = {pad, pad, pad, pad};
  window.strides = {stride, stride};
  window.dilations = {dilation, dilation};
  if (more.empty()) return window;
  window.kernel[1] = window.strides[1] = window.dilations[1] = std::nullopt;
  // Of the padding the original repeats the first number in place of the second.
  window.pads[2] = window.pads[3] = std::nullopt;
  if (more.size() < most) return window;
  window.kernel[1] = more[0];
  window.strides[1] = more[2];
  window.dilations[1] = most == 4 ? ir::Dim(more[3]) : ir::Dim(dilation);
  return window;
}

Result<ir::Key> conv_key(const std::vector<std::string>& fields, PaddlePrecision precision) {
  constexpr std::size_t kFields = 12;
  OPLAT_TRY(n, numbers_of(fields, 1, kFields, kFields + 4));
  if (n[0] > 1 || n[1] > 1)
    return fail(Code::Input, "the flags of conv are {} and {}; expected 0 or 1", n[0], n[1]);
  OPLAT_CHECK(require_sizes({n[2], n[3], n[4], n[5], n[6], n[8], n[10], n[11]}, 8, "conv"));
  PaddleConv conv;
  conv.bias = n[0] == 1;
  conv.activation = n[1] == 1 ? "relu" : std::string(kNoPaddleActivation);
  conv.input = {n[2], n[3], n[4], n[5]};
  conv.out_channels = n[6];
  conv.groups = n[7];
  conv.window = window_of(n[8], n[9], n[10], n[11], Numbers(n.begin() + kFields, n.end()), 4);
  conv.precision = precision;
  return paddle_conv_key(conv);
}

Result<ir::Key> pool_key(const std::vector<std::string>& fields) {
  constexpr std::size_t kFields = 10;
  OPLAT_TRY(n, numbers_of(fields, 1, kFields, kFields + 3));
  if (n[0] > 1 || n[8] > 1 || n[9] < 1 || n[9] > 3) {
    return fail(Code::Input,
                "pooling is global {}, ceil {}, type {}; expected 0 or 1, 0 or 1, 1 to 3", n[0],
                n[8], n[9]);
  }
  OPLAT_CHECK(require_sizes({n[1], n[2], n[3], n[4], n[7]}, 5, "pooling"));
  PaddlePool pool;
  pool.global = n[0] == 1;
  pool.input = {n[1], n[2], n[3], n[4]};
  pool.window = window_of(n[5], n[6], n[7], 1, Numbers(n.begin() + kFields, n.end()), 3);
  pool.window.dilations = {1, 1};
  if (!pool.global && n[5] < 1)
    return fail(Code::Input, "pooling has a kernel of 0; expected at least 1");
  // With 3 the padding does not count, and nobody says of which type it is.
  if (n[9] != 3) pool.type = n[9] == 1 ? "max" : "avg";
  pool.window.ceil = n[8] == 1;
  return paddle_pool_key(pool);
}

/// The batch, then what the original has padded to four sizes with ones.
Result<Numbers> dims_of(const std::vector<std::string>& fields, std::size_t first) {
  constexpr std::size_t kMaxEvaluatorRank = 8;
  OPLAT_TRY(dims, numbers_of(fields, first, 4, kMaxEvaluatorRank));
  OPLAT_CHECK(require_sizes(dims, dims.size(), fields[0]));
  return dims;
}

Result<ir::Key> elementwise_key(const std::vector<std::string>& fields, PaddlePrecision precision) {
  OPLAT_TRY(dims, dims_of(fields, 2));
  const auto type = base::parse_int(fields[1]);
  if (!type || *type < 1 || *type > 3) {
    return fail(Code::Input, "eltwise has type '{}'; expected 1 (mul), 2 (add) or 3 (max)",
                base::printable(fields[1], 40));
  }
  ir::Key key = paddle_map_key(kElementwise[static_cast<std::size_t>(*type - 1)], dims, precision);
  key.attributes.emplace_back("axis", ir::Unknown{});
  ir::TensorEntry other = paddle_tensor({}, precision);
  other.shape.ranked = false;
  key.operands.emplace_back(std::move(other));
  return key;
}

Result<ir::Key> batch_norm_key(const std::vector<std::string>& fields, PaddlePrecision precision) {
  OPLAT_TRY(dims, dims_of(fields, 2));
  if (fields[1] != "None" && fields[1] != "relu") {
    return fail(Code::Input, "batch_norm has '{}'; expected None or relu",
                base::printable(fields[1], 40));
  }
  ir::Key key = paddle_map_key("batch_norm", dims, precision);
  if (fields[1] == "relu") key.attributes.emplace_back("activation", ir::Value("relu"));
  return key;
}

Result<ir::Key> softmax_key(const std::vector<std::string>& fields, PaddlePrecision precision) {
  OPLAT_TRY(dims, dims_of(fields, 2));
  if (!base::parse_int(fields[1]))
    return fail(Code::Input, "softmax has axis '{}'; expected a number",
                base::printable(fields[1], 40));
  return paddle_map_key("softmax", dims, precision);
}

/// A number that holds for both axes.
std::optional<std::int64_t> both(const std::array<ir::Dim, 2>& two) {
  return two[0] == two[1] ? two[0] : std::nullopt;
}
std::optional<std::int64_t> all(const std::array<ir::Dim, 4>& pads) {
  const bool same =
      std::all_of(pads.begin(), pads.end(), [&](const ir::Dim& pad) { return pad == pads[0]; });
  return same ? pads[0] : std::nullopt;
}

std::optional<std::string> conv_text(const PaddleConv& conv) {
  const auto kernel = both(conv.window.kernel);
  const auto pad = all(conv.window.pads);
  const auto stride = both(conv.window.strides);
  const auto dilation = both(conv.window.dilations);
  const bool told =
      conv.activation && (*conv.activation == "relu" || *conv.activation == kNoPaddleActivation);
  if (!kernel || !pad || !stride || !dilation || !conv.bias || !told || conv.input[0] != 1)
    return std::nullopt;
  return fmt::format("conv,{},{},{},{},{},{},{},{},{}", *conv.bias ? 1 : 0,
                     *conv.activation == "relu" ? 1 : 0, fmt::join(conv.input, ","),
                     conv.out_channels, conv.groups, *kernel, *pad, *stride, *dilation);
}

std::optional<std::string> pool_text(const PaddlePool& pool) {
  const auto kernel = both(pool.window.kernel);
  const auto pad = all(pool.window.pads);
  const auto stride = both(pool.window.strides);
  if (!kernel || !pad || !stride || !pool.type || (*pool.type != "max" && *pool.type != "avg") ||
      pool.input[0] != 1)
    return std::nullopt;
  return fmt::format("pooling,{},{},{},{},{},{},{}", pool.global ? 1 : 0,
                     fmt::join(pool.input, ","), *kernel, *pad, *stride, pool.window.ceil ? 1 : 0,
                     *pool.type == "max" ? 1 : 2);
}

}  // namespace

Result<ir::Key> evaluator_key_of(std::string_view text, PaddlePrecision precision) {
  const std::vector<std::string> fields = base::split(text, ',');
  if (fields.size() > kMaxFields)
    return fail(Code::Input, "{} fields; the limit is {}", fields.size(), kMaxFields);
  const std::string& type = fields.front();
  if (type == "conv") return conv_key(fields, precision);
  if (type == "pooling") return pool_key(fields);
  if (type == "eltwise") return elementwise_key(fields, precision);
  if (type == "batch_norm") return batch_norm_key(fields, precision);
  if (type == "softmax") return softmax_key(fields, precision);
  if (std::find(kFunctions.begin(), kFunctions.end(), type) != kFunctions.end()) {
    OPLAT_TRY(dims, dims_of(fields, 1));
    return paddle_map_key(type, dims, precision);
  }
  return paddle_key_of(text);
}

std::optional<std::string> evaluator_text_of(const ir::Key& key) {
  if (const auto conv = paddle_conv_of(key)) return conv_text(*conv);
  if (const auto pool = paddle_pool_of(key)) return pool_text(*pool);
  const auto dims = paddle_map_of(key);
  if (!dims || dims->size() != 4 || dims->front() != 1) return std::nullopt;
  if (key.op == "batch_norm") return fmt::format("batch_norm,None,{}", fmt::join(*dims, ","));
  if (std::find(kFunctions.begin(), kFunctions.end(), key.op) == kFunctions.end())
    return std::nullopt;
  return fmt::format("{},{}", key.op, fmt::join(*dims, ","));
}

}  // namespace oplat::compat::paddleslim
