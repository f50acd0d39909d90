// SPDX-License-Identifier: Apache-2.0
/// Keys as text: the samples, what stands for what, and every way to be refused.
#include <gmock/gmock.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <ostream>

#include "unit/ir/key_samples.hpp"

namespace oplat::ir {
namespace {

using ::testing::HasSubstr;

TEST(KeyText, SamplesAreReadAndPrintedUnchanged) {
  ASSERT_EQ(sample_keys().size(), 16U);
  for (const std::string& text : sample_keys()) {
    const auto key = parse(text);
    ASSERT_TRUE(key.has_value()) << text << "\n" << key.error().message;
    EXPECT_EQ(print(*key), text);
  }
}

TEST(KeyText, SharedListIsTheSamples) {
  std::ifstream file(OPLAT_SHARED_DIR "/keys.txt");
  if (!file) GTEST_SKIP() << "no " << OPLAT_SHARED_DIR << "/keys.txt here";
  std::vector<std::string> keys;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line[0] != '#') keys.push_back(line);
  }
  EXPECT_EQ(keys, sample_keys());
}

TEST(KeyText, PartsOfAFusedConvolution) {
  const Key key = key_of(sample_keys()[0]);
  EXPECT_EQ(key.domain, "com.microsoft.nchwc");
  EXPECT_EQ(key.op, "Conv");
  EXPECT_EQ(key.since, 1);
  ASSERT_NE(key.tag("block"), nullptr);
  EXPECT_EQ(*key.tag("block"), Value(16));
  EXPECT_EQ(key.tag("trips"), nullptr);
  ASSERT_NE(key.attribute("activation"), nullptr);
  EXPECT_EQ(*key.attribute("activation"), Value("Relu"));
  EXPECT_EQ(*key.attribute("pads"), Value::ints({1, 1, 1, 1}));
  ASSERT_EQ(key.operands.size(), 4U);
  EXPECT_EQ(key.operands[1], Entry(TensorEntry{Dtype::F32, true, Shape::of({64, 64, 3, 3}), {}}));
  EXPECT_EQ(key.results, std::vector<Entry>{AliasEntry{3}});
  EXPECT_EQ(key.result(0), key.operand(3));
}

TEST(KeyText, AbsentRepeatedAndConstantOperands) {
  const Key lstm = key_of(sample_keys()[2]);
  EXPECT_EQ(lstm.operand(4), nullptr);
  EXPECT_EQ(lstm.result(1), nullptr);
  EXPECT_EQ(lstm.operand(7), nullptr);
  const Key mul = key_of(sample_keys()[7]);
  EXPECT_EQ(mul.operand(1), mul.operand(0));
  EXPECT_EQ(mul.result(0), mul.operand(0));
  const Key slice = key_of(sample_keys()[5]);
  EXPECT_EQ(slice.operand(2)->value, Value(List{std::numeric_limits<std::int64_t>::max()}));
  EXPECT_EQ(key_of(sample_keys()[3]).operand(5)->value, Value(0));
}

TEST(KeyText, WhatIsUnknown) {
  const auto unknown = [](std::size_t i) { return has_unknown(key_of(sample_keys()[i])); };
  EXPECT_FALSE(unknown(0));
  EXPECT_TRUE(unknown(8));    // a dimension
  EXPECT_TRUE(unknown(10));   // a rank
  EXPECT_TRUE(unknown(12));   // attributes and list elements
  EXPECT_FALSE(unknown(14));  // an element type that does not matter is not a question
  EXPECT_TRUE(has_unknown(key_of("x@t=[[?]]{}()->()")));
  EXPECT_TRUE(has_unknown(key_of("x{}(i64c[2]=[1,?])->()")));
}

TEST(KeyText, ValuesOfEveryKind) {
  const Key key = key_of(
      "x{a=-9223372036854775808,b=-0.0,c=1e-05,d=inf,e=-inf,f=nan,g=5e-324,h=word,i=\"inf\",j=\"\","
      "k=[],l=[[1],[a,2.5]]"
      ","
      "m=\"\\u00e9\\ud83d\\ude00\\u0000\",n=1e+300}()->()");
  EXPECT_EQ(*key.attribute("a")->integer(), std::numeric_limits<std::int64_t>::min());
  EXPECT_TRUE(std::signbit(*key.attribute("b")->real()));
  EXPECT_EQ(*key.attribute("c")->real(), 1e-5);
  EXPECT_EQ(*key.attribute("d")->real(), std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(*key.attribute("f")->real()));
  EXPECT_EQ(*key.attribute("g")->real(), std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(*key.attribute("i")->text(), "inf");
  EXPECT_EQ(*key.attribute("j")->text(), "");
  EXPECT_EQ(*key.attribute("k"), Value(List{}));
  EXPECT_EQ(*key.attribute("m")->text(), std::string("\xc3\xa9\xf0\x9f\x98\x80\0", 7));
}

TEST(KeyText, AMessageDoesNotRepeatAWholeKey) {
  const auto refused = parse("x{a=\"" + std::string(1 << 20, 'w') + "\"}()->()");
  ASSERT_FALSE(refused);
  EXPECT_LT(refused.error().message.size(), 200U);
}

TEST(KeyText, EqualityIsThatOfTheText) {
  EXPECT_EQ(Value(std::nan("1")), Value(std::nan("2")));
  EXPECT_FALSE(Value(0.0) == Value(-0.0));
  EXPECT_FALSE(Value(1) == Value(1.0));
  EXPECT_FALSE(Value("1") == Value(1));
  EXPECT_EQ(Value(List{1, "a"}), Value(List{1, "a"}));
}

TEST(KeyText, NamesThatAreNotBareAreQuoted) {
  const std::string text = R"("a b":"aten::add"@"ta g"=1{"x=y"=2}()->())";
  const Key key = key_of(text);
  EXPECT_EQ(key.domain, "a b");
  EXPECT_EQ(key.op, "aten::add");
  EXPECT_EQ(print(key), text);
}

TEST(KeyText, HashIsThatOfTheText) {
  const Key key = key_of(sample_keys()[0]);
  EXPECT_EQ(hash(key), base::hash128(sample_keys()[0]));
  EXPECT_NE(hash(key), hash(key_of(sample_keys()[1])));
}

TEST(KeyText, CanonicalKeysAreSorted) {
  Key key{.domain = "",
          .op = "x",
          .since = {},
          .tags = {},
          .attributes = {},
          .operands = {},
          .results = {}};
  key.tags = {{"b", 1}, {"a", 2}};
  key.attributes = {{"b", 1}, {"a_", 2}, {"aB", 3}, {"b", 4}};
  key.operands = {TensorEntry{Dtype::F32, false, Shape::of({-1, 2}), {}},
                  TensorEntry{Dtype::F32, false, Shape{false, {3}}, {}}};
  key.canonicalise();
  EXPECT_EQ(print(key), "x@a=2@b=1{aB=3,a_=2,b=1}(f32[?,2],f32[*])->()");
}

TEST(KeyText, DtypesHaveNamesAndSizes) {
  for (int i = 0; i <= static_cast<int>(Dtype::Any); ++i) {
    const auto dtype = static_cast<Dtype>(i);
    EXPECT_EQ(parse_dtype(name(dtype)), dtype);
    // "c" behind a name says constant.
    EXPECT_EQ(parse_dtype(std::string(name(dtype)) + "c"), std::nullopt);
  }
  EXPECT_EQ(bits(Dtype::BF16), 16);
  EXPECT_EQ(bits(Dtype::U4), 4);
  EXPECT_EQ(bits(Dtype::Bool), 8);
  EXPECT_EQ(bits(Dtype::String), std::nullopt);
  EXPECT_EQ(bits(Dtype::Any), std::nullopt);
  EXPECT_TRUE(is_float(Dtype::F8E5M2));
  EXPECT_FALSE(is_float(Dtype::C64));
  EXPECT_TRUE(is_integer(Dtype::U4));
  EXPECT_FALSE(is_integer(Dtype::Bool));
}

TEST(KeyText, ElementsOfShapes) {
  EXPECT_EQ(Shape::of({}).elements(), 1);
  EXPECT_EQ(Shape::of({2, 3, 4}).elements(), 24);
  EXPECT_EQ(Shape::of({std::int64_t{1} << 62, 2}).elements(), std::nullopt);
  EXPECT_EQ(Shape::of({std::int64_t{1} << 62, 4, 0}).elements(), 0);
  EXPECT_EQ((Shape{true, {2, std::nullopt}}).elements(), std::nullopt);
  EXPECT_EQ((Shape{false, {}}).elements(), std::nullopt);
}

struct Refusal {
  std::string text;
  std::string place;      ///< "byte N"
  std::string complaint;  ///< part of the message
};

void PrintTo(const Refusal& refusal, std::ostream* out) { *out << refusal.text; }

class KeyRefusal : public ::testing::TestWithParam<Refusal> {};

TEST_P(KeyRefusal, NamesPlaceAndExpectation) {
  const auto key = parse(GetParam().text);
  ASSERT_FALSE(key.has_value()) << GetParam().text;
  EXPECT_EQ(key.error().code, Code::Input);
  EXPECT_THAT(key.error().message, HasSubstr(GetParam().place + ":"));
  EXPECT_THAT(key.error().message, HasSubstr(GetParam().complaint));
}

INSTANTIATE_TEST_SUITE_P(
    Texts, KeyRefusal,
    ::testing::Values(
        Refusal{"", "byte 0", "expected an operator"}, Refusal{"Conv", "byte 4", "'{'"},
        Refusal{"x/{}()->()", "byte 2", "version"},
        Refusal{"x/01{}()->()", "byte 2", "write this number as 1"},
        Refusal{"x/99999999999999999999{}()->()", "byte 2", "63 bits"},
        Refusal{"\"\":x{}()->()", "byte 0", "an empty domain is left out"},
        Refusal{"\"x\"{}()->()", "byte 0", "write x without quotes"},
        Refusal{"x{b=1,a=2}()->()", "byte 6", "belongs before 'b'"},
        Refusal{"x{a=1,a=2}()->()", "byte 6", "twice"},
        Refusal{"x@b=1@a=2{}()->()", "byte 6", "belongs before 'b'"},
        Refusal{"x{a=}()->()", "byte 4", "expected a value"},
        Refusal{"x{a=1,}()->()", "byte 6", "a name"},
        Refusal{"x{a=01}()->()", "byte 4", "write this number as 1"},
        Refusal{"x{a=-0}()->()", "byte 4", "write this number as 0"},
        Refusal{"x{a=+1}()->()", "byte 4", "a number"},
        Refusal{"x{a=9223372036854775808}()->()", "byte 4", "64 bits"},
        Refusal{"x{a=1.50}()->()", "byte 4", "write this number as 1.5"},
        Refusal{"x{a=1e5}()->()", "byte 4", "write this number as"},
        Refusal{"x{a=1e999}()->()", "byte 4", "double"},
        Refusal{"x{a=-nan}()->()", "byte 4", "write this number as nan"},
        Refusal{"x{a=a-b}()->()", "byte 4", "quotes"},
        Refusal{"x{a=\"word\"}()->()", "byte 4", "write word without quotes"},
        Refusal{"x{a=\"a b}()->()", "byte 15", "expected '\"'"},
        Refusal{"x{a=\"\\u0041 \"}()->()", "byte 5", "the string continues with A"},
        Refusal{"x{a=\"\\/ \"}()->()", "byte 5", "continues with /"},
        Refusal{"x{a=\"\\q\"}()->()", "byte 5", "escape"},
        Refusal{"x{a=\"\\ud83d \"}()->()", "byte 5", "surrogate"},
        Refusal{"x{a=\"\\ude00\"}()->()", "byte 5", "surrogate"},
        Refusal{"x{a=\"\\u12\"}()->()", "byte 5", "escape"},
        Refusal{"x{a=\"\\u00E9\"}()->()", "byte 9", "continues with e9"},
        Refusal{"x{a=\"\xc3\xa9\"}()->()", "byte 5", "\\uXXXX"},
        Refusal{"x{a=[1,]}()->()", "byte 7", "expected a value"},
        Refusal{"x{a=[1}()->()", "byte 6", "']'"}, Refusal{"x{} ()->()", "byte 3", "'('"},
        Refusal{"x{}(f32[1]->()", "byte 10", "')'"}, Refusal{"x{}()", "byte 5", "'->'"},
        Refusal{"x{}()->() ", "byte 9", "end of the key"},
        Refusal{"x{}(f31[1])->()", "byte 4", "element type"},
        Refusal{"x{}(f32)->()", "byte 7", "'['"},
        Refusal{"x{}(f32[-1])->()", "byte 8", "a dimension"},
        Refusal{"x{}(f32[*,1])->()", "byte 9", "']'"},
        Refusal{"x{}(f32[1,*])->()", "byte 10", "a dimension"},
        Refusal{"x{}(&0)->()", "byte 4", "one of the 0 operands"},
        Refusal{"x{}(f32[1],&1)->()", "byte 11", "one of the 1 operands"},
        Refusal{"x{}(f32[1])->(&1)", "byte 14", "one of the 1 operands"},
        Refusal{"x{}(f32[1])->(&18446744073709551616)", "byte 15", "63 bits"},
        Refusal{"x{}(-,&0)->()", "byte 6", "must name an operand that is a tensor"},
        Refusal{"x{}(f32[1],&0,&1)->()", "byte 14", "must name an operand that is a tensor"},
        Refusal{"x{}(f32c[1],&0)->()", "byte 12", "not constant"},
        Refusal{"x{}(f32c[1])->(&0)", "byte 15", "not constant"}));

TEST(KeyText, DepthIsBounded) {
  const auto nested = [](std::size_t depth) {
    return "x{a=" + std::string(depth, '[') + std::string(depth, ']') + "}()->()";
  };
  EXPECT_TRUE(parse(nested(32)).has_value());
  const auto deep = parse(nested(33));
  ASSERT_FALSE(deep.has_value());
  EXPECT_THAT(deep.error().message, HasSubstr("at most 32 deep"));
  EXPECT_FALSE(parse("x{a=" + std::string(1'000'000, '[')).has_value());
}

TEST(KeyText, SizeIsBounded) {
  const auto huge = parse("x{a=\"" + std::string(std::size_t{16} << 20, ' ') + "\"}()->()");
  ASSERT_FALSE(huge.has_value());
  EXPECT_THAT(huge.error().message, HasSubstr("the limit is 16777216"));
  std::string entries = "x{}(-";
  for (int i = 0; i < 70'000; ++i) entries += ",-";
  EXPECT_THAT(parse(entries + ")->()").error().message, HasSubstr("at most 65536 operands"));
  std::string values = "x{a=[1";
  for (int i = 0; i < 1'100'000; ++i) values += ",1";
  EXPECT_THAT(parse(values + "]}()->()").error().message, HasSubstr("at most 1048576 values"));
}

}  // namespace
}  // namespace oplat::ir
