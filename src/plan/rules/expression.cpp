// SPDX-License-Identifier: Apache-2.0
/// Expressions of fusion rules, evaluated over a match.
#include "plan/rules/expression.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "plan/rules/expression_node.hpp"

namespace oplat::plan::rules {
namespace {

using Node = Expression::Node;
using ir::Value;

Value truth(bool is) { return Value(is ? "true" : "false"); }
/// Words of truth and their numbers: formats spell it either way.
std::optional<bool> truth_of(const Value& value) {
  if (const auto* word = value.text()) {
    if (*word == "true") return true;
    if (*word == "false") return false;
  }
  if (const auto* number = value.integer()) return *number != 0;
  return std::nullopt;
}

std::optional<double> number_of(const Value& value) {
  if (const auto* integer = value.integer()) return static_cast<double>(*integer);
  if (const auto* real = value.real()) return *real;
  return std::nullopt;
}

std::optional<std::int64_t> integer_of(const std::optional<double>& number) {
  constexpr double kMax = 1e15;
  if (!number || std::abs(*number) > kMax || std::floor(*number) != *number) return std::nullopt;
  return static_cast<std::int64_t>(*number);
}

/// The element, counted from the end where `index` is negative.
template <class T>
const T* element(const std::vector<T>& list, const Value& index) {
  const auto* given = index.integer();
  if (given == nullptr) return nullptr;
  const auto size = static_cast<std::int64_t>(list.size());
  const std::int64_t at = *given < 0 ? size + *given : *given;
  return at < 0 || at >= size ? nullptr : &list[static_cast<std::size_t>(at)];
}

class Evaluation {
 public:
  explicit Evaluation(const Facts& facts) : facts_(facts) {}

  Value of(const Node& node) const {
    switch (node.kind) {
      case Node::Kind::Literal:
        return node.literal;
      case Node::Kind::Binary:
        return binary(node);
      case Node::Kind::Call:
        return call(node);
    }
    return {};
  }

 private:
  Value binary(const Node& node) const {
    const Value left = of(node.arguments[0]);
    const Value right = of(node.arguments[1]);
    if (left.unknown() || right.unknown()) return {};
    const std::string_view op = node.name;
    const auto a = number_of(left), b = number_of(right);
    if (op == "==" || op == "!=") {
      const auto left_truth = truth_of(left), right_truth = truth_of(right);
      // A truth is compared with a truth however either is written, numbers by their value, all
      // else by its text.
      const bool as_word =
          (left.text() != nullptr) != (right.text() != nullptr) && left_truth && right_truth;
      const bool same = as_word ? left_truth == right_truth : a && b ? *a == *b : left == right;
      return truth(same == (op == "=="));
    }
    if (!a || !b) return {};
    if (op == "<") return truth(*a < *b);
    if (op == "<=") return truth(*a <= *b);
    if (op == ">") return truth(*a > *b);
    if (op == ">=") return truth(*a >= *b);
    const double result = op == "+" ? *a + *b : op == "-" ? *a - *b : *a * *b;
    if (left.integer() == nullptr || right.integer() == nullptr) return Value(result);
    const auto whole = integer_of(result);
    return whole ? Value(*whole) : Value();
  }

  Value call(const Node& node) const {
    const auto argument = [&](std::size_t i) { return of(node.arguments[i]); };
    switch (node.function) {
      case Function::Attr: {
        const Value* given = facts_.attribute(node.references[0]);
        if (given == nullptr || node.arguments.empty()) return given == nullptr ? Value() : *given;
        const Value* one =
            given->list() == nullptr ? nullptr : element(*given->list(), argument(0));
        return one == nullptr ? Value() : *one;
      }
      case Function::Given:
        return truth(facts_.attribute(node.references[0]) != nullptr);
      case Function::Length: {
        const Value* given = facts_.attribute(node.references[0]);
        if (given == nullptr || given->list() == nullptr) return {};
        return Value(static_cast<std::int64_t>(given->list()->size()));
      }
      case Function::Same: {
        const ir::TensorId first = facts_.tensor(node.references[0]);
        return truth(first != ir::kNoTensor && first == facts_.tensor(node.references[1]));
      }
      case Function::Has:
        return truth(facts_.tensor(node.references[0]) != ir::kNoTensor);
      case Function::Dim:
      case Function::Rank:
      case Function::Elements:
      case Function::Constant:
      case Function::Readers:
      case Function::Producer:
        return tensor_fact(node);
      case Function::Or: {
        Value first = argument(0);
        return first.unknown() ? argument(1) : first;
      }
      case Function::Abs: {
        const Value given = argument(0);
        if (const auto* integer = given.integer()) return Value(std::abs(*integer));
        if (const auto* real = given.real()) return Value(std::abs(*real));
        return {};
      }
      case Function::When:
        return truth_of(argument(0)).value_or(false) ? argument(1) : Value();
      case Function::Not: {
        const auto given = truth_of(argument(0));
        return given ? truth(!*given) : Value();
      }
      case Function::Any:
        return truth(
            std::any_of(node.arguments.begin(), node.arguments.end(),
                        [&](const Node& one) { return truth_of(of(one)).value_or(false); }));
      case Function::List: {
        ir::List list;
        for (std::size_t i = 0; i < node.arguments.size(); ++i) {
          list.push_back(argument(i));
          if (list.back().unknown()) return {};
        }
        return Value(std::move(list));
      }
    }
    return {};
  }

  Value tensor_fact(const Node& node) const {
    const ir::TensorId tensor = facts_.tensor(node.references[0]);
    if (tensor == ir::kNoTensor) return {};
    const ir::TensorInfo& info = facts_.info(tensor);
    switch (node.function) {
      case Function::Constant:
        return truth(info.constant);
      case Function::Readers:
        return Value(static_cast<std::int64_t>(facts_.readers(tensor)));
      case Function::Producer:
        return Value(std::string(facts_.producer(tensor)));
      default:
        break;
    }
    if (!info.shape.ranked) return {};
    if (node.function == Function::Rank)
      return Value(static_cast<std::int64_t>(info.shape.dims.size()));
    if (node.function == Function::Dim) {
      const ir::Dim* dim = element(info.shape.dims, of(node.arguments[0]));
      return dim != nullptr && *dim ? Value(**dim) : Value();
    }
    const auto elements = info.shape.elements();
    return elements ? Value(*elements) : Value();
  }

  const Facts& facts_;
};

}  // namespace

ir::Value Expression::value(const Facts& facts) const { return Evaluation(facts).of(*root_); }

bool Expression::holds(const Facts& facts) const { return truth_of(value(facts)).value_or(false); }

Result<Expression> Expression::parse(std::string_view text, const std::vector<std::string>& nodes) {
  OPLAT_TRY(root, parse_expression(text, nodes));
  Expression made;
  made.root_ = std::make_shared<const Node>(std::move(root));
  return made;
}

}  // namespace oplat::plan::rules
