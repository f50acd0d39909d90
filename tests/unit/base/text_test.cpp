// SPDX-License-Identifier: Apache-2.0
/// Numbers as text, quoting, slips of the finger.
#include "base/text.hpp"

#include "base/message.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

namespace oplat::base {
namespace {

using namespace std::string_literals;

TEST(FloatText, AlwaysLooksLikeAFloat) {
  EXPECT_EQ(float_text(0.0), "0.0");
  EXPECT_EQ(float_text(-0.0), "-0.0");
  EXPECT_EQ(float_text(1.0), "1.0");
  EXPECT_EQ(float_text(-3.0), "-3.0");
  EXPECT_EQ(float_text(0.1), "0.1");
  EXPECT_EQ(float_text(1e-5), "1e-05");
  EXPECT_EQ(float_text(1e22), "1e+22");
  EXPECT_EQ(float_text(std::numeric_limits<double>::infinity()), "inf");
  EXPECT_EQ(float_text(-std::numeric_limits<double>::infinity()), "-inf");
  EXPECT_EQ(float_text(std::nan("")), "nan");
  EXPECT_EQ(float_text(-std::nan("")), "nan");
}

TEST(FloatText, ReadsBackToTheSameBits) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 20'000; ++i) {
    const auto value = std::bit_cast<double>(random());
    if (std::isnan(value)) continue;
    const auto back = parse_double(float_text(value));
    ASSERT_TRUE(back) << float_text(value);
    ASSERT_EQ(std::bit_cast<std::uint64_t>(*back), std::bit_cast<std::uint64_t>(value))
        << float_text(value);
  }
}

TEST(FloatText, LeastAndGreatestReadBack) {
  for (const double value :
       {std::numeric_limits<double>::denorm_min(), std::numeric_limits<double>::min(),
        std::numeric_limits<double>::max(), std::numeric_limits<double>::lowest()}) {
    EXPECT_EQ(parse_double(float_text(value)), value);
  }
}

TEST(ParseDouble, TakesTheWholeTextOrNothing) {
  EXPECT_EQ(parse_double("2.5"), 2.5);
  EXPECT_EQ(parse_double("-4"), -4.0);
  EXPECT_EQ(parse_double("1e3"), 1000.0);
  EXPECT_EQ(parse_double("inf"), std::numeric_limits<double>::infinity());
  EXPECT_EQ(parse_double("-inf"), -std::numeric_limits<double>::infinity());
  ASSERT_TRUE(parse_double("nan"));
  EXPECT_TRUE(std::isnan(*parse_double("nan")));
  for (const char* text : {"", " 1", "1 ", "1.5x", "+1", "1,5", "--1", "e5", "."})
    EXPECT_FALSE(parse_double(text)) << text;
}

TEST(ParseDouble, RefusesWhatNoDoubleHolds) { EXPECT_FALSE(parse_double("1e999")); }

TEST(ParseInt, TakesTheWholeTextOrNothing) {
  EXPECT_EQ(parse_int("0"), 0);
  EXPECT_EQ(parse_int("-17"), -17);
  EXPECT_EQ(parse_int("9223372036854775807"), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(parse_int("-9223372036854775808"), std::numeric_limits<std::int64_t>::min());
  for (const char* text : {"", "9223372036854775808", "1.0", " 1", "1 ", "0x10", "+1"})
    EXPECT_FALSE(parse_int(text)) << text;
}

TEST(Split, KeepsEmptyParts) {
  EXPECT_EQ(split("a,,b,", ','), (std::vector<std::string>{"a", "", "b", ""}));
  EXPECT_EQ(split("", ','), std::vector<std::string>{""});
  const std::vector<std::string> parts = {"1", "3", "224"};
  EXPECT_EQ(join(parts, "x"), "1x3x224");
  EXPECT_EQ(join({}, ", "), "");
}

TEST(JsonQuote, EscapesControlCharactersAndQuotes) {
  EXPECT_EQ(json_quote(""), R"("")");
  EXPECT_EQ(json_quote("a\"b\\c/d"), R"("a\"b\\c/d")");
  EXPECT_EQ(json_quote("\n\r\t\b\f"), R"("\n\r\t\b\f")");
  EXPECT_EQ(json_quote("\0\x01\x1f\x7f"s), R"("\u0000\u0001\u001f\u007f")");
}

TEST(JsonQuote, EscapesBeyondAsciiAsUtf16) {
  EXPECT_EQ(json_quote("\u00e9"), R"("\u00e9")");
  EXPECT_EQ(json_quote("\u20ac"), R"("\u20ac")");
  EXPECT_EQ(json_quote("\U0001F600"), R"("\ud83d\ude00")");
  EXPECT_EQ(json_quote("\U0010FFFF"), R"("\udbff\udfff")");
}

TEST(JsonQuote, ReplacesInvalidUtf8) {
  EXPECT_EQ(json_quote("\xc3("), R"("\ufffd(")");          // a lead byte without its second
  EXPECT_EQ(json_quote("a\x80z"), R"("a\ufffdz")");        // a continuation on its own
  EXPECT_EQ(json_quote("\xc0\xaf"), R"("\ufffd\ufffd")");  // "/" in two bytes
  EXPECT_EQ(json_quote("\xe0\x80\x80"), R"("\ufffd\ufffd\ufffd")");  // NUL in three
  EXPECT_EQ(json_quote("\xed\xa0\x80"), R"("\ufffd\ufffd\ufffd")");  // half of a surrogate pair
  EXPECT_EQ(json_quote("\xf4\x90\x80\x80"), R"("\ufffd\ufffd\ufffd\ufffd")");  // above U+10FFFF
  EXPECT_EQ(json_quote("ab\xe2\x82"), R"("ab\ufffd\ufffd")");                  // cut at the end
}

TEST(NearestWord, FindsSlipsOfTheFinger) {
  const std::vector<std::string> known = {"onnxruntime", "replay", "reference"};
  EXPECT_EQ(nearest_word("onnxruntme", known), "onnxruntime");
  EXPECT_EQ(nearest_word("relpay", known), "replay");
  EXPECT_EQ(nearest_word("referense", known), "reference");
  EXPECT_EQ(nearest_word("replay", known), "replay");
}

TEST(NearestWord, SaysNothingWhereNothingIsNear) {
  const std::vector<std::string> known = {"onnxruntime", "replay", "reference"};
  EXPECT_FALSE(nearest_word("tflite", known));
  EXPECT_FALSE(nearest_word("", known));
  EXPECT_FALSE(nearest_word("replay", {}));
}

TEST(NearestWord, SharesMoreThanItDiffers) {
  const std::vector<std::string> known = {"n", "hw"};
  EXPECT_FALSE(nearest_word("x", known));
  EXPECT_FALSE(nearest_word("ab", known));
}

TEST(Printable, ShowsBytesAndCuts) {
  EXPECT_EQ(printable("conv 1"), "conv 1");
  EXPECT_EQ(printable("a\nb\x1b[31m"), "a\\x0ab\\x1b[31m");
  EXPECT_EQ(printable("\xff\0"s), "\\xff\\x00");
  EXPECT_EQ(printable("abcdef", 3), "abc...");
  EXPECT_EQ(printable("abc", 3), "abc");
}

TEST(Text, PrintableKeepsCharactersAndShowsWhatATerminalObeys) {
  EXPECT_EQ(printable("zażółć 模型.onnx"), "zażółć 模型.onnx");
  EXPECT_EQ(printable("\xc2\x9b[31m"), "\\u{9b}[31m") << "the escape sequence of Latin-1";
  EXPECT_EQ(printable("a\xe2\x80\xae"
                      "b"),
            "a\\u{202e}b")
      << "writes backwards";
  EXPECT_EQ(printable("\x7f\xc3("), "\\x7f\\xc3(") << "DEL, and half a character";
  EXPECT_EQ(printable("\xf0\x9f\x98\x80"), "\xf0\x9f\x98\x80");
  EXPECT_EQ(printable("模型", 1), "模...") << "cut between characters";
}

TEST(Text, NoNameBeginsALineOfAMessage) {
  EXPECT_EQ(printable_message("all is well"), "all is well");
  EXPECT_EQ(printable_message("a: two\n  b: one\n  c"), "a: two\n  b: one\n  c");
  EXPECT_EQ(printable_message("x\noplat: forged"), "x\\x0aoplat: forged");
  EXPECT_EQ(printable_message(std::string("\0\r\x1b]0;title\x07", 12)),
            "\\x00\\x0d\\x1b]0;title\\x07");
}

TEST(Text, LinesOfAReportStay) {
  EXPECT_EQ(printable_lines("a\tb\nc\n"), "a\tb\nc\n");
  EXPECT_EQ(printable_lines("a\r\x1b[2J\x7f\n\xc2\x9b"), "a\\x0d\\x1b[2J\\x7f\n\\u{9b}");
  EXPECT_EQ(printable_lines("\x1b[1mx\x1b[0m"), "\\x1b[1mx\\x1b[0m");
  EXPECT_EQ(printable_lines("\x1b[1mx\x1b[0m\x1b[2J", true), "\x1b[1mx\x1b[0m\\x1b[2J");
  EXPECT_EQ(printable_lines("zażółć 模型\n"), "zażółć 模型\n");
}

TEST(Text, ErrorsBecomePrintable) {
  const Error made = printable_error(fail(Code::Input, "{}: bad", "\x1b[2J\n\xff").value());
  EXPECT_EQ(made.code, Code::Input);
  EXPECT_EQ(made.message, "\\x1b[2J\\x0a\\xff: bad");
}

}  // namespace
}  // namespace oplat::base
