// SPDX-License-Identifier: Apache-2.0
/// PIR: the same words as ProgramDesc, and what is said about programs that are broken.
#include <fmt/format.h>

#include "unit/formats/paddle/programs.hpp"

namespace oplat::formats::paddle {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): the programs of this folder
using ::testing::ElementsAre;

std::string type(const std::string& dims) {
  return R"({"#":"0.t_dtensor","D":[{"#":"0.t_f32"},[)" + dims + R"(],"NCHW",[],0]})";
}
std::string result(int id, const std::string& dims) {
  return fmt::format(R"({{"%":{},"TT":{}}})", id, type(dims));
}
std::string op(const std::string& name, const std::vector<int>& operands,
               const std::string& results, const std::string& attributes = "") {
  std::string inputs;
  for (const int id : operands)
    inputs += fmt::format(R"({}{{"%":{}}})", inputs.empty() ? "" : ",", id);
  return fmt::format(R"({{"#":"{}","A":[{}],"I":[{}],"O":[{}],"OA":[]}})", name, attributes, inputs,
                     results);
}
std::string program(const std::vector<std::string>& ops) {
  return fmt::format(
      R"({{"base_code":{{"magic":"pir","trainable":false,"version":1}},"program":{{"regions":[{{"#":"region_0","blocks":[{{"#":"block_0","args":[],"ops":[{}]}}]}}]}}}})",
      fmt::join(ops, ","));
}
const std::string kData =
    op("1.data", {}, result(1, "-1,8,4,4"), R"({"N":"name","AT":{"#":"0.a_str","D":"x"}})");
const std::string kParameter =
    R"({"#":"p","A":[0,1,0,"bias"],"DA":[],"O":)" + result(2, "8") + R"(,"OA":[1,0,1],"QA":[]})";
const std::string kShape = op(
    "1.full_int_array", {}, result(3, "4"),
    R"({"N":"value","AT":{"#":"0.a_array","D":[{"#":"0.a_i64","D":1},{"#":"0.a_i64","D":-1},{"#":"0.a_i64","D":1},{"#":"0.a_i64","D":1}]}},{"N":"dtype","AT":{"#":"1.a_dtype","D":"int64"}})");
const std::string kReshape = op("1.reshape", {2, 3}, result(4, "1,8,1,1"));
const std::string kAdd = op("1.add_", {1, 4}, result(5, "-1,8,4,4"));
const std::string kFetch = op("1.fetch", {5}, result(6, "-1,8,4,4"));

Result<ir::Graph> read_pir(const std::string& bytes, const ShapeOptions& options = batch(2)) {
  return reader().read(base::Source::from_bytes("net.json", bytes), options);
}

TEST(PaddlePir, OperatorsAreCalledAsInProgramDesc) {
  const std::string bytes = program({kData, kParameter, kShape, kReshape, kAdd, kFetch});
  const auto best = reader_for(base::Source::from_bytes("a", bytes));
  ASSERT_TRUE(best) << best.error().message;
  EXPECT_EQ((*best)->name(), "paddle");
  const auto graph = read_pir(bytes);
  ASSERT_TRUE(graph) << graph.error().message;
  ASSERT_EQ(graph->nodes.size(), 2U);
  EXPECT_EQ(graph->nodes[0].op, "reshape2");
  EXPECT_THAT(graph->nodes[0].input_slots, ElementsAre("X"));
  EXPECT_EQ(shown(*graph, graph->nodes[0].inputs[0]), "bias f32c[8]");
  ASSERT_EQ(graph->nodes[0].attributes.size(), 1U);
  EXPECT_EQ(graph->nodes[0].attributes[0], ir::NamedValue("shape", ir::Value::ints({1, -1, 1, 1})));
  EXPECT_EQ(graph->nodes[1].op, "elementwise_add");
  EXPECT_THAT(graph->nodes[1].input_slots, ElementsAre("X", "Y"));
  EXPECT_EQ(shown(*graph, graph->nodes[1].inputs[0]), "x f32[2,8,4,4]");
  EXPECT_EQ(graph->nodes[1].attributes, (std::vector<ir::NamedValue>{{"axis", -1}}));
  EXPECT_THAT(graph->outputs, ElementsAre(graph->nodes[1].outputs[0]));
}

TEST(PaddlePir, ParametersThatDoNotPersistAreSavedNowhere) {
  const std::string state =
      R"({"#":"p","A":[0,1,1,"state__non_persistable"],"DA":[],"O":{"%":7,"TT":{"#":"0.t_dtensor","D":[{"#":"0.t_ui8"},[],"NCHW",[],0]}},"OA":[0,1,0],"QA":[]})";
  const auto folder = base::TemporaryFolder::create("oplat-test");
  ASSERT_TRUE(folder);
  const auto path = folder->path() / "net.json";
  // Twenty bytes before the element type's, four of that and the size, eight elements.
  ASSERT_TRUE(base::write_file(folder->path() / "net.pdiparams", std::string(24 + 32, '\0')));
  ASSERT_TRUE(
      base::write_file(path, program({kData, kParameter, state, kShape, kReshape, kAdd, kFetch})));
  const auto source = base::Source::open(path.string());
  ASSERT_TRUE(source);
  const auto graph = reader().read(*source, batch(2));
  EXPECT_TRUE(graph) << graph.error().message;
  std::string stored = state;
  stored.replace(stored.find("[0,1,0]"), 7, "[1,1,0]");
  ASSERT_TRUE(
      base::write_file(path, program({kData, kParameter, stored, kShape, kReshape, kAdd, kFetch})));
  const auto again = base::Source::open(path.string());
  ASSERT_TRUE(again);
  expect_refused(reader().read(*again, batch(2)), Code::Input, "56 bytes, but the 2 parameters of");
}

TEST(PaddlePir, WhatIsBrokenIsNamed) {
  const std::string good = program({kData, kParameter, kShape, kReshape, kAdd, kFetch});
  expect_refused(read_pir(good.substr(0, good.size() - 3)), Code::Input, "truncated");
  expect_refused(read_pir(program({kData, kParameter, kShape, kAdd, kReshape, kFetch})),
                 Code::Input, "operator 3 (add_) reads value 4, which no earlier operator writes");
  expect_refused(read_pir(program({kData, kData, kFetch})), Code::Input, "input 'x' appears twice");
  expect_refused(read_pir(program({kData, kParameter, kShape, kReshape, kReshape, kAdd, kFetch})),
                 Code::Input,
                 "operator 4 (reshape) writes value 4, which an earlier operator also writes");
  expect_refused(read_pir(program({})), Code::Input, "holds no operators");
  expect_refused(read_pir(program({R"({"A":[]})"})), Code::Input, "operator 0 has no name");
  expect_refused(read_pir(program({op("1.relu", {}, R"({"%":1})")})), Code::Input, "a type \"TT\"");
  expect_refused(read_pir(R"({"base_code":{"magic":"pir"},"program":{"regions":[]}})"), Code::Input,
                 "lacks a first region");
  expect_refused(read_pir(R"({"base_code":{"magic":"tar","x":"pir"},"program":{"regions":[]}})"),
                 Code::Input, "magic");
  const std::string deep =
      program({kData, op("1.relu", {1},
                         R"({"%":2,"TT":)" + std::string(500, '[') + std::string(500, ']') + "}")});
  expect_refused(read_pir(deep), Code::Input, "truncated");
  expect_refused(read_pir(program({kData, op("1.mystery", {1}, result(9, "-1,3")),
                                   op("1.fetch", {9}, result(10, "-1,3"))})),
                 Code::Input,
                 "operator 1 (mystery) has an unknown result shape: 'value_9' is [-1,3]");
  const std::string branch =
      R"({"#":"1.if","A":[],"I":[{"%":1}],"O":[],"regions":[{"#":"region_1","blocks":[]}]})";
  expect_refused(read_pir(program({kData, branch})), Code::Input, "(if) runs block 1");
}

}  // namespace
}  // namespace oplat::formats::paddle
