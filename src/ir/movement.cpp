// SPDX-License-Identifier: Apache-2.0
/// The operators by domain and name.
#include "ir/movement.hpp"

#include <array>
#include <map>
#include <set>
#include <utility>

namespace oplat::ir {
namespace {

constexpr std::array<std::string_view, 5> kNames = {"reorder", "copy", "cast", "quantisation",
                                                    "transpose"};

struct MovingOperator {
  std::string_view domain;
  std::string_view op;
  Movement movement;
};
constexpr std::string_view kNchwc = "com.microsoft.nchwc";
constexpr std::string_view kContrib = "com.microsoft";
constexpr std::array kMovingOperators = {
    MovingOperator{kNchwc, "ReorderInput", Movement::Reorder},
    MovingOperator{kNchwc, "ReorderOutput", Movement::Reorder},
    MovingOperator{"", "MemcpyFromHost", Movement::Copy},
    MovingOperator{"", "MemcpyToHost", Movement::Copy},
    MovingOperator{"", "Cast", Movement::Cast},
    MovingOperator{"", "CastLike", Movement::Cast},
    MovingOperator{"", "QuantizeLinear", Movement::Quantisation},
    MovingOperator{"", "DynamicQuantizeLinear", Movement::Quantisation},
    MovingOperator{"", "DequantizeLinear", Movement::Quantisation},
    MovingOperator{kContrib, "QuantizeLinear", Movement::Quantisation},
    MovingOperator{kContrib, "DequantizeLinear", Movement::Quantisation},
    MovingOperator{"", "Transpose", Movement::Transpose},
};

}  // namespace

std::string_view name(Movement movement) { return kNames.at(static_cast<std::size_t>(movement)); }

std::optional<Movement> movement_of(std::string_view domain, std::string_view op) {
  for (const MovingOperator& one : kMovingOperators)
    if (one.op == op && one.domain == domain) return one.movement;
  return std::nullopt;
}

std::vector<std::optional<bool>> inserted_by_runtime(std::span<const NodeTitle> model,
                                                     std::span<const NodeTitle> executed) {
  using Operator = std::pair<std::string_view, std::string_view>;
  std::map<Operator, std::int64_t> gone;  // of the model's nodes, those that were not found again
  std::set<std::pair<Operator, std::string_view>> names;
  for (const NodeTitle& node : model) {
    ++gone[{node.domain, node.op}];
    names.insert({{node.domain, node.op}, node.name});
  }
  std::vector<std::optional<bool>> answers(executed.size());
  std::vector<std::size_t> unknown;
  for (std::size_t i = 0; i < executed.size(); ++i) {
    const NodeTitle& node = executed[i];
    if (!movement_of(node.domain, node.op)) continue;
    if (node.name.empty() || names.contains({{node.domain, node.op}, node.name})) {
      answers[i] = false;
      --gone[{node.domain, node.op}];
    } else {
      unknown.push_back(i);
    }
  }
  for (const std::size_t i : unknown)
    answers[i] = gone[{executed[i].domain, executed[i].op}]-- <= 0;
  return answers;
}

bool only_of_runtimes(Movement movement) {
  return movement == Movement::Reorder || movement == Movement::Copy;
}

}  // namespace oplat::ir
