// SPDX-License-Identifier: Apache-2.0
/// Operators that move or convert data, which a runtime may put in besides those of the model.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace oplat::ir {

enum class Movement : std::uint8_t {
  Reorder,       ///< to and from a blocked layout, an operator of the runtime's own domain
  Copy,          ///< between devices, no operator of ONNX
  Cast,          ///< to another element type
  Quantisation,  ///< QuantizeLinear, DynamicQuantizeLinear and DequantizeLinear
  Transpose,
};
/// "reorder", "copy", "cast", "quantisation", "transpose".
std::string_view name(Movement movement);

/// What an operator moves; std::nullopt if it computes.
std::optional<Movement> movement_of(std::string_view domain, std::string_view op);
/// Whether no model holds such a node unless the runtime put it there.
bool only_of_runtimes(Movement movement);

/// A node as a model's file calls it.
struct NodeTitle {
  std::string domain;  ///< "" for ONNX's own
  std::string op;
  std::string name;  ///< "" where the file gives none
};
/// Of the nodes that a runtime executes, besides those of the model that it was given: whether it
/// put the node in (true) or the model has it (false); nothing of operators that compute, which
/// runtimes fuse and split. A node whose name the model knows for the same operator, or one without
/// a name, is the model's. Of others as many are the model's, moved elsewhere, as the model has
/// nodes of the operator that are no longer there.
std::vector<std::optional<bool>> inserted_by_runtime(std::span<const NodeTitle> model,
                                                     std::span<const NodeTitle> executed);

}  // namespace oplat::ir
