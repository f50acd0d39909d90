// SPDX-License-Identifier: Apache-2.0
/// Which operators move data, and whose they are in a plan.
#include "ir/movement.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace oplat::ir {
namespace {

using testing::ElementsAre;
using Titles = std::vector<NodeTitle>;
constexpr std::nullopt_t kNothing = std::nullopt;

TEST(Movement, OfOperators) {
  EXPECT_EQ(movement_of("com.microsoft.nchwc", "ReorderInput"), Movement::Reorder);
  EXPECT_EQ(movement_of("com.microsoft.nchwc", "ReorderOutput"), Movement::Reorder);
  EXPECT_EQ(movement_of("", "MemcpyToHost"), Movement::Copy);
  EXPECT_EQ(movement_of("", "Cast"), Movement::Cast);
  EXPECT_EQ(movement_of("com.microsoft", "DequantizeLinear"), Movement::Quantisation);
  EXPECT_EQ(movement_of("", "Transpose"), Movement::Transpose);
  EXPECT_EQ(movement_of("com.microsoft.nchwc", "Conv"), std::nullopt);
  EXPECT_EQ(movement_of("", "ReorderInput"), std::nullopt);
  EXPECT_TRUE(only_of_runtimes(Movement::Reorder) && only_of_runtimes(Movement::Copy));
  EXPECT_FALSE(only_of_runtimes(Movement::Cast) || only_of_runtimes(Movement::Quantisation) ||
               only_of_runtimes(Movement::Transpose));
  EXPECT_EQ(name(Movement::Quantisation), "quantisation");
  EXPECT_EQ(name(Movement::Transpose), "transpose");
}

TEST(PutIn, WhatTheModelDoesNotKnowByNameIsTheRuntimes) {
  const Titles model = {{"", "Cast", "own"}, {"", "Conv", "conv"}};
  const Titles executed = {{"", "Cast", "inserted"},
                           {"", "Cast", "own"},
                           {"", "FusedConv", "conv"},
                           {"com.microsoft.nchwc", "ReorderInput", "r"}};
  EXPECT_THAT(inserted_by_runtime(model, executed), ElementsAre(true, false, kNothing, true));
  EXPECT_THAT(inserted_by_runtime(Titles{}, executed), ElementsAre(true, true, kNothing, true));
  EXPECT_TRUE(inserted_by_runtime(model, Titles{}).empty());
}

TEST(PutIn, AMovedNodeIsTheModelsAsOftenAsTheModelLacksOne) {
  const Titles model = {{"", "Transpose", "a"}, {"", "Transpose", "b"}, {"", "Cast", "c"}};
  const Titles executed = {
      {"", "Transpose", "a"}, {"", "Transpose", "pushed"}, {"", "Transpose", "further"}};
  EXPECT_THAT(inserted_by_runtime(model, executed), ElementsAre(false, false, true));
}

TEST(PutIn, ANameOfAnotherOperatorSaysNothing) {
  EXPECT_THAT(inserted_by_runtime(Titles{{"", "Relu", "x"}}, Titles{{"", "Cast", "x"}}),
              ElementsAre(true));
}

TEST(PutIn, NodesWithoutNamesAreTheModels) {
  const Titles model = {{"", "Transpose", ""}, {"", "Transpose", ""}};
  const Titles executed = {
      {"", "Transpose", ""}, {"", "Transpose", "moved"}, {"", "Transpose", "new"}};
  EXPECT_THAT(inserted_by_runtime(model, executed), ElementsAre(false, false, true));
}

}  // namespace
}  // namespace oplat::ir
