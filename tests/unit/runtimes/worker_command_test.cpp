// SPDX-License-Identifier: Apache-2.0
#include "runtimes/worker_command.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace oplat::runtimes {
namespace {

using Words = std::vector<std::string>;

TEST(WorkerCommandTest, WordsAreSplitAsAShellDoes) {
  const std::vector<std::pair<std::string, Words>> cases{
      {"ssh host oplat worker onnxruntime", {"ssh", "host", "oplat", "worker", "onnxruntime"}},
      {"  a \t b\n", {"a", "b"}},
      {"'a b' \"c d\"e", {"a b", "c de"}},
      {R"(a\ b "c\"d" 'e\f')", {"a b", "c\"d", "e\\f"}},
      {"a '' b", {"a", "", "b"}},
      {"echo $HOME *|x", {"echo", "$HOME", "*|x"}},
      {"a\\", {"a\\"}},
  };
  for (const auto& [text, words] : cases) {
    const auto split = split_command(text);
    ASSERT_TRUE(split) << text;
    EXPECT_EQ(*split, words) << text;
  }
}

TEST(WorkerCommandTest, WhatIsNotACommandIsNamed) {
  for (const std::string text : {"", "   ", "a 'b", "a \"b"}) {
    const auto split = split_command(text);
    ASSERT_FALSE(split) << text;
    EXPECT_EQ(split.error().code, Code::Usage);
  }
}

}  // namespace
}  // namespace oplat::runtimes
