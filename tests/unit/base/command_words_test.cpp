// SPDX-License-Identifier: Apache-2.0
#include "base/command_words.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace oplat::base {
namespace {

using ::testing::ElementsAre;

const UnknownWords kTable = {
    .command = "oplat table", .words = {}, .commands = {"info", "rows"}, .flags = {"--table"}};

std::string said_of(std::vector<std::string> words, UnknownWords of = kTable) {
  of.words = std::move(words);
  return unknown_words_text(of);
}

TEST(UnknownWords, AWordThatShouldBeACommandComesFirst) {
  EXPECT_EQ(said_of({"rosw", "--x"}),
            "'rosw' is not a command of oplat table (did you mean rows?)");
  EXPECT_EQ(said_of({"zzzzzz"}), "'zzzzzz' is not a command of oplat table");
}

TEST(UnknownWords, AFlagIsNamedWithoutItsValue) {
  EXPECT_EQ(said_of({"--tabel=t.oplat", "info"}),
            "--tabel is not an option of oplat table (did you mean --table?)");
  UnknownWords predict = kTable;
  predict.command = "oplat predict";
  predict.commands.clear();
  EXPECT_EQ(said_of({"more.onnx", "--tabel"}, predict),
            "--tabel is not an option of oplat predict (did you mean --table?)");
}

TEST(UnknownWords, FurtherArgumentsAreQuoted) {
  UnknownWords check = {.command = "oplat check", .words = {}, .commands = {}, .flags = {}};
  EXPECT_EQ(said_of({"a b", "c\x1b[2J"}, check),
            "oplat check takes no further argument: 'a b' 'c\\x1b[2J'");
  UnknownWords profile = {
      .command = "oplat profile", .words = {}, .commands = {}, .flags = {"--model", "--keys"}};
  EXPECT_EQ(said_of({"a.onnx"}, profile),
            "oplat profile takes no further argument: a.onnx (models are given with --model)");
}

TEST(UnknownWords, ABareDashIsNotAFlag) {
  EXPECT_FALSE(is_flag("-"));
  EXPECT_FALSE(is_flag(""));
  EXPECT_TRUE(is_flag("-q"));
  EXPECT_TRUE(is_flag("--table=t"));
}

TEST(InTypedOrder, WordsKeepTheirPlaces) {
  const std::vector<const char*> typed = {"oplat", "b", "--x", "a"};
  EXPECT_THAT(in_typed_order({"a", "not typed", "b", "--x"}, typed),
              ElementsAre("b", "--x", "a", "not typed"));
}

TEST(EmptyItem, IsFoundInBothSpellings) {
  const auto of = [](std::vector<const char*> typed) { return empty_item_text("--batch", typed); };
  EXPECT_EQ(of({"oplat", "--batch", "1,,2"}), "--batch: '1,,2' has an empty item");
  EXPECT_EQ(of({"oplat", "--batch=,1"}), "--batch: ',1' has an empty item");
  EXPECT_EQ(of({"oplat", "--batch", "1", "--batch", "2,"}), "--batch: '2,' has an empty item");
  EXPECT_EQ(of({"oplat", "--batch", "1,2"}), std::nullopt);
  EXPECT_EQ(of({"oplat", "--batches=,1", "--threads", ",1", "--batch"}), std::nullopt);
}

TEST(NotFiniteText, IsOfNumbersThatPassThroughRanges) {
  for (const char* bad : {"nan", "NaN", "+nan", "-inf", "infinity", "1e999"})
    EXPECT_EQ(not_finite_text(bad), std::string(bad) + " is not a finite number");
  for (const char* other : {"0", "-1", "1e300", "", "many", "1e-999"})
    EXPECT_EQ(not_finite_text(other), "") << other;
}

TEST(NotANumber, IsAWordAndNotANumberOutOfRange) {
  EXPECT_EQ(not_a_number_text("abc", true, "1 to 9"),
            "'abc' is not a whole number; expected one from 1 to 9");
  EXPECT_EQ(not_a_number_text("1.5", true, "1 to 9"),
            "'1.5' is not a whole number; expected one from 1 to 9");
  EXPECT_EQ(not_a_number_text("1.5.", false, "0 to 1"),
            "'1.5.' is not a number; expected one from 0 to 1");
  EXPECT_TRUE(not_a_number_text("", true, "1 to 9"));
  EXPECT_TRUE(not_a_number_text("-", true, "1 to 9"));
  for (const char* number : {"5", "-3", "+7", "99999999999999999999"})
    EXPECT_EQ(not_a_number_text(number, true, "1 to 9"), std::nullopt) << number;
  EXPECT_EQ(not_a_number_text("1e-3", false, "0 to 1"), std::nullopt);
}

}  // namespace
}  // namespace oplat::base
