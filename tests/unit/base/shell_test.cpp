// SPDX-License-Identifier: Apache-2.0
#include "base/shell.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace oplat::base {
namespace {

TEST(ShellWord, QuotesOnlyWhatAShellWouldChange) {
  EXPECT_EQ(shell_word("models/net-1.5_b4.onnx"), "models/net-1.5_b4.onnx");
  EXPECT_EQ(shell_word("x=1x3x224x224"), "x=1x3x224x224");
  EXPECT_EQ(shell_word("AMD EPYC"), "'AMD EPYC'");
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  for (const char* special : {"$HOME", "a;b", "a&b", "*", "~", "#c", "\"a\"", "a\\b", "a\nb"})
    EXPECT_EQ(shell_word(special), "'" + std::string(special) + "'");
}

TEST(ShellCommand, JoinsWords) {
  const std::vector<std::string> words = {"oplat", "fit", "my table.oplat"};
  EXPECT_EQ(shell_command(words), "oplat fit 'my table.oplat'");
}

}  // namespace
}  // namespace oplat::base
