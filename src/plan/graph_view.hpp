// SPDX-License-Identifier: Apache-2.0
/// A graph as its kernels are made from it. It looks into a model's ir::Graph or into what an
/// optimiser left of one, and copies next to nothing of either: a plan by rules would spend a fifth
/// of its time on a graph that is thrown away.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.hpp"

namespace oplat::plan {

/// As ir::TensorInfo.
struct TensorView {
  std::string_view name;
  std::optional<ir::Dtype> dtype;
  bool ranked = true;
  bool constant = false;
  bool overridable = false;
  bool outer = false;
  std::span<const ir::Dim> dims;
  std::uint64_t constant_bytes = 0;
  std::uint64_t constant_hash = 0;
  const ir::List* small_value = nullptr;
};

/// Without a name in common.
using AttributeLists = std::array<std::span<const ir::NamedValue>, 2>;

/// As ir::Node.
struct NodeView {
  std::string_view name;
  std::string_view domain;
  std::string_view op;
  std::optional<std::int64_t> since;
  AttributeLists attributes;
  std::span<const ir::TensorId> inputs;
  std::span<const ir::TensorId> outputs;
  std::span<const ir::TensorId> captured;
  const ir::Node* whole = nullptr;  ///< has the bodies; nullptr: there are none

  [[nodiscard]] bool has_bodies() const { return whole != nullptr && !whole->bodies.empty(); }
};

/// As ir::Graph. What it looks into must outlive it and stay as it is.
struct GraphView {
  GraphView() = default;
  GraphView(const ir::Graph& graph);  // NOLINT(google-explicit-constructor)
  GraphView(GraphView&&) = default;
  GraphView& operator=(GraphView&&) = default;
  GraphView(const GraphView&) = delete;
  GraphView& operator=(const GraphView&) = delete;
  ~GraphView() = default;

  [[nodiscard]] const TensorView& tensor(ir::TensorId id) const {
    return tensors[static_cast<std::size_t>(id)];
  }

  std::vector<TensorView> tensors;
  std::vector<NodeView> nodes;
  std::span<const ir::TensorId> inputs;
  std::span<const ir::TensorId> outputs;
  const std::map<std::string, std::int64_t>* opsets = nullptr;
  const ir::Graph* whole = nullptr;  ///< nullptr: of an optimiser
  /// Of an optimiser: what its own form of a graph does not hold.
  std::vector<ir::Dim> made_dims;
  std::deque<std::string> made_names;
};

}  // namespace oplat::plan
