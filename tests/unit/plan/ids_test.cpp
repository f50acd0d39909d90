// SPDX-License-Identifier: Apache-2.0
#include "plan/onnxruntime/ids.hpp"

#include <gmock/gmock.h>

namespace oplat::plan::ort {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Ids, GrowBeyondTheFewThatNeedNoMemory) {
  Ids ids = {1, 2, 3};
  for (const std::int32_t id : {4, 5, 6}) ids.push_back(id);
  EXPECT_THAT(ids, ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_EQ(ids.front(), 1);
  EXPECT_EQ(ids.back(), 6);
  const Ids copy = ids;
  ids[0] = 9;
  EXPECT_THAT(copy, ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(std::vector<std::int32_t>(copy.rbegin(), copy.rend()), ElementsAre(6, 5, 4, 3, 2, 1));
}

TEST(Ids, ShrinkAndGrowAgain) {
  Ids ids = std::vector<std::int32_t>{1, 2, 3, 4, 5};
  ids.erase(ids.begin() + 1);
  EXPECT_THAT(ids, ElementsAre(1, 3, 4, 5));
  ids.resize(1, 0);
  ids.resize(3, 7);
  EXPECT_THAT(ids, ElementsAre(1, 7, 7));
  while (!ids.empty()) ids.erase(ids.begin());
  ids.push_back(8);
  EXPECT_THAT(ids, ElementsAre(8));
  ids.clear();
  EXPECT_THAT(ids, IsEmpty());
  for (std::int32_t id = 0; id < 5; ++id) ids.push_back(id);
  EXPECT_THAT(static_cast<std::vector<std::int32_t>>(ids), ElementsAre(0, 1, 2, 3, 4));
}

}  // namespace
}  // namespace oplat::plan::ort
