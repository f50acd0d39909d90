// SPDX-License-Identifier: Apache-2.0
/// Conditions and values of fusion rules: `dim(add.Y, -1) == dim(mul.Y, 1)`, `attr(a.scale) *
/// attr(b.scale)`.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "ir/graph.hpp"

namespace oplat::plan::rules {

/// "mul.Y": a slot or an attribute of a node of a pattern.
struct Reference {
  std::size_t node = 0;  ///< index into the pattern
  std::string name;
};

/// What expressions ask of a match.
class Facts {
 public:
  virtual ~Facts() = default;
  [[nodiscard]] virtual const ir::Value* attribute(const Reference& of) const = 0;
  /// kNoTensor where the node lacks the slot.
  [[nodiscard]] virtual ir::TensorId tensor(const Reference& of) const = 0;
  [[nodiscard]] virtual const ir::TensorInfo& info(ir::TensorId tensor) const = 0;
  [[nodiscard]] virtual std::size_t readers(ir::TensorId tensor) const = 0;
  /// Operator of the node that writes it; empty where none does.
  [[nodiscard]] virtual std::string_view producer(ir::TensorId tensor) const = 0;
};

class Expression {
 public:
  /// `nodes` are the names that references may have. An error's message says what is wrong with the
  /// text, without place.
  static Result<Expression> parse(std::string_view text, const std::vector<std::string>& nodes);
  /// Unknown where something that it needs is not known.
  [[nodiscard]] ir::Value value(const Facts& facts) const;
  /// Unknown counts as no.
  [[nodiscard]] bool holds(const Facts& facts) const;

  struct Node;

 private:
  std::shared_ptr<const Node> root_;
};

}  // namespace oplat::plan::rules
