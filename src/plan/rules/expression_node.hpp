// SPDX-License-Identifier: Apache-2.0
/// An expression as a tree, and its reader.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "plan/rules/expression.hpp"

namespace oplat::plan::rules {

enum class Function : std::uint8_t {
  Attr,
  Given,
  Length,
  Same,
  Has,
  Dim,
  Rank,
  Elements,
  Constant,
  Readers,
  Producer,
  Or,
  Abs,
  When,
  Not,
  Any,
  List,
};

struct Expression::Node {
  enum class Kind : std::uint8_t { Literal, Binary, Call };
  Kind kind = Kind::Literal;
  ir::Value literal = {};
  Function function = Function::Attr;
  std::string name = {};  ///< of the operator between two arguments
  std::vector<Reference> references = {};
  std::vector<Node> arguments = {};
};

Result<Expression::Node> parse_expression(std::string_view text,
                                          const std::vector<std::string>& nodes);

}  // namespace oplat::plan::rules
