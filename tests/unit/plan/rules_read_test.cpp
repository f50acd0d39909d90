// SPDX-License-Identifier: Apache-2.0
/// Rule files: what is read, what is refused, how rules apply.
#include <gmock/gmock.h>

#include "compat/registry.hpp"
#include "unit/plan/paddle_net.hpp"

namespace oplat::plan::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string kHead =
    "format: oplat.rules/1\nname: test\nruntime: test\nversions: [\"1\", \"2\"]\nreads: "
    "paddle\nmakes: made\noptions: [fast]\npasses:\n";

Result<std::vector<RuleSet>> read(const std::string& passes) {
  return read_rules(base::Source::from_bytes("test.yaml", kHead + passes));
}
std::string error_of(const std::string& passes) {
  const auto sets = read(passes);
  if (sets) return "read";
  EXPECT_EQ(sets.error().code, Code::Input);
  return sets.error().message;
}
std::vector<std::string> ops_of(const PaddleNet& net, const RuleSet& set,
                                const RuleOptions& options = {}) {
  const auto graph = fuse(net.graph, set, options);
  if (!graph) return {graph.error().message};
  std::vector<std::string> ops;
  for (const ir::Node& node : graph->nodes) ops.push_back(node.op);
  return ops;
}

/// x -> relu -> relu -> relu -> y
PaddleNet chain() {
  PaddleNet net;
  net.input("x");
  net.activation("x", {1, 4});
  net.unary("relu", "x", "a");
  net.unary("relu", "a", "b");
  net.unary("relu", "b", "y");
  net.output("y");
  return net;
}
const std::string kPair =
    "  - name: pair\n    match:\n      - {node: one, op: relu}\n      - {node: two, op: relu, "
    "reads: {X: one.Out}}\n    keep: one\n    out: {Out: two.Out}\n";

TEST(RuleFile, VersionsShareTheirPasses) {
  const auto sets = read(
      kPair + "  - {name: later, since: \"2\", match: [{node: a, op: relu}], keep: a, op: gelu}\n");
  ASSERT_TRUE(sets) << sets.error().message;
  ASSERT_EQ(sets->size(), 2U);
  EXPECT_EQ((*sets)[0].name, "test@2");
  EXPECT_EQ((*sets)[0].passes.size(), 2U);
  EXPECT_EQ((*sets)[1].passes.size(), 1U);
  EXPECT_EQ((*sets)[0].passes[0], (*sets)[1].passes[0]);
}

TEST(RuleFile, ARuleAppliesOnceUnlessItRepeats) {
  EXPECT_THAT(ops_of(chain(), read(kPair)->front()), ElementsAre("relu", "relu"));
  EXPECT_THAT(ops_of(chain(), read(kPair + "    repeat: true\n")->front()), ElementsAre("relu"));
}

TEST(RuleFile, AnOptionIsAskedFor) {
  const auto sets = read(kPair + "    option: fast\n");
  ASSERT_TRUE(sets) << sets.error().message;
  EXPECT_THAT(ops_of(chain(), sets->front()), ElementsAre("relu", "relu", "relu"));
  EXPECT_THAT(ops_of(chain(), sets->front(), {"fast"}), ElementsAre("relu", "relu"));
}

TEST(RuleFile, OneConditionMayDecideForAll) {
  const std::string rule =
      "  - name: gated\n    match: [{node: a, op: relu}]\n    if_any: [\"producer(a.X) == "
      "gelu\"]\n    keep: a\n    op: tanh\n";
  PaddleNet net = chain();
  EXPECT_THAT(ops_of(net, read(rule)->front()), ElementsAre("relu", "relu", "relu"));
  net.graph.nodes[0].op = "gelu";
  EXPECT_THAT(ops_of(net, read(rule)->front()), ElementsAre("gelu", "tanh", "tanh"));
}

TEST(RuleFile, NodesMayBeRemovedAndReadersChanged) {
  const auto sets = read(
      "  - name: out\n    match: [{node: a, op: gelu}]\n    remove: all\n    forward: {from: "
      "a.Out, to: a.X}\n"
      "    readers: [{ops: relu, set: {was: 1 + 2}}]\n");
  ASSERT_TRUE(sets) << sets.error().message;
  PaddleNet net = chain();
  net.graph.nodes[1].op = "gelu";
  const auto graph = fuse(net.graph, sets->front());
  ASSERT_EQ(graph->nodes.size(), 2U);
  EXPECT_EQ(graph->nodes[1].inputs, net.graph.nodes[1].inputs);
  EXPECT_EQ(graph->nodes[1].attributes.at(0).second, ir::Value(3));
  EXPECT_EQ(graph->nodes[0].domain, "made");
}

TEST(RuleFile, ConditionsLookAtShapesAndAttributes) {
  const auto changed = [](const std::string& condition) {
    const auto sets = read("  - name: c\n    match: [{node: a, op: relu}]\n    where: [\"" +
                           condition + "\"]\n    keep: a\n    op: done\n");
    if (!sets) return sets.error().message;
    PaddleNet net;
    net.input("x");
    net.activation("x", {2, 3, 5});
    net.unary("relu", "x", "y",
              {{"axes", ints({4, 7})},
               {"real", ir::Value(0.5)},
               {"yes", ir::Value("true")},
               {"one", ir::Value(1)}});
    net.output("y");
    return ops_of(net, sets->front())[0];
  };
  for (const char* holds : {"dim(a.X, -1) == 5",
                            "rank(a.X) == 3",
                            "elements(a.X) == 2 * 3 * 5",
                            "attr(a.axes, 1) - 1 >= 6",
                            "length(a.axes) < 3",
                            "attr(a.real) * 2 == 1",
                            "attr(a.yes) == true",
                            "attr(a.one) == true",
                            "given(a.one)",
                            "not(given(a.two))",
                            "or(attr(a.two), 3) == 3",
                            "any(rank(a.X) == 1, rank(a.X) == 3)",
                            "readers(a.Out) == 1",
                            "abs(0 - 2) > 1",
                            "not(constant(a.X))",
                            "has(a.X)",
                            "not(has(a.Bias))",
                            "same(a.X, a.X)",
                            "producer(a.Out) == relu",
                            "list(4, 7) == attr(a.axes)",
                            "when(has(a.X), 4) == 4",
                            "(1 + 2) * 3 != 10",
                            "attr(a.yes) != false"}) {
    EXPECT_EQ(changed(holds), "done") << holds;
  }
  for (const char* fails : {"dim(a.X, 3) == 5", "rank(a.Bias) == 0", "attr(a.two) == attr(a.two)",
                            "attr(a.axes) > 1", "same(a.X, a.Out)", "attr(a.axes, 2) == 0",
                            "when(has(a.Bias), 4) == 4", "not(attr(a.two))", "attr(a.two) != 1"}) {
    EXPECT_EQ(changed(fails), "relu") << fails;
  }
}

TEST(RuleFile, ExpressionsSayWhatIsWrongWithThem) {
  const auto message = [](const std::string& condition) {
    return error_of("  - name: c\n    match: [{node: a, op: relu}]\n    where: [\"" + condition +
                    "\"]\n    keep: a\n");
  };
  EXPECT_THAT(message("dim(b.X, 0) == 1"), HasSubstr("test.yaml:11: in 'dim(b.X, 0) == 1': 'b' is "
                                                     "not a node of the pattern; its nodes are a"));
  EXPECT_THAT(message("dims(a.X) == 1"),
              HasSubstr("there is no function 'dims'; there are attr, "));
  EXPECT_THAT(message("rank(a.X"), HasSubstr("expected ',' or ')' at letter 9, found the end"));
  EXPECT_THAT(message("rank(a.X) ="), HasSubstr("expected its end at letter 11, found '='"));
  EXPECT_THAT(message("dim(a.X) == 1"), HasSubstr("'dim' needs 2 arguments"));
  EXPECT_THAT(message("rank(a.X, 1) == 1"), HasSubstr("'rank' takes no more than 1 arguments"));
  EXPECT_THAT(message("1.2.3 == 1"), HasSubstr("'1.2.3' is not a number"));
  EXPECT_THAT(message(std::string(100, '(') + "1"), HasSubstr("nested more than 16 deep"));
  EXPECT_THAT(message(std::string(500, '1')), HasSubstr("more than 400 letters"));
}

TEST(RuleFile, WhatCannotMatchOrEndIsRefused) {
  EXPECT_THAT(error_of("  - name: r\n    match: [{node: a, op: relu}]\n    keep: a\n    repeat: "
                       "true\n    set: {n: 1}\n"),
              HasSubstr("r repeats, and applies to its own result for ever"));
  EXPECT_THAT(
      error_of("  - name: r\n    match: [{node: a, op: relu}, {node: b, op: relu}]\n    keep: a\n"),
      HasSubstr("the node 'b' of r is not connected to another; say what it reads or feeds"));
  EXPECT_THAT(
      error_of("  - name: r\n    match: [{node: a, op: relu, has: X, lacks: X}]\n    keep: a\n"),
      HasSubstr("is to have 'X' and to lack it: it cannot match"));
  EXPECT_THAT(
      error_of(
          "  - {name: r, since: \"2\", until: \"1\", match: [{node: a, op: relu}], keep: a}\n"),
      HasSubstr("is since 2 and until 1: it is in no version"));
  EXPECT_THAT(error_of("  - {name: r, since: \"3\", match: [{node: a, op: relu}], keep: a}\n"),
              HasSubstr("'since' is '3'; the versions of this file are 1, 2"));
}

TEST(RuleFile, ReplacementsUseWhatThePatternBinds) {
  EXPECT_THAT(error_of("  - {name: r, match: [{node: a, op: relu}], keep: b}\n"),
              HasSubstr("'b' is not a node of the pattern; it binds a"));
  EXPECT_THAT(error_of("  - {name: r, match: [{node: a, op: relu}], keep: a, in: {X: c.X}}\n"),
              HasSubstr("'c.X' is a slot of 'c', which the pattern does not bind; it binds a"));
  EXPECT_THAT(error_of("  - {name: r, match: [{node: a, op: relu, reads: {X: b.Out}}, {node: b, "
                       "op: relu}], keep: a}\n"),
              HasSubstr("it binds nothing yet"));
  EXPECT_THAT(error_of("  - {name: r, match: [{node: a, op: relu}], keep: a, readers: []}\n"),
              HasSubstr("read"));
  EXPECT_THAT(
      error_of("  - {name: r, match: [{node: a, op: relu}], keep: a, readers: [{set: {a: 1}}]}\n"),
      HasSubstr("it has no 'forward'"));
  EXPECT_THAT(error_of("  - {name: r, match: [{node: a, op: relu}], remove: all, op: gelu}\n"),
              HasSubstr("have no node to change"));
  EXPECT_THAT(error_of("  - {name: r, match: [{node: a, op: relu}]}\n"),
              HasSubstr("needs just one of 'keep', 'make' and 'remove'"));
  EXPECT_THAT(error_of("  - {name: r, match: [{node: a, op: $op}], keep: a}\n"),
              HasSubstr("'$op' is not a variable"));
  EXPECT_THAT(
      error_of("  - {name: r, for: {}, match: [{node: a, op: relu}], keep: a, optoin: fast}\n"),
      HasSubstr("do you mean option?"));
  EXPECT_THAT(error_of("  - {name: r, option: slow, match: [{node: a, op: relu}], keep: a}\n"),
              HasSubstr("'option' is 'slow', which is not among"));
  EXPECT_THAT(error_of("  - {name: r, match: [], keep: a}\n"),
              HasSubstr("expected a list of 1 to 12 nodes"));
  EXPECT_THAT(
      error_of("  - {name: r, match: [{node: a, op: relu}, {node: a, op: relu}], keep: a}\n"),
      HasSubstr("two nodes of the pattern are called 'a'"));
  EXPECT_THAT(error_of("  - {name: r, casts: {type: i4, op: c, in: X, out: Y}}\n"),
              HasSubstr("expected i8 or f16"));
}

TEST(RuleFile, WhatIsLeftReadsWhatIsLeft) {
  const std::string match = "match: [{node: a, op: relu}, {node: b, op: gelu, reads: {X: a.Out}}]";
  EXPECT_THAT(error_of("  - {name: r, " + match + ", keep: b}\n"),
              HasSubstr("operand X of 'b' is a result of a node that r takes away"));
  EXPECT_THAT(error_of("  - {name: r, " + match + ", keep: b, in: {X: a.Out}}\n"),
              HasSubstr("is a result of 'a', which the rule takes away"));
  EXPECT_THAT(
      error_of("  - {name: r, " + match + ", remove: all, forward: {from: b.Out, to: a.Out}}\n"),
      HasSubstr("forwards to a result of 'a'"));
  EXPECT_EQ(error_of("  - {name: r, " + match + ", keep: b, in: {X: a.X}}\n"), "read");
  // What the file does not show is left alone: b.Out is read by nobody in the pattern.
  const auto sets =
      read("  - {name: r, " + match + ", keep: a, in: {X: b.Out}, out: {Out: b.Out}}\n");
  ASSERT_TRUE(sets) << sets.error().message;
  PaddleNet net = chain();
  net.graph.nodes[1].op = "gelu";
  EXPECT_THAT(ops_of(net, sets->front()), ElementsAre("relu", "gelu", "relu"));
}

TEST(RuleFile, VariantsAreBounded) {
  std::string values = "a0";
  for (int i = 1; i < 20; ++i) values += ", a" + std::to_string(i);
  EXPECT_THAT(error_of("  - {name: r, for: {x: [" + values + "], y: [" + values +
                       "]}, match: [{node: a, op: $x}], keep: a}\n"),
              HasSubstr("makes more than 256 rules of one"));
}

TEST(RuleFile, WorkIsBounded) {
  // A star of readers, each of which could begin and end the pattern.
  const auto sets = read(
      "  - name: star\n    match:\n      - {node: a, op: hub}\n      - {node: b, op: relu, reads: "
      "{X: a.Out}}\n      - {node: c, op: relu, reads: {X: a.Out}}\n"
      "      - {node: d, op: relu, reads: {X: a.Out}}\n    where: [\"1 == 2\"]\n    keep: a\n");
  ASSERT_TRUE(sets) << sets.error().message;
  PaddleNet net;
  net.input("x");
  net.activation("x", {1});
  net.unary("hub", "x", "h");
  const ir::TensorId hub = net.id("h");
  for (int i = 0; i < 100; ++i) {
    ir::Node node;
    node.name = "r" + std::to_string(i);
    node.domain = "paddle";
    node.op = "relu";
    node.inputs = {hub};
    node.input_slots = {"X"};
    net.graph.nodes.push_back(node);
  }
  EXPECT_THAT(ops_of(net, sets->front())[0], HasSubstr("finds no end in this graph: more than"));
}

TEST(RuleFile, NamedSetsMayBeFiles) {
  const auto absent = rules_named("absent.yaml", compat::rule_sets());
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().code, Code::Input);
  const std::string file = std::string(OPLAT_TEST_SOURCE_DIR) + "/../data/fusion/paddle-lite.yaml";
  const auto newest = rules_named(file, compat::rule_sets());
  ASSERT_TRUE(newest) << newest.error().message;
  EXPECT_EQ(newest->hash, built_in_rules("paddle-lite", compat::rule_sets())->hash);
  EXPECT_EQ(rules_named(file + "@2.10", compat::rule_sets())->name, "paddle-lite@2.10");
  EXPECT_THAT(rules_named(file + "@1", compat::rule_sets()).error().message,
              HasSubstr("has no version '1'; it has 2.12, 2.10"));
}

}  // namespace
}  // namespace oplat::plan::testing
