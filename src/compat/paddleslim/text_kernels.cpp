// SPDX-License-Identifier: Apache-2.0
/// Keys in the form that paddle_key_of gives to the texts of PaddleSlim's tables, with more of
/// it known.
#include "compat/paddleslim/text_kernels.hpp"

#include <algorithm>

#include "base/counted.hpp"
#include "base/result.hpp"
#include "compat/paddleslim/key.hpp"

namespace oplat::compat::paddleslim {
namespace {

constexpr std::string_view kDomain = "paddle_lite";
constexpr std::string_view kNotUnderstood = "paddle_lite:other{";

ir::Value value_of(const ir::Dim& dim) { return dim ? ir::Value(*dim) : ir::Value(ir::Unknown{}); }

template <std::size_t N>
ir::Value values_of(const std::array<ir::Dim, N>& dims) {
  ir::List list;
  for (const ir::Dim& dim : dims) list.push_back(value_of(dim));
  return ir::Value(std::move(list));
}

ir::Dtype operand_dtype(PaddlePrecision precision) {
  if (precision == PaddlePrecision::Fp32) return ir::Dtype::F32;
  return precision == PaddlePrecision::Fp16 ? ir::Dtype::F16 : ir::Dtype::I8;
}

ir::Dtype result_dtype(PaddlePrecision precision) {
  return precision == PaddlePrecision::Int8ToFloat ? ir::Dtype::F32 : operand_dtype(precision);
}

/// How PaddleSlim writes it: None and None, True and 8, True and 16.
void add_precision(ir::Key& key, PaddlePrecision precision) {
  const bool full = precision == PaddlePrecision::Fp32;
  const std::int64_t bits = precision == PaddlePrecision::Fp16 ? 16 : 8;
  key.attributes.emplace_back("quant", ir::Value(full ? "None" : "True"));
  key.attributes.emplace_back("bit_length", full ? ir::Value("None") : ir::Value(bits));
}

ir::TensorEntry result_of_window(const std::array<std::int64_t, 4>& input, std::int64_t channels,
                                 const std::array<ir::Dim, 2>& sizes, ir::Dtype dtype) {
  ir::TensorEntry entry{dtype, false, ir::Shape{}, std::nullopt};
  entry.shape.dims = {input[0], channels, sizes[0], sizes[1]};
  return entry;
}

Result<std::array<ir::Dim, 2>> result_sizes(const std::array<std::int64_t, 4>& input,
                                            const PaddleWindow& window) {
  std::array<ir::Dim, 2> sizes;
  for (std::size_t axis = 0; axis < 2; ++axis) {
    sizes[axis] = window_result(input[axis + 2], window, axis);
    if (sizes[axis] && *sizes[axis] < 1) {
      return fail(Code::Input, "a window does not fit the input of {}x{}", input[2], input[3]);
    }
  }
  return sizes;
}

std::array<ir::Dim, 2> two_of(const ir::Value* value) {
  const ir::List* list = value == nullptr ? nullptr : value->list();
  if (list == nullptr || list->size() != 2) return {};
  std::array<ir::Dim, 2> out;
  for (std::size_t i = 0; i < 2; ++i) {
    if (const auto* number = (*list)[i].integer()) out[i] = *number;
  }
  return out;
}

/// Whether all of the window is known.
bool read_window(const ir::Key& key, PaddleWindow& window) {
  window.strides = two_of(key.attribute("strides"));
  const ir::Value* pads = key.attribute("pads");
  const ir::List* list = pads == nullptr ? nullptr : pads->list();
  if (list == nullptr || list->size() != 4) return false;
  for (std::size_t i = 0; i < 4; ++i) {
    if (const auto* number = (*list)[i].integer()) window.pads[i] = *number;
  }
  const auto known = [](const ir::Dim& dim) { return dim.has_value(); };
  return std::all_of(window.pads.begin(), window.pads.end(), known) &&
         std::all_of(window.strides.begin(), window.strides.end(), known);
}

std::optional<std::array<std::int64_t, 4>> four(const ir::TensorEntry* entry) {
  const auto dims = paddle_dims(entry);
  if (!dims || dims->size() != 4) return std::nullopt;
  return std::array<std::int64_t, 4>{(*dims)[0], (*dims)[1], (*dims)[2], (*dims)[3]};
}

std::optional<PaddlePrecision> precision_of(ir::Dtype operand, const ir::TensorEntry* result) {
  if (result == nullptr) return std::nullopt;
  if (operand == ir::Dtype::F32) return PaddlePrecision::Fp32;
  if (operand == ir::Dtype::F16) return PaddlePrecision::Fp16;
  if (operand != ir::Dtype::I8) return std::nullopt;
  return result->dtype == ir::Dtype::F32 ? PaddlePrecision::Int8ToFloat : PaddlePrecision::Int8;
}

}  // namespace

std::optional<PaddlePrecision> paddle_precision(std::string_view word) {
  if (word == "fp32") return PaddlePrecision::Fp32;
  if (word == "fp16") return PaddlePrecision::Fp16;
  if (word == "int8") return PaddlePrecision::Int8;
  return std::nullopt;
}

void note_what_rows_tell(table::ForeignRead& read) {
  const auto& rows = read.file.rows;
  const auto count = [&](const auto& is) {
    return static_cast<std::size_t>(std::count_if(rows.begin(), rows.end(), is));
  };
  std::vector<std::string_view> stated;
  for (const std::string_view precision : paddle_precisions()) {
    if (count([&](const table::ForeignRow& row) {
          return states_paddle_precision(row.key, precision);
        }) > 0)
      stated.push_back(precision);
  }
  if (stated.size() == 1) read.told.precision = stated.front();
  const std::size_t unknown =
      count([](const table::ForeignRow& row) { return row.key.starts_with(kNotUnderstood); });
  if (unknown > 0) {
    read.warnings.push_back(
        fmt::format("{} of {} rows {} a text that is not understood; predictions never use {}",
                    unknown, rows.size(), base::one_or_many(unknown, "has", "have"),
                    base::one_or_many(unknown, "it", "them")));
  }
}

std::optional<std::int64_t> window_result(std::int64_t input, const PaddleWindow& window,
                                          std::size_t axis) {
  const ir::Dim& kernel = window.kernel[axis];
  const ir::Dim& before = window.pads[2 * axis];
  const ir::Dim& after = window.pads[2 * axis + 1];
  const ir::Dim& stride = window.strides[axis];
  const ir::Dim& dilation = window.dilations[axis];
  if (!kernel || !before || !after || !stride || !dilation) return std::nullopt;
  const std::int64_t room = input + *before + *after - (*dilation * (*kernel - 1) + 1);
  if (room < 0 || *stride < 1) return 0;
  return (room + (window.ceil ? *stride - 1 : 0)) / *stride + 1;
}

Result<ir::Key> paddle_conv_key(const PaddleConv& conv) {
  const std::int64_t channels = conv.input[1];
  if (conv.groups < 1 || channels % conv.groups != 0 || conv.out_channels % conv.groups != 0) {
    return fail(Code::Input, "{} groups do not divide both {} input and {} output channels",
                conv.groups, channels, conv.out_channels);
  }
  OPLAT_TRY(sizes, result_sizes(conv.input, conv.window));
  const bool depthwise = conv.groups > 1 && conv.groups == channels;
  ir::Key key;
  key.domain = kDomain;
  key.op = depthwise ? "depthwise_conv2d" : "conv2d";
  key.attributes.emplace_back(
      "activation", conv.activation ? ir::Value(*conv.activation) : ir::Value(ir::Unknown{}));
  key.attributes.emplace_back(
      "bias", conv.bias ? ir::Value(*conv.bias ? "true" : "false") : ir::Value(ir::Unknown{}));
  key.attributes.emplace_back("dilations", values_of(conv.window.dilations));
  key.attributes.emplace_back("group", ir::Value(conv.groups));
  key.attributes.emplace_back("pads", values_of(conv.window.pads));
  key.attributes.emplace_back("strides", values_of(conv.window.strides));
  add_precision(key, conv.precision);
  const ir::Dtype dtype = operand_dtype(conv.precision);
  key.operands.emplace_back(paddle_tensor({conv.input.begin(), conv.input.end()}, conv.precision));
  ir::TensorEntry weights{dtype, true, ir::Shape{}, std::nullopt};
  weights.shape.dims = {conv.out_channels, channels / conv.groups, conv.window.kernel[0],
                        conv.window.kernel[1]};
  key.operands.emplace_back(std::move(weights));
  key.results.emplace_back(
      result_of_window(conv.input, conv.out_channels, sizes, result_dtype(conv.precision)));
  key.canonicalise();
  return key;
}

Result<ir::Key> paddle_pool_key(const PaddlePool& pool) {
  std::array<ir::Dim, 2> sizes = {1, 1};
  if (!pool.global) {
    OPLAT_TRY(found, result_sizes(pool.input, pool.window));
    sizes = found;
  }
  ir::Key key;
  key.domain = kDomain;
  key.op = "pool2d";
  key.attributes.emplace_back("global_pooling", ir::Value(pool.global ? 1 : 0));
  key.attributes.emplace_back("kernel_shape", values_of(pool.window.kernel));
  key.attributes.emplace_back("pads", values_of(pool.window.pads));
  key.attributes.emplace_back("pooling_type",
                              pool.type ? ir::Value(*pool.type) : ir::Value(ir::Unknown{}));
  key.attributes.emplace_back("strides", values_of(pool.window.strides));
  key.operands.emplace_back(
      paddle_tensor({pool.input.begin(), pool.input.end()}, PaddlePrecision::Fp32));
  key.results.emplace_back(result_of_window(pool.input, pool.input[1], sizes, ir::Dtype::F32));
  key.canonicalise();
  return key;
}

ir::TensorEntry paddle_tensor(const std::vector<std::int64_t>& dims, PaddlePrecision precision,
                              bool constant) {
  return {operand_dtype(precision), constant, ir::Shape::of(dims), std::nullopt};
}

ir::Key paddle_map_key(std::string_view op, const std::vector<std::int64_t>& dims,
                       PaddlePrecision precision) {
  ir::Key key;
  key.domain = kDomain;
  key.op = op;
  key.operands.emplace_back(paddle_tensor(dims, precision));
  key.results.emplace_back(paddle_tensor(dims, precision));
  return key;
}

ir::Key paddle_fc_key(const std::vector<std::int64_t>& input, std::int64_t inner,
                      std::int64_t columns, PaddlePrecision precision) {
  ir::Key key;
  key.domain = kDomain;
  key.op = "fc";
  key.operands.emplace_back(paddle_tensor(input, precision));
  key.operands.emplace_back(paddle_tensor({inner, columns}, precision, true));
  key.results.emplace_back(paddle_tensor({input.front(), columns}, precision));
  return key;
}

std::optional<std::vector<std::int64_t>> paddle_dims(const ir::TensorEntry* entry) {
  if (entry == nullptr || !entry->shape.ranked) return std::nullopt;
  std::vector<std::int64_t> dims;
  for (const ir::Dim& dim : entry->shape.dims) {
    if (!dim) return std::nullopt;
    dims.push_back(*dim);
  }
  return dims;
}

std::optional<PaddleConv> paddle_conv_of(const ir::Key& key) {
  if (key.domain != kDomain || (key.op != "conv2d" && key.op != "depthwise_conv2d"))
    return std::nullopt;
  PaddleConv conv;
  const auto input = four(key.operand(0));
  const auto weights = four(key.operand(1));
  const ir::Value* group = key.attribute("group");
  if (!input || !weights || group == nullptr || group->integer() == nullptr) return std::nullopt;
  const auto precision = precision_of(key.operand(0)->dtype, key.result(0));
  if (!precision || !read_window(key, conv.window)) return std::nullopt;
  conv.window.dilations = two_of(key.attribute("dilations"));
  if (!conv.window.dilations[0] || !conv.window.dilations[1]) return std::nullopt;
  conv.window.kernel = {(*weights)[2], (*weights)[3]};
  conv.input = *input;
  conv.out_channels = (*weights)[0];
  conv.groups = *group->integer();
  conv.precision = *precision;
  if (const ir::Value* bias = key.attribute("bias"); bias != nullptr && bias->text() != nullptr) {
    conv.bias = *bias->text() == "true";
  }
  if (const ir::Value* activation = key.attribute("activation");
      activation != nullptr && activation->text() != nullptr) {
    conv.activation = *activation->text();
  }
  return conv;
}

std::optional<PaddlePool> paddle_pool_of(const ir::Key& key) {
  if (key.domain != kDomain || key.op != "pool2d") return std::nullopt;
  PaddlePool pool;
  const auto input = four(key.operand(0));
  const ir::Value* global = key.attribute("global_pooling");
  const ir::Value* type = key.attribute("pooling_type");
  if (!input || global == nullptr || global->integer() == nullptr || type == nullptr ||
      type->text() == nullptr || !read_window(key, pool.window)) {
    return std::nullopt;
  }
  pool.window.kernel = two_of(key.attribute("kernel_shape"));
  if (!pool.window.kernel[0] || !pool.window.kernel[1]) return std::nullopt;
  pool.input = *input;
  pool.global = *global->integer() == 1;
  pool.type = *type->text();
  const auto result = four(key.result(0));
  if (!result) return std::nullopt;
  pool.window.ceil = !pool.global && window_result(pool.input[2], pool.window, 0) != (*result)[2];
  return pool;
}

std::optional<std::vector<std::int64_t>> paddle_map_of(const ir::Key& key) {
  if (key.domain != kDomain || key.operands.size() != 1 || key.results.size() != 1 ||
      !key.attributes.empty())
    return std::nullopt;
  auto dims = paddle_dims(key.operand(0));
  if (!dims || dims != paddle_dims(key.result(0)) || key.operand(0)->dtype != ir::Dtype::F32)
    return std::nullopt;
  return dims;
}

}  // namespace oplat::compat::paddleslim
