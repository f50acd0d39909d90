// SPDX-License-Identifier: Apache-2.0
/// Fusion rules as they are after reading: variables replaced, references resolved.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plan/onnxruntime/optimise.hpp"
#include "plan/rules/expression.hpp"

namespace oplat::plan::rules {

/// A node of a pattern. Every one but the first is connected to an earlier one, by an operand or
/// by a result.
struct PatternNode {
  std::string name;
  std::vector<std::string> ops;
  std::vector<std::pair<std::string, Reference>>
      reads;  ///< this slot is that result of an earlier node
  std::vector<std::pair<std::string, Reference>>
      feeds;  ///< this result is that operand of an earlier node
  std::vector<std::string> has;
  std::vector<std::string> lacks;
  std::vector<std::string> constant;  ///< operands that are there and constant
  std::vector<std::pair<std::string, ir::Value>> attributes;
};

struct ReaderChange {
  std::vector<std::string> ops;  ///< empty: every reader
  std::vector<std::pair<std::string, Expression>> set;
};

struct Rule {
  enum class Kind : std::uint8_t {
    Keep,    ///< one node stays where it is and is changed
    Make,    ///< a new node, made from one of the pattern's, stands after all others
    Remove,  ///< nothing stays
  };
  std::string name;
  int line = 0;
  std::vector<PatternNode> match;
  std::vector<Expression> where;
  std::vector<Expression>
      if_any;  ///< the rule applies to all matches or none: whether these hold for one of them
  std::string unless_marked;  ///< not where a node of the graph has this attribute set to true
  bool repeat = false;        ///< until nothing matches
  Kind kind = Kind::Keep;
  std::size_t base = 0;  ///< node that is kept or made from
  std::string op;        ///< empty: the base's
  bool only = false;     ///< operands and results are just those given here
  std::vector<std::pair<std::string, Reference>> in;
  std::vector<std::pair<std::string, Reference>> out;
  std::vector<std::pair<std::string, Expression>> set;
  std::optional<std::pair<Reference, Reference>> forward;  ///< readers of the first read the second
  std::vector<ReaderChange> readers;  ///< changes of the nodes that read the forwarded result
};

/// Where numbers of a narrower type begin and end: nodes that are marked take them, `op` stands
/// between.
struct CastRule {
  std::string marked;  ///< attribute that is true for nodes of the narrow type; empty: all
  ir::Dtype narrow = ir::Dtype::I8;
  std::string op;
  std::string in;
  std::string out;
  std::vector<std::string> weights;  ///< slots of constants that are narrow too
};

}  // namespace oplat::plan::rules

namespace oplat::plan {

struct RulePass {
  std::string name;
  std::string option;  ///< runs only where this is asked for; empty: always
  std::vector<rules::Rule> rules;
  std::optional<rules::CastRule> casts;
  /// Passes in C++ in place of patterns, repeated together.
  std::optional<ort::Level> native;
};

}  // namespace oplat::plan
