// SPDX-License-Identifier: Apache-2.0
/// Operators that read a part of their operands.
#include "ir/moved_work.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <variant>

#include "ir/catalogue.hpp"
#include "ir/operand_values.hpp"
#include "ir/operators/arguments.hpp"
#include "ir/operators/experts.hpp"
#include "ir/operators/slow_steps.hpp"
#include "ir/parameters.hpp"
#include "ir/value_costs.hpp"

namespace oplat::ir {
namespace {

/// Besides look-ups, in whatever domain.
constexpr std::array<std::string_view, 10> kPicking = {
    "Slice",        "Shape", "Size",          "Compress", "ArrayFeatureExtractor",
    "StridedSlice", "slice", "strided_slice", "shape",    "shape64"};

/// Rotary embeddings, whose constants are tables of cosines and sines, one row a position.
constexpr std::array<std::string_view, 3> kRotating = {"RotaryEmbedding", "GroupQueryAttention",
                                                       "SparseAttention"};

/// Which ask an operand for its shape alone.
constexpr std::array<std::string_view, 3> kDrawing = {"RandomNormalLike", "RandomUniformLike",
                                                      "EyeLike"};

template <class Names>
bool is_among(const Names& names, std::string_view op) {
  return std::find(names.begin(), names.end(), op) != names.end();
}

/// Of what is updated in place the updates alone.
void put_updates(const Key& key, Work& moved) {
  const bool inserts = key.op == "TensorScatter";
  if (!inserts && key.op != "Scatter" && key.op != "ScatterElements") return;
  const auto* alias = key.results.empty() ? nullptr : std::get_if<AliasEntry>(&key.results.front());
  const TensorEntry* whole = key.operand(0);
  const TensorEntry* updates = key.operand(inserts ? 1 : 2);
  if (alias == nullptr || alias->index != 0 || whole == nullptr || updates == nullptr) return;
  const auto of_whole = stored_bytes(*whole);
  const auto of_updates = stored_bytes(*updates);
  if (!of_whole || !of_updates) return;
  moved.bytes_in = std::max(0.0, moved.bytes_in - *of_whole);
  moved.bytes_out = *of_updates;
}

/// Of its operands what it picks: of each no more than it writes, of indices and conditions all.
void pick(const Key& key, bool of_constants_alone, Work& moved) {
  moved.bytes_in = 0;
  moved.bytes_weights = parameter_bytes(key.attributes);
  for (std::size_t i = 0; i < key.operands.size(); ++i) {
    const auto* tensor = std::get_if<TensorEntry>(&key.operands[i]);
    const auto stored = tensor == nullptr ? std::nullopt : stored_bytes(*tensor);
    if (!stored) continue;
    const OperandRule* rule = operand_rule(key.domain, key.op, i);
    const bool whole =
        (of_constants_alone && !tensor->constant) ||
        (rule != nullptr && (rule->role == ValueRole::Index || rule->role == ValueRole::Data));
    (tensor->constant ? moved.bytes_weights : moved.bytes_in) +=
        whole ? *stored : std::min(*stored, moved.bytes_out);
  }
}

}  // namespace

bool picks(std::string_view op) { return is_look_up(op) || is_among(kPicking, op); }

bool picks_constants(std::string_view op) { return picks(op) || is_among(kRotating, op); }

Work moved_work(const Key& key, const Catalogue& catalogue) {
  const OperatorInfo* info = catalogue.find(key.domain, key.op);
  return moved_work(work(key, info), key, info);
}

Work moved_work(Work moved, const Key& key, const OperatorInfo* info) {
  if (picks_constants(key.op)) pick(key, !picks(key.op), moved);
  const bool resizes = key.op == "Resize" || key.op == "Upsample";
  if (resizes && ops::integer(key, "antialias").value_or(0) == 0) {
    if (const auto neighbours = ops::neighbours_of_resize(key))
      moved.bytes_in = std::min(moved.bytes_in, *neighbours * moved.bytes_out);
  }
  if (is_among(kDrawing, key.op)) moved.bytes_in = 0;
  put_updates(key, moved);
  if (const auto visits = ops::visits_of_forest(key))
    moved.bytes_weights = std::min(moved.bytes_weights, *visits * kNodeBytes);
  if (const auto experts = ops::experts_of(key))
    moved.bytes_weights *= experts->touched / experts->experts;
  // Of a half, or of less, it writes zeros; how much of the rest it reads is in its operand's
  // value.
  if (key.op == "Trilu") moved.bytes_in = 0;
  if (info != nullptr && info->hands_on) moved.bytes_out = 0;
  return moved;
}

}  // namespace oplat::ir
