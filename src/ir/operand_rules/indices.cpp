// SPDX-License-Identifier: Apache-2.0
/// Indices, which must be in range, and divisors, which must not be 0.
#include <algorithm>

#include "ir/operand_rules/fills.hpp"

namespace oplat::ir::fills {
namespace {

template <std::size_t kTable, int kAxis>
Fill index_into(const Key& key, std::size_t) {
  return below(size_along(key.operand(kTable), kAxis));
}

/// Of Gather and its kin, along the attribute "axis" of operand 0.
Fill index_along_axis(const Key& key, std::size_t) {
  return below(size_along(key.operand(0), attribute(key, "axis", 0)));
}

/// Tuples of indices, each below the dimension that it indexes.
Fill index_tuples(const Key& key, std::size_t operand) {
  const TensorEntry* data = key.operand(0);
  const TensorEntry* tuples = key.operand(operand);
  if (data == nullptr || tuples == nullptr || tuples->shape.dims.empty()) return below(1);
  const auto first =
      static_cast<std::size_t>(std::max<std::int64_t>(0, attribute(key, "batch_dims", 0)));
  const std::int64_t width =
      tuples->shape.dims.back().value_or(static_cast<std::int64_t>(data->shape.dims.size()));
  OperandFill fill;
  for (std::size_t i = first; i < data->shape.dims.size(); ++i) {
    if (static_cast<std::int64_t>(i - first) >= width) break;
    fill.highs.push_back(std::max<std::int64_t>(0, data->shape.dims[i].value_or(1) - 1));
  }
  if (fill.highs.empty()) return below(1);
  return fill;
}

Fill index_of_unpooled(const Key& key, std::size_t) {
  const TensorEntry* result = key.result(0);
  const auto inside = result != nullptr ? result->shape.elements() : std::nullopt;
  if (inside) return below(inside);
  const auto pooled = count_of(key, 0);
  return below(pooled);
}

Fill index_of_one_hot(const Key& key, std::size_t) {
  if (const auto depth = said(key, 1); depth && depth->size() == 1)
    return below(static_cast<std::int64_t>((*depth)[0]));
  return below(size_along(key.result(0), attribute(key, "axis", -1)));
}

/// Positions of com.microsoft's RotaryEmbedding: one offset for all, or one each.
Fill rotary_positions(const Key& key, std::size_t operand) {
  const auto cache = size_along(key.operand(2), 0);
  const auto x = ops::dims_of(key.operand(0));
  if (!cache || !x) return below(1);
  if (count_of(key, operand) != std::int64_t{1}) return below(cache);
  const std::int64_t length = x->size() == 4 ? (*x)[2] : x->size() > 1 ? (*x)[1] : 1;
  return below(std::max<std::int64_t>(1, *cache - length + 1));
}

/// Where TensorScatter writes its update: it must fit in.
Fill write_position(const Key& key, std::size_t) {
  const std::int64_t axis = attribute(key, "axis", -2);
  const auto cache = size_along(key.operand(0), axis);
  const auto update = size_along(key.operand(1), axis);
  return below(cache.value_or(1) - update.value_or(0) + 1);
}

/// Of classes, along dimension 1.
Fill class_index(const Key& key, std::size_t) { return below(size_along(key.operand(0), 1)); }

/// Of tables that are quantised by blocks along "quantize_axis".
Fill index_of_blocks(const Key& key, std::size_t) {
  return below(size_along(key.operand(0), attribute(key, "gather_axis", 0)));
}

/// Groups of MatMulNBits: K columns, in blocks.
Fill index_of_groups(const Key& key, std::size_t operand) {
  const auto columns = size_along(key.operand(operand), 0);
  const std::int64_t block = std::max<std::int64_t>(1, attribute(key, "block_size", 32));
  return below((columns.value_or(1) + block - 1) / block);
}

Fill divisor(const Key& key, std::size_t operand) {
  const TensorEntry* entry = key.operand(operand);
  if (entry == nullptr || is_float(entry->dtype)) return std::nullopt;
  return each(1);
}

/// Where copies write over the divisor, their result divides the next one: it must not be 0.
Fill dividend(const Key& key, std::size_t) {
  const TensorEntry* entry = key.operand(0);
  const auto* alias = key.results.empty() ? nullptr : std::get_if<AliasEntry>(&key.results[0]);
  if (entry == nullptr || is_float(entry->dtype) || alias == nullptr || alias->index != 1)
    return std::nullopt;
  return each(1);
}

}  // namespace

const std::vector<OperandRule>& rules_of_indices() {
  static const std::vector<OperandRule> kRules = {
      {"", "Gather", 1, Role::Index, index_along_axis},
      {"", "GatherElements", 1, Role::Index, index_along_axis},
      {"", "GatherND", 1, Role::Index, index_tuples},
      {kMs, "GatherND", 1, Role::Index, index_tuples},
      {kMs, "GatherBlockQuantized", 1, Role::Index, index_of_blocks},
      {"", "Scatter", 1, Role::Index, index_along_axis},
      {"", "ScatterElements", 1, Role::Index, index_along_axis},
      {"", "ScatterND", 1, Role::Index, index_tuples},
      {"", "TensorScatter", 2, Role::Index, write_position},
      {"", "RoiAlign", 2, Role::Index, index_into<0, 0>},
      {kMs, "CropAndResize", 2, Role::Index, index_into<0, 0>},
      {"", "MaxUnpool", 1, Role::Index, index_of_unpooled},
      {"", "OneHot", 0, Role::Index, index_of_one_hot},
      {"", "RotaryEmbedding", 3, Role::Index, index_into<1, 0>},
      {kMs, "RotaryEmbedding", 1, Role::Index, rotary_positions},
      {kMs, "GroupQueryAttention", 9, Role::Index, index_into<7, 0>},
      {kMs, "EmbedLayerNormalization", 0, Role::Index, index_into<2, 0>},
      {kMs, "EmbedLayerNormalization", 1, Role::Index, index_into<4, 0>},
      {kMs, "EmbedLayerNormalization", 8, Role::Index, index_into<3, 0>},
      {kMs, "QEmbedLayerNormalization", 0, Role::Index, index_into<2, 0>},
      {kMs, "QEmbedLayerNormalization", 1, Role::Index, index_into<4, 0>},
      {kMs, "WordConvEmbedding", 0, Role::Index, index_into<3, 0>},
      {kMs, "MatMulNBits", 4, Role::Index, index_of_groups},
      {"ai.onnx.ml", "ArrayFeatureExtractor", 1, Role::Index, index_into<0, -1>},
      {"", "NegativeLogLikelihoodLoss", 1, Role::Index, class_index},
      {"", "SoftmaxCrossEntropyLoss", 1, Role::Index, class_index},
      {"", "Div", 1, Role::Divisor, divisor},
      {"", "Mod", 1, Role::Divisor, divisor},
      {"", "Div", 0, Role::Divisor, dividend},
  };
  return kRules;
}

}  // namespace oplat::ir::fills
