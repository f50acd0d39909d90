// SPDX-License-Identifier: Apache-2.0
/// Rules that give the results of operators their sizes: each file of this folder adds those of
/// some operators. A rule is false where the sizes do not say the result's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "plan/onnxruntime/net.hpp"

namespace oplat::plan::ort::shapes {

using Rule = bool (*)(Net&, NodeId);
/// By operator, of each domain.
struct Rules {
  std::unordered_map<std::string_view, Rule> onnx, contrib, blocked;
};
void add_elementwise(Rules& to);
void add_windows(Rules& to);
void add_products(Rules& to);
void add_movement(Rules& to);
void add_reductions(Rules& to);

/// Larger ones are of no model that runs, and products of those below stay within 63 bits.
inline constexpr std::int64_t kMaxDim = std::int64_t{1} << 31U;
inline constexpr std::int64_t kMaxWindow = std::int64_t{1} << 24U;
bool is_size(std::int64_t dim);

/// Gives result `i` its type and sizes.
void set(Net& net, NodeId id, std::size_t i, ir::Dtype dtype, const Dims& dims);
/// A tensor without anything known where the operand is missing.
const Tensor& operand(const Net& net, NodeId id, std::size_t i);
bool has(const Net& net, NodeId id, std::size_t i);
std::optional<int> axis_in(std::int64_t axis, int rank);
/// Axes of an attribute or, in later versions, of an operand; all of them without.
std::optional<std::vector<bool>> axes_of(const Net& net, NodeId id, std::size_t at, int rank,
                                         bool all);
std::optional<Dims> broadcast(const Dims& a, const Dims& b);

}  // namespace oplat::plan::ort::shapes
