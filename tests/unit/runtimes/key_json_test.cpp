// SPDX-License-Identifier: Apache-2.0
#include "runtimes/key_json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace oplat::runtimes {
namespace {

const std::vector<std::string> kKeys{
    "Relu/14{}(f32[1,64,56,56])->(&0)",
    "com.microsoft.nchwc:Conv/1@block=16{activation=Relu,dilations=[1,1],group=1,pads=[1,1,1,1]}"
    "(f32[1,64,56,56],f32c[64,64,3,3],f32c[64],f32[1,64,56,56])->(&3)",
    "Slice/13{}(f32[1,7,14,384],i64c[1]=[1],i64c[1]=[9223372036854775807],i64c[1]=[2])->"
    "(f32[1,7,7,384])",
    "torch:module{class=\"nets.Block\",repr=\"Block(\\n  (conv1): Conv2d(64, 64)\\n)\"}"
    "(f32[1,64,56,56])->(f32[1,128,28,28])",
    "paddle_lite:conv2d{activation=?,dilations=[?,1],quant=None}(f32[?,3,224,224],f32c[24,3,3,3])"
    "->(f32[1,24,112,112])",
    "LSTM/14{}(f32[20,4,64],-,f32c[],&0)->(f32[20,1,4,512],-,-)",
    "a:b@x=1e-05@y=[]{alpha=-2.5,list=[[1],[2.0,nan]],word=\"inf\"}(i64c[2]=7)->()",
    "a:b{high=inf,low=-inf,whole=6.0,zero=-0.0}(any[*],i64c[2]=?)->(bool[0])",
};

TEST(KeyJsonTest, EveryKeyComesBackAsItWas) {
  for (const std::string& text : kKeys) {
    const auto key = ir::parse(text);
    ASSERT_TRUE(key) << text << ": " << key.error().message;
    // Through text, as it reaches another language.
    const auto back = key_from_json(nlohmann::json::parse(key_to_json(*key).dump()));
    ASSERT_TRUE(back) << text << ": " << back.error().message;
    EXPECT_EQ(*back, *key) << text;
    EXPECT_EQ(ir::print(*back), text);
  }
}

TEST(KeyJsonTest, ThePartsHaveTheirNames) {
  const auto key = ir::parse("a:b/3@t=1{x=?}(f32[?,2],i64c[1]=[5],&0,-,any[*])->(&0)");
  ASSERT_TRUE(key) << key.error().message;
  EXPECT_EQ(key_to_json(*key), nlohmann::json::parse(R"({"domain": "a", "op": "b", "since": 3,
      "tags": {"t": 1}, "attributes": {"x": null},
      "operands": [{"dtype": "f32", "dims": [null, 2]},
                   {"dtype": "i64", "dims": [1], "constant": true, "value": [5]},
                   {"alias": 0}, null, {"dtype": "any", "dims": null}],
      "results": [{"alias": 0}]})"));
}

TEST(KeyJsonTest, FieldsMayBeMissingAndNamesComeInAnyOrder) {
  const auto key = key_from_json(nlohmann::json::parse(
      R"({"op": "relu", "attributes": {"b": true, "a": 1}, "operands": [{"dtype": "f32", "dims": []}]})"));
  ASSERT_TRUE(key) << key.error().message;
  EXPECT_EQ(ir::print(*key), "relu{a=1,b=true}(f32[])->()");
}

TEST(KeyJsonTest, WhatIsNotAKeyIsNamed) {
  std::string deep;
  for (int i = 0; i < 40; ++i) deep += '[';
  for (int i = 0; i < 40; ++i) deep += ']';
  const std::vector<std::pair<std::string, std::string>> cases{
      {"[]", "expected a JSON object"},
      {R"({"op": 1})", "op"},
      {R"({"op": "a", "since": -1})", "since"},
      {R"({"op": "a", "attributes": []})", "attributes"},
      {R"({"op": "a", "attributes": {"x": {"float": "one"}}})", "x"},
      {R"({"op": "a", "attributes": {"x": 18446744073709551615}})", "x"},
      {R"({"op": "a", "attributes": {"x": )" + deep + "}}", "nest"},
      {R"({"op": "a", "operands": [7]})", "operands[0]"},
      {R"({"op": "a", "operands": [null, {"dims": [1]}]})", "operands[1]"},
      {R"({"op": "a", "operands": [{"dtype": "f31", "dims": [1]}]})", "f31"},
      {R"({"op": "a", "operands": [{"dtype": "f32", "dims": [-1]}]})", "-1 is not a dimension"},
      {R"({"op": "a", "operands": [{"dtype": "f32", "dims": 3}]})", "dims"},
      {R"({"op": "a", "operands": [{"dtype": "f32", "dims": [1], "constant": 1}]})", "constant"},
      {R"({"op": "a", "operands": [{"alias": 5}]})", "key:"},
      {R"({"op": "a", "results": [{"alias": -1}]})", "alias"},
  };
  for (const auto& [text, word] : cases) {
    const auto key = key_from_json(nlohmann::json::parse(text));
    ASSERT_FALSE(key) << text;
    EXPECT_EQ(key.error().code, Code::Input);
    EXPECT_THAT(key.error().message, testing::HasSubstr(word)) << text;
  }
}

}  // namespace
}  // namespace oplat::runtimes
