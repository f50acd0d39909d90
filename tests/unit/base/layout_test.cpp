// SPDX-License-Identifier: Apache-2.0
#include "base/layout.hpp"

#include <gtest/gtest.h>

namespace oplat::base {
namespace {

TEST(Layout, CharactersCountAndColoursDoNot) {
  EXPECT_EQ(text_columns(""), 0U);
  EXPECT_EQ(text_columns("abc"), 3U);
  EXPECT_EQ(text_columns("h\xc3\xa4user"), 6U);
  EXPECT_EQ(text_columns("\x1b[1mbold\x1b[0m"), 4U);
  EXPECT_EQ(text_columns("\x1b[1"), 0U) << "a sequence that does not end";
}

TEST(Layout, TheMiddleIsLeftOut) {
  EXPECT_EQ(shorten_middle("short", 8), "short");
  EXPECT_EQ(shorten_middle("abcdefghijklmnop", 9), "abc...nop");
  EXPECT_EQ(shorten_middle("abcdefghijklmnop", 10), "abcd...nop");
  EXPECT_EQ(
      shorten_middle("\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4xyz", 9),
      "\xc3\xa4\xc3\xa4\xc3\xa4...xyz");
  EXPECT_EQ(text_columns(shorten_middle(std::string(100, 'x'), 3)), 8U) << "no less than that";
}

TEST(Layout, LinesWrapAtBlanksWithAnIndentation) {
  EXPECT_EQ(wrap_line("one two", 20), "one two");
  EXPECT_EQ(wrap_line("one two three four", 10), "one two\n  three\n  four");
  EXPECT_EQ(wrap_line("  one two three four", 12), "  one two\n    three\n    four");
  EXPECT_EQ(wrap_line("one  two", 8), "one  two") << "blanks inside a line stay";
  EXPECT_EQ(wrap_lines("one two three\n\nfour\n", 8, 0), "one two\nthree\n\nfour\n");
}

TEST(Layout, WordsBehindAMarkAreSorted) {
  EXPECT_EQ(sort_words_behind(" Excludes: ", "--csv Excludes: --json --format"),
            "--csv Excludes: --format --json");
  EXPECT_EQ(sort_words_behind(" Excludes: ", "--csv"), "--csv");
  EXPECT_EQ(sort_words_behind(" Excludes: ", "--csv Excludes: "), "--csv");
}

TEST(Layout, UnitsGoWithTheirNumbers) {
  EXPECT_EQ(wrap_line("within 10 % of all", 10, 0), "within\n10 % of\nall");
  EXPECT_EQ(wrap_line("it took 1.5 ms, then", 11, 0), "it took\n1.5 ms,\nthen");
  EXPECT_EQ(wrap_line("all of 12 models", 9, 0), "all of 12\nmodels") << "not a unit";
  EXPECT_EQ(wrap_line("ends in 12", 8, 0), "ends in\n12");
}

TEST(Layout, PathsStayWholeAndKeysAreShortened) {
  const std::string path = "/a/path/of/thirty/columns/x.onnx";
  EXPECT_EQ(wrap_line("see " + path + " there", 20), "see\n  " + path + "\n  there");
  const std::string key = "Conv/11{a=1}(f32[1,3,224,224],f32c[64,3,7,7])->(f32[1,64,112,112])";
  const std::string wrapped = wrap_line("  " + key, 40);
  EXPECT_EQ(text_columns(wrapped), 40U);
  EXPECT_EQ(wrapped, "  Conv/11{a=1}(f32[1...32[1,64,112,112])");
}

TEST(Layout, FullLinesGoOnWhenTheyAreReflowed) {
  const std::string full = std::string(40, 'a') + " " + std::string(41, 'b');
  EXPECT_EQ(reflow(full + "\nc d\n", 50),
            std::string(40, 'a') + "\n" + std::string(41, 'b') + " c d\n");
  EXPECT_EQ(reflow("short\nlines\n", 50), "short\nlines\n");
  EXPECT_EQ(reflow(full + "\n  indented", 90), full + "\n  indented\n");
}

TEST(Layout, EntriesHangTheirDescription) {
  EXPECT_EQ(entry_lines("  --seed N", "random seed", 12, 40), "  --seed N  random seed");
  EXPECT_EQ(entry_lines("  --seed N", "one two three", 12, 20),
            "  --seed N  one two\n            three");
  EXPECT_EQ(entry_lines("  --seeds N", "random", 12, 40), "  --seeds N\n            random")
      << "two blanks, or a line of its own";
}

}  // namespace
}  // namespace oplat::base
