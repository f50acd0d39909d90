// SPDX-License-Identifier: Apache-2.0
#include "base/text_numbers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace oplat::base {
namespace {

TEST(TextNumbers, CountFromTheFirstOccurrence) {
  TextNumbers numbers(3);
  for (const std::size_t i : {0U, 1U, 2U}) {
    const auto number = numbers.of(std::string_view("abc").substr(i, 1));
    EXPECT_EQ(number.value, i);
    EXPECT_TRUE(number.added);
  }
  const std::string again = "b";
  EXPECT_EQ(numbers.of(again).value, 1);
  EXPECT_FALSE(numbers.of(again).added);
  EXPECT_THAT(numbers.texts(), testing::ElementsAre("a", "b", "c"));
}

TEST(TextNumbers, ManyTextsAndTheEmptyOneKeepApart) {
  std::vector<std::string> texts = {""};
  for (int i = 1; i < 1000; ++i) texts.push_back(std::to_string(i));
  TextNumbers numbers(texts.size());
  for (const std::string& text : texts) EXPECT_TRUE(numbers.of(text).added);
  for (std::size_t i = 0; i < texts.size(); ++i) EXPECT_EQ(numbers.of(texts[i]).value, i);
}

}  // namespace
}  // namespace oplat::base
