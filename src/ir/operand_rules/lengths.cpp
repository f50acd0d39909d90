// SPDX-License-Identifier: Apache-2.0
/// Lengths: the greatest legal one, since no shape shows them.
#include <algorithm>

#include "ir/operand_rules/fills.hpp"

namespace oplat::ir::fills {
namespace {

Fill recurrent_lengths(const Key& key, std::size_t) {
  const int time = attribute(key, "layout", 0) == 1 ? 1 : 0;
  return each(static_cast<double>(size_along(key.operand(0), time).value_or(1)));
}

Fill reversed_lengths(const Key& key, std::size_t) {
  return each(
      static_cast<double>(size_along(key.operand(0), attribute(key, "time_axis", 0)).value_or(1)));
}

/// All positions that GroupQueryAttention attends to, those of the cache included. Where nothing
/// tells, those that are computed now are the last of the cache: ONNX Runtime infers that its size
/// stays, and refuses a second run with a cache that grew.
std::int64_t attended(const Key& key) {
  if (const auto present = size_along(key.result(1), 2)) return *present;
  const std::int64_t now = size_along(key.operand(0), 1).value_or(1);
  return std::max(now, size_along(key.operand(3), 2).value_or(0));
}
Fill group_query_lengths(const Key& key, std::size_t operand) {
  // Operand 5 holds the last position of each sequence, operand 6 the number of positions.
  const std::int64_t total = attended(key);
  return each(static_cast<double>(operand == 5 ? std::max<std::int64_t>(0, total - 1) : total));
}

Fill valid_keys(const Key& key, std::size_t) {
  const auto present = size_along(key.result(1), 2);
  return each(static_cast<double>(present.value_or(size_along(key.operand(1), -2).value_or(1))));
}

/// A mask of com.microsoft's attention: ones of two and more dimensions, else a length for each
/// sequence.
template <std::size_t kKeys>
Fill mask_or_lengths(const Key& key, std::size_t operand) {
  const TensorEntry* mask = key.operand(operand);
  if (mask == nullptr || mask->shape.dims.size() != 1) return each(1);
  const auto batch = size_along(key.operand(0), 0);
  const auto count = count_of(key, operand);
  const auto length = size_along(key.operand(kKeys), 1);
  if (!batch || !count || *count != *batch || !length) {
    // Ends and starts, or cumulated lengths: zeros are legal in any.
    return each(0);
  }
  return each(static_cast<double>(*length));
}

/// Positions of the cache that are filled: all but those that are computed now.
template <std::size_t kPast>
Fill past_length(const Key& key, std::size_t) {
  const auto past = size_along(key.operand(kPast), -2);
  const std::int64_t now = size_along(key.operand(0), 1).value_or(1);
  return each(static_cast<double>(std::max<std::int64_t>(0, past.value_or(now) - now)));
}

}  // namespace

const std::vector<OperandRule>& rules_of_lengths() {
  static const std::vector<OperandRule> kRules = {
      {"", "LSTM", 4, Role::Length, recurrent_lengths},
      {"", "GRU", 4, Role::Length, recurrent_lengths},
      {"", "RNN", 4, Role::Length, recurrent_lengths},
      {kMs, "DynamicQuantizeLSTM", 4, Role::Length, recurrent_lengths},
      {"", "ReverseSequence", 1, Role::Length, reversed_lengths},
      {kMs, "GroupQueryAttention", 5, Role::Length, group_query_lengths},
      {kMs, "GroupQueryAttention", 6, Role::Length, group_query_lengths},
      {"", "Attention", 6, Role::Length, valid_keys},
      {kMs, "Attention", 3, Role::Length, mask_or_lengths<0>},
      {kMs, "Attention", 6, Role::Length, past_length<4>},
      {kMs, "QAttention", 5, Role::Length, mask_or_lengths<0>},
      {kMs, "MultiHeadAttention", 4, Role::Length, mask_or_lengths<1>},
      {kMs, "MultiHeadAttention", 8, Role::Length, past_length<6>},
      {kMs, "MultiHeadAttention", 9, Role::Index, always<0>},
      {kMs, "DecoderMaskedMultiHeadAttention", 7, Role::Length, past_length<5>},
      {kMs, "DecoderMaskedMultiHeadAttention", 9, Role::Index, always<0>},
      {kMs, "EmbedLayerNormalization", 7, Role::Length, always<1>},
      {kMs, "QEmbedLayerNormalization", 7, Role::Length, always<1>},
  };
  return kRules;
}

}  // namespace oplat::ir::fills
