// SPDX-License-Identifier: Apache-2.0
/// Python literals: what ast.literal_eval takes, and that code is refused where it stands.
#include "compat/tinynas/literal.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace oplat::compat::tinynas {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

Literal parsed(std::string_view text) {
  auto literal = parse_literal(text);
  EXPECT_TRUE(literal) << text << ": " << literal.error().message;
  return literal ? *literal : Literal{};
}

std::string refused(std::string_view text) {
  const auto literal = parse_literal(text);
  EXPECT_FALSE(literal) << text;
  return literal ? "" : literal.error().message;
}

TEST(Literal, Integers) {
  const std::pair<const char*, std::int64_t> cases[] = {
      {"7", 7},     {"-3", -3},   {"+3", 3},       {"- 3", -3}, {"0x1F", 31},
      {"0b101", 5}, {"0o17", 15}, {"1_000", 1000}, {"00", 0},   {" (7) ", 7}};
  for (const auto& [text, value] : cases) {
    const Literal literal = parsed(text);
    ASSERT_NE(literal.integer(), nullptr) << text;
    EXPECT_EQ(*literal.integer(), value) << text;
  }
}

TEST(Literal, Reals) {
  const std::pair<const char*, double> cases[] = {
      {"0.5", 0.5}, {"1.", 1}, {".25", 0.25}, {"1e3", 1000}, {"-2.5E-1", -0.25}, {"1_0.5", 10.5}};
  for (const auto& [text, value] : cases) {
    const Literal literal = parsed(text);
    ASSERT_TRUE(std::holds_alternative<double>(literal.value)) << text;
    EXPECT_EQ(std::get<double>(literal.value), value) << text;
  }
}

TEST(Literal, Strings) {
  const std::pair<const char*, const char*> cases[] = {{"'ab'", "ab"},
                                                       {"\"a'b\"", "a'b"},
                                                       {"'a' \"b\"\n", "ab"},
                                                       {"r'a\\n'", "a\\n"},
                                                       {"u'x'", "x"},
                                                       {"'\\x41\\u00e9\\101\\q'",
                                                        "A\xC3\xA9"
                                                        "A\\q"},
                                                       {"'''a\n'b'''", "a\n'b"},
                                                       {"'a\\\nb'", "ab"},
                                                       {"('a'\n # more\n 'b')", "ab"}};
  for (const auto& [text, value] : cases) {
    const Literal literal = parsed(text);
    ASSERT_NE(literal.text(), nullptr) << text;
    EXPECT_EQ(*literal.text(), value) << text;
  }
}

TEST(Literal, Containers) {
  const Literal literal =
      parsed("# a comment\n{'a': [1, 2,], 'b': (1,), 'c': (), 'd': {1, 2}, 'a': True, 'e': None,}");
  const auto* dictionary = literal.dictionary();
  ASSERT_NE(dictionary, nullptr);
  ASSERT_NE(dictionary->find("a"), nullptr);
  EXPECT_TRUE(std::get<bool>(dictionary->find("a")->value));  // the last of two, as in Python
  EXPECT_EQ(dictionary->find("b")->sequence()->items.size(), 1U);
  EXPECT_EQ(dictionary->find("c")->sequence()->items.size(), 0U);
  EXPECT_EQ(dictionary->find("d")->sequence()->kind, '{');
  EXPECT_FALSE(dictionary->find("e")->truthy());
  EXPECT_EQ(dictionary->find("f"), nullptr);
  EXPECT_EQ(parsed("1, 2").sequence()->items.size(), 2U);
}

TEST(Literal, CodeIsRefusedWhereItStands) {
  const std::pair<const char*, const char*> cases[] = {
      {"[1, foo]", "1:5: found the name 'foo', which is code"},
      {"__import__('os').system('true')", "1:1: found the name '__import__', which is code"},
      {"[x for x in y]", "1:2: found the name 'x'"},
      {"[1 for x in y]", "1:4: found the word 'for', which is code"},
      {"[\n  2 * 3]", "2:5: found '*', an expression, which is code"},
      {"'a'.upper()", "1:4: found '.'"},
      {"[1][0]", "1:4: found '['"},
      {"f'{x}'", "1:1: found an f-string"},
      {"1 if True else 2", "1:3: found the word 'if'"},
      {"{**{}}", "1:2: found '*'"},
      {"not True", "1:1: found the word 'not'"},
      {"1j", "complex"}};
  for (const auto& [text, why] : cases) EXPECT_THAT(refused(text), HasSubstr(why)) << text;
}

TEST(Literal, MalformedTextIsRefused) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "the text is empty"},     {"[1", "1:3: the text ends; expected ',' or ']'"},
      {"[1 2]", "1:4: found '2'"},   {"{'a' 1}", "1:6: found '1'"},
      {"{'a': }", "1:7: found '}'"}, {"'abc", "1:1: the string does not end"},
      {"'a\nb'", "does not end"},    {"{[1]: 2}", "1:2: a list cannot be a key"},
      {"012", "begins with 0"},      {"99999999999999999999", "does not fit into 64 bits"},
      {"1__0", "inside a number"},   {"0x", "has no digits"},
      {"'\\xg'", "hexadecimal"},     {"'a' b'b'", "1:5: found b', which begins a byte string"},
      {"[,]", "1:2: found ','"},     {"{'a': 1, 2}", "expected ':'"}};
  for (const auto& [text, why] : cases) EXPECT_THAT(refused(text), HasSubstr(why)) << text;
  EXPECT_THAT(refused(std::string_view("[1, \0]", 6)), StartsWith("1:5: "));
}

TEST(Literal, BytesAreNoText) {
  for (const char* text : {"[b'x']", "[B\"x\"]", "[rb'x']", "[bR\"\"\"x\"\"\"]", "{b'k': 3}"}) {
    EXPECT_THAT(refused(text), StartsWith("1:2: found ")) << text;
    EXPECT_THAT(refused(text), HasSubstr("which begins a byte string; omit the b")) << text;
  }
}

TEST(Literal, DepthAndSizeAreBounded) {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_TRUE(parse_literal(nested(64)));
  EXPECT_THAT(refused(nested(66)), HasSubstr("nested deeper than 64"));
  EXPECT_THAT(refused(std::string(1'000'000, '[')), HasSubstr("nested deeper than 64"));
  EXPECT_THAT(refused(std::string((std::size_t{16} << 20) + 1, ' ')),
              HasSubstr("the limit for a literal is 16 MiB"));
  std::string many = "[";
  for (int i = 0; i < 1'000'001; ++i) many += "1,";
  EXPECT_THAT(refused(many + "]"), HasSubstr("more than 1000000 values"));
}

}  // namespace
}  // namespace oplat::compat::tinynas
