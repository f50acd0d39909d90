// SPDX-License-Identifier: Apache-2.0
/// Graph: the format-neutral form of a model. Readers produce it; nobody behind them sees protobuf.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ir/key.hpp"

namespace oplat::ir {

/// Index into Graph::tensors; kNoTensor where an optional operand is missing or a result is unused.
using TensorId = std::int32_t;
inline constexpr TensorId kNoTensor = -1;

struct TensorInfo {
  std::string name;
  std::optional<Dtype> dtype;  ///< std::nullopt if neither the model nor a run says
  Shape shape;                 ///< unranked where unknown
  bool constant = false;
  bool overridable = false;          ///< an initialiser that a caller may replace: no constant, but
                                     ///< stored with the model, and used where nobody does
  bool outer = false;                ///< in a body: belongs to an enclosing graph
  std::uint64_t constant_bytes = 0;  ///< stored size of a constant or an overridable tensor
  std::uint64_t constant_hash = 0;   ///< of its bytes, so that shared weights are counted once
  /// flat, of integer and boolean constants of <= 64 elements and floats of <= 16; one value of
  /// larger ones of integers that are all equal
  std::optional<Value> small_value;
};

struct Graph;

struct Node {
  std::string name;
  std::string domain;
  std::string op;
  std::optional<std::int64_t> since;
  std::vector<NamedValue> attributes;  ///< tensors and graphs left out: the first as {dtype, dims}
                                       ///< text, the second below
  std::vector<TensorId> inputs;
  std::vector<TensorId> outputs;
  /// Parameter name of each operand and result ("Input", "Filter"; "Output"), for formats that name
  /// them; empty elsewhere. A parameter that takes a list is named once for each of its
  /// tensors.
  std::vector<std::string> input_slots = {};
  std::vector<std::string> output_slots = {};
  std::vector<std::pair<std::string, std::shared_ptr<const Graph>>> bodies;  ///< of If, Loop, Scan
  std::vector<TensorId> captured;  ///< tensors of this graph that the bodies read
};

struct Graph {
  std::string name;
  std::vector<TensorInfo> tensors;
  std::vector<Node> nodes;       ///< in an order that a runtime may execute
  std::vector<TensorId> inputs;  ///< without initialisers
  std::vector<TensorId> outputs;
  std::map<std::string, std::int64_t> opsets;  ///< domain -> version
};

}  // namespace oplat::ir
