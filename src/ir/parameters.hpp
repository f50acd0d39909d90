// SPDX-License-Identifier: Apache-2.0
/// Attributes that hold parameters of a trained model, as keys say them: what kind and how many.
///
/// Operators of ai.onnx.ml keep in attributes what others keep in constant operands: coefficients,
/// trees, vocabularies. Number by number they would make keys of megabytes, and a model that is
/// trained again would share no row with the one before it, although it does the same work. A key
/// says their sizes instead, as it does for weights, and the kernel is built with values made up:
/// `coefficients="values:f32[90000]"`, `forest_nodes=63500` (ADR 0040).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "ir/dtype.hpp"
#include "ir/key.hpp"

namespace oplat::ir {

/// "values:f32[90000]": values that the key counts and does not print.
struct CountedValues {
  Dtype dtype = Dtype::F32;  ///< F32, I64 or String
  std::int64_t count = 0;
  friend bool operator==(const CountedValues&, const CountedValues&) = default;
};
/// std::nullopt if `text` is not such a text.
std::optional<CountedValues> counted_values(std::string_view text);
/// Whether a text stands for a list that is too long for a key and cannot be made up again
/// ("hash:i64[5000]=0123456789abcdef").
bool is_hashed_list(std::string_view text);

/// The trees of TreeEnsembleRegressor or TreeEnsembleClassifier, as far as they decide its work:
/// attributes `forest_*` of a key.
struct Forest {
  std::int64_t trees = 0;
  std::int64_t nodes = 0;     ///< leaves included
  std::int64_t depth = 0;     ///< edges from a root to the deepest leaf
  std::int64_t features = 0;  ///< one more than the greatest feature that a node looks at
  std::int64_t weights = 0;   ///< entries of leaves: class_weights or target_weights
  std::int64_t ids = 0;       ///< different classes or targets among them
  List modes;                 ///< of inner nodes: different ones, sorted
  bool doubles = false;       ///< thresholds and weights are tensors of doubles
  friend bool operator==(const Forest&, const Forest&) = default;
};
/// Of a node of a tree in ONNX Runtime's memory.
inline constexpr double kNodeBytes = 24;
/// That of a key's attributes; std::nullopt if they hold none, or an implausible one.
std::optional<Forest> forest_of(const Key& key);

/// Replaces attributes of a node that hold parameters, and lists that are too long for a key, by
/// what a key says of them. Attributes that already are such texts stay.
void summarise_parameters(std::string_view domain, std::string_view op,
                          std::vector<NamedValue>& attributes);

/// Bytes of parameters that summarised attributes stand for, in the runtime's memory.
double parameter_bytes(std::span<const NamedValue> attributes);

}  // namespace oplat::ir
