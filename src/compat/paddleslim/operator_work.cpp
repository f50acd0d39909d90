// SPDX-License-Identifier: Apache-2.0
/// Operations of Paddle-Lite's convolutions, products and recurrent operators.
#include "compat/paddleslim/operator_work.hpp"

#include <cmath>

#include "ir/operators/arguments.hpp"
#include "ir/operators/convolution_description.hpp"

namespace oplat::compat::paddleslim {
namespace {

using namespace ir;       // NOLINT: the file is about keys
using namespace ir::ops;  // NOLINT

/// The first constant of so many dimensions.
const TensorEntry* constant_of_rank(const Key& key, std::optional<std::size_t> dimensions) {
  for (const Entry& entry : key.operands) {
    const auto* tensor = std::get_if<TensorEntry>(&entry);
    if (tensor != nullptr && tensor->constant && dimensions && ops::rank(tensor) == dimensions)
      return tensor;
  }
  return nullptr;
}

const TensorEntry* first_activation(const Key& key) {
  for (const Entry& entry : key.operands) {
    const auto* tensor = std::get_if<TensorEntry>(&entry);
    if (tensor != nullptr && !tensor->constant) return tensor;
  }
  return nullptr;
}

bool is_true(const Key& key, std::string_view name) {
  return ops::is_word(key, name, "true") || ops::integer(key, name).value_or(0) != 0;
}

}  // namespace

std::optional<double> flops_paddle_sparse_conv(const Key& key) {
  const auto dense = flops_per_filter<1>(key);
  const auto weights = ops::elements(key.operand(1));
  const auto filled = ops::integer(key, "NonZeroWeights");
  if (!dense || !weights || !filled || *filled < 1 || static_cast<double>(*filled) > *weights)
    return dense;
  return *dense * (static_cast<double>(*filled) / *weights);
}

std::optional<double> flops_paddle_conv(const Key& key) {
  const auto results = ops::elements(key.result(0));
  const TensorEntry* filters = constant_of_rank(key, ops::rank(key.result(0)));
  const auto weights = ops::elements(filters);
  const auto count = ops::dim(filters, 0);
  if (!results || !weights || !count || *count < 1) return std::nullopt;
  return 2 * *results * (*weights / static_cast<double>(*count));
}

std::optional<double> flops_paddle_conv_transpose(const Key& key) {
  const TensorEntry* image = first_activation(key);
  return flops_of_spread(image, constant_of_rank(key, ops::rank(image)));
}

std::optional<double> flops_paddle_matmul(const Key& key) {
  const TensorEntry* x = key.operand(0);
  const auto results = ops::elements(key.result(0));
  const auto rows = ops::dim(key.result(0), -2);
  const auto own_rows = ops::dim(x, -2);
  const bool transposed = rows && own_rows && *rows != *own_rows && rows == ops::dim(x, -1);
  const auto inner = transposed ? own_rows : ops::dim(x, -1);
  if (!results || !inner) return std::nullopt;
  return 2 * *results * static_cast<double>(*inner);
}

std::optional<double> flops_paddle_mul(const Key& key) {
  const auto x = ops::elements(key.operand(0));
  const auto y = ops::elements(key.operand(1));
  const auto results = ops::elements(key.result(0));
  if (!x || !y || !results) return std::nullopt;
  return 2 * std::sqrt(*x) * std::sqrt(*y) * std::sqrt(*results);
}

std::optional<double> flops_paddle_rnn(const Key& key) {
  const auto tokens = ops::elements(key.operand(0));
  const auto width = ops::dim(key.operand(0), -1);
  const auto hidden = ops::integer(key, "hidden_size");
  const auto layers = ops::integer(key, "num_layers");
  if (!tokens || !width || !hidden || !layers || *width < 1 || *hidden < 1 || *layers < 1)
    return std::nullopt;
  const double gates = ops::is_word(key, "mode", "LSTM")  ? 4
                       : ops::is_word(key, "mode", "GRU") ? 3
                                                          : 1;
  const double directions = is_true(key, "is_bidirec") ? 2 : 1;
  const double state = static_cast<double>(*hidden);
  const double first = static_cast<double>(*width) + state;
  const double later = (static_cast<double>(*layers) - 1) * (directions * state + state);
  return 2 * (*tokens / static_cast<double>(*width)) * directions * gates * state * (first + later);
}

std::optional<double> flops_paddle_recurrence(const Key& key) {
  const auto steps = ops::dim(first_activation(key), 0);
  std::optional<double> weights;
  for (const Entry& entry : key.operands) {
    const auto* tensor = std::get_if<TensorEntry>(&entry);
    if (tensor == nullptr || !tensor->constant || ops::rank(tensor) != 2U) continue;
    const auto count = ops::elements(tensor);
    if (count && *count > weights.value_or(0)) weights = count;
  }
  if (!steps || !weights) return std::nullopt;
  return 2 * static_cast<double>(*steps) * *weights;
}

}  // namespace oplat::compat::paddleslim
