// SPDX-License-Identifier: Apache-2.0
#include "base/name_value.hpp"

#include <gtest/gtest.h>

namespace oplat::base {
namespace {

using Pair = std::pair<std::string, std::string>;

TEST(NameValue, IsSplitAtTheFirstEqualsSign) {
  EXPECT_EQ(name_value("--input", "x=1x3").value(), Pair("x", "1x3"));
  EXPECT_EQ(name_value("--input", "x=a=b").value(), Pair("x", "a=b"));
}

TEST(NameValue, AQuotedNameHoldsWhatItLikes) {
  EXPECT_EQ(name_value("--shape", R"("a=b"=1x3)").value(), Pair("a=b", "1x3"));
  EXPECT_EQ(name_value("--shape", R"("a\"\\b"=1)").value(), Pair(R"(a"\b)", "1"));
}

TEST(NameValue, WhatIsNoPairIsAUsageErrorThatNamesTheFlag) {
  for (const char* text : {"", "x", "=1", "x=", "\"x", "\"x\"", "\"x\"1", "\"\"=1", "\"x\"="}) {
    const auto pair = name_value("--shape", text);
    ASSERT_FALSE(pair) << text;
    EXPECT_EQ(pair.error().code, Code::Usage);
    EXPECT_TRUE(pair.error().message.starts_with("--shape ")) << pair.error().message;
  }
}

TEST(NameValueWord, ReadsBackAndIsSafeInAShell) {
  EXPECT_EQ(name_value_word("input:0", "1x3"), "input:0=1x3");
  EXPECT_EQ(name_value_word("my input", "zeros"), "'my input=zeros'");
  EXPECT_EQ(name_value_word("a=b", "1x3"), "'\"a=b\"=1x3'");
  const auto read = name_value("--shape", "\"a=b\"=1x3");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->first, "a=b");
}

}  // namespace
}  // namespace oplat::base
