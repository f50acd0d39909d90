// SPDX-License-Identifier: Apache-2.0
/// LSTM, GRU, RNN. Counted are the products of input and hidden state with their weights, at every
/// step and in every direction; gates, biases and peepholes are not, being one operation next to
/// hundreds.
#include "ir/operators/arguments.hpp"
#include "ir/operators/forms.hpp"
#include "ir/operators/list.hpp"

namespace oplat::ir::ops {
namespace {

/// X is [steps, batch, input] (or batch first), W [directions, gates * hidden, input], R
/// [directions, gates * hidden, hidden]; each weight meets each step of each sequence once. All
/// sequences go on until the longest ends.
std::optional<double> flops_recurrent(const Key& key) {
  const auto lengths = sequence_lengths(key);
  const auto batch = dim(key.operand(0), integer(key, "layout").value_or(0) != 0 ? 0 : 1);
  const auto input_weights = elements(key.operand(1));
  const auto hidden_weights = elements(key.operand(2));
  if (!lengths || !batch || !input_weights || !hidden_weights) return std::nullopt;
  return 2 * lengths->longest * static_cast<double>(*batch) * (*input_weights + *hidden_weights);
}

/// The functions of one direction, repeated for both of a bidirectional operator.
Value activations(const Key& key, const List& one_direction) {
  List functions = one_direction;
  if (is_word(key, "direction", "bidirectional")) {
    functions.insert(functions.end(), one_direction.begin(), one_direction.end());
  }
  return functions;
}

void fill_hidden_size(Key& key) {
  if (const auto hidden = dim(key.operand(2), 2)) fill_attribute(key, "hidden_size", *hidden);
}

// ONNX documents these functions as defaults but, except for RNN, does not define them as such.
void canonicalise_lstm(Key& key) {
  fill_attribute(key, "activations", activations(key, {"Sigmoid", "Tanh", "Tanh"}));
  fill_hidden_size(key);
}

void canonicalise_gru(Key& key) {
  fill_attribute(key, "activations", activations(key, {"Sigmoid", "Tanh"}));
  fill_hidden_size(key);
}

/// R of this one is [directions, hidden, gates * hidden].
void canonicalise_dynamic_lstm(Key& key) {
  fill_attribute(key, "activations", activations(key, {"Sigmoid", "Tanh", "Tanh"}));
  if (const auto hidden = dim(key.operand(2), 1)) fill_attribute(key, "hidden_size", *hidden);
}

}  // namespace

std::vector<OperatorInfo> recurrent() {
  return {
      {.domain = "",
       .op = "LSTM",
       .canonicalise = canonicalise_lstm,
       .flops = flops_recurrent,
       .describe = describe_recurrent},
      {.domain = "",
       .op = "GRU",
       .canonicalise = canonicalise_gru,
       .flops = flops_recurrent,
       .describe = describe_recurrent},
      {.domain = "",
       .op = "RNN",
       .canonicalise = fill_hidden_size,
       .flops = flops_recurrent,
       .describe = describe_recurrent},
      {.domain = kContrib,
       .op = "DynamicQuantizeLSTM",
       .unprinted_operands = {1, 2},
       .canonicalise = canonicalise_dynamic_lstm,
       .flops = flops_recurrent,
       .describe = describe_recurrent},
  };
}

}  // namespace oplat::ir::ops
