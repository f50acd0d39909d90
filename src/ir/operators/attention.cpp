// SPDX-License-Identifier: Apache-2.0
/// Attention as ONNX Runtime fuses it: projections, scores = Q K^T, softmax, scores V. Masked
/// scores are counted, since the CPU kernels compute them; masks, scaling and bias are not.
#include "ir/operators/arguments.hpp"
#include "ir/operators/list.hpp"
#include "ir/operators/slow_kinds.hpp"

namespace oplat::ir::ops {
namespace {

/// Operations of softmax for each score; the same as for the operator of that name.
constexpr double kAttentionSoftmax = 5;

/// Lengths of one attention, in elements.
struct Lengths {
  double batch = 0;
  double heads = 0;
  double queries = 0;
  double keys = 0;          ///< those of the past included
  double query_hidden = 0;  ///< of all heads
  double value_hidden = 0;
};

double flops_of(const Lengths& l) {
  return l.batch * l.queries * l.keys *
         (2 * l.query_hidden + 2 * l.value_hidden + kAttentionSoftmax * l.heads);
}

/// Steps in the cache of earlier keys, [..., steps, head size]; none where there is no cache.
std::optional<std::int64_t> past_steps(const TensorEntry* past) {
  if (past == nullptr) return 0;
  return dim(past, -2);
}

/// X [batch, steps, input] times weights [input, Q + K + V]; the result is [batch, steps, V].
template <std::size_t kPast>
std::optional<double> flops_attention(const Key& key) {
  const auto batch = dim(key.operand(0), 0);
  const auto steps = dim(key.operand(0), 1);
  const auto input = dim(key.operand(0), 2);
  const auto columns = dim(key.operand(1), 1);
  const auto value_hidden = dim(key.result(0), 2);
  const auto heads = integer(key, "num_heads");
  const auto past = past_steps(key.operand(kPast));
  if (!batch || !steps || !input || !columns || !value_hidden || !heads || !past)
    return std::nullopt;
  const Lengths lengths = {
      .batch = static_cast<double>(*batch),
      .heads = static_cast<double>(*heads),
      .queries = static_cast<double>(*steps),
      .keys = static_cast<double>(*steps) + static_cast<double>(*past),
      .query_hidden = (static_cast<double>(*columns) - static_cast<double>(*value_hidden)) / 2,
      .value_hidden = static_cast<double>(*value_hidden)};
  return 2 * lengths.batch * lengths.queries * static_cast<double>(*input) *
             static_cast<double>(*columns) +
         flops_of(lengths);
}

/// Number of keys: of [batch, steps, hidden], of packed [batch, steps, heads, 2, head size], or of
/// a cache of another attention, [batch, heads, steps, head size].
std::optional<std::int64_t> key_steps(const TensorEntry* keys) {
  switch (rank(keys).value_or(0)) {
    case 3:
    case 5:
      return dim(keys, 1);
    case 4:
      return dim(keys, 2);
    default:
      return std::nullopt;
  }
}

/// Query [batch, steps, hidden], or query, key and value packed as [batch, steps, heads, 3, head
/// size].
std::optional<double> flops_multi_head(const Key& key) {
  const TensorEntry* query = key.operand(0);
  const bool packed = rank(query) == 5;
  const auto batch = dim(query, 0);
  const auto steps = dim(query, 1);
  const auto heads = integer(key, "num_heads");
  const auto value_hidden = dim(key.result(0), 2);
  const auto keys = packed ? steps : key_steps(key.operand(1));
  const auto past = past_steps(key.operand(6));
  const auto head_size = packed ? dim(query, 4) : std::nullopt;
  const auto query_hidden = dim(query, 2);  // heads, if packed
  if (!batch || !steps || !heads || !value_hidden || !keys || !past || !query_hidden)
    return std::nullopt;
  if (packed && !head_size) return std::nullopt;
  return flops_of({.batch = static_cast<double>(*batch),
                   .heads = static_cast<double>(*heads),
                   .queries = static_cast<double>(*steps),
                   .keys = static_cast<double>(*keys) + static_cast<double>(*past),
                   .query_hidden = static_cast<double>(*query_hidden) *
                                   (packed ? static_cast<double>(*head_size) : 1.0),
                   .value_hidden = static_cast<double>(*value_hidden)});
}

/// ONNX's own: [batch, heads, steps, head size] or [batch, steps, heads * head size]; the cache's
/// keys are operand 4.
std::optional<Lengths> lengths_onnx(const Key& key) {
  const TensorEntry* query = key.operand(0);
  const TensorEntry* result = key.result(0);
  const bool by_heads = rank(query) == 4;
  const auto batch = dim(query, 0);
  const auto heads = by_heads ? dim(query, 1) : integer(key, "q_num_heads");
  const auto steps = dim(query, by_heads ? 2 : 1);
  const auto query_size = dim(query, -1);
  const auto value_size = dim(result, -1);
  const auto keys = key_steps(key.operand(1));
  const auto past = past_steps(key.operand(4));
  if (!batch || !heads || !steps || !query_size || !value_size || !keys || !past)
    return std::nullopt;
  const double wide = by_heads ? static_cast<double>(*heads) : 1.0;
  return Lengths{.batch = static_cast<double>(*batch),
                 .heads = static_cast<double>(*heads),
                 .queries = static_cast<double>(*steps),
                 .keys = static_cast<double>(*keys) + static_cast<double>(*past),
                 .query_hidden = wide * static_cast<double>(*query_size),
                 .value_hidden = wide * static_cast<double>(*value_size)};
}

std::optional<double> flops_onnx(const Key& key) {
  const auto lengths = lengths_onnx(key);
  return lengths ? std::optional(flops_of(*lengths)) : std::nullopt;
}

/// Query [batch, steps, hidden], or with key and value packed behind it; the cache is operand 3
/// before and result 1 after. A cache that is shared has room for more than was seen, all of which
/// counts.
std::optional<double> flops_group_query(const Key& key) {
  const auto batch = dim(key.operand(0), 0);
  const auto steps = dim(key.operand(0), 1);
  const auto heads = integer(key, "num_heads");
  const auto hidden = dim(key.result(0), 2);
  const auto past = past_steps(key.operand(3));
  const auto present = key.result(1) == nullptr ? std::nullopt : dim(key.result(1), -2);
  if (!batch || !steps || !heads || !hidden || (!past && !present)) return std::nullopt;
  const double keys = present ? static_cast<double>(*present)
                              : static_cast<double>(*past) + static_cast<double>(*steps);
  return flops_of({.batch = static_cast<double>(*batch),
                   .heads = static_cast<double>(*heads),
                   .queries = static_cast<double>(*steps),
                   .keys = keys,
                   .query_hidden = static_cast<double>(*hidden),
                   .value_hidden = static_cast<double>(*hidden)});
}

/// Each element times a cosine, its partner times a sine, and their sum.
constexpr int kRotation = 3;

/// These have no default in their definition, but 0 means what leaving them out means.
void canonicalise(Key& key) {
  for (const std::string_view name : {"do_rotary", "past_present_share_buffer"}) {
    if (integer(key, name) == 0) drop_attribute(key, name);
  }
}

}  // namespace

/// A hyperbolic tangent each.
double capped_scores(const Key& key) {
  constexpr double kStep = 10;
  const Value* cap = key.attribute("softcap");
  const auto lengths = lengths_onnx(key);
  if (cap == nullptr || cap->real() == nullptr || *cap->real() == 0 || !lengths) return 0;
  return kStep * lengths->batch * lengths->heads * lengths->queries * lengths->keys;
}

std::vector<OperatorInfo> attention() {
  return {
      {.domain = kContrib,
       .op = "Attention",
       .inert = {"mask_filter_value"},
       .canonicalise = canonicalise,
       .flops = flops_attention<4>},
      {.domain = kContrib,
       .op = "QAttention",
       .inert = {"mask_filter_value"},
       .unprinted_operands = {1, 6},
       .canonicalise = canonicalise,
       .flops = flops_attention<8>},
      {.domain = kContrib,
       .op = "MultiHeadAttention",
       .inert = {"mask_filter_value"},
       .flops = flops_multi_head},
      {.domain = kContrib, .op = "GroupQueryAttention", .flops = flops_group_query},
      {.domain = "", .op = "Attention", .flops = flops_onnx},
      {.domain = "", .op = "RotaryEmbedding", .flops = flops_per_result<kRotation>},
      {.domain = kContrib, .op = "RotaryEmbedding", .flops = flops_per_result<kRotation>},
  };
}

}  // namespace oplat::ir::ops
