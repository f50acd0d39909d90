// SPDX-License-Identifier: Apache-2.0
#include "estimate/row_spread.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "base/random.hpp"

namespace oplat::estimate {
namespace {

/// Short rows err by up to 20 %, long ones by up to 2 %, evenly.
std::vector<LeftOutRow> rows(std::size_t count) {
  base::Random random(3);
  std::vector<LeftOutRow> all;
  for (std::size_t i = 0; i < count; ++i) {
    const bool is_long = i % 2 == 0;
    const double share = static_cast<double>(random.below(1001)) / 1000;
    all.push_back({(is_long ? 14.0 : 8.0) + share, (i % 3 == 0 ? -1 : 1) * (is_long ? 0.02 : 0.2) *
                                                       static_cast<double>(random.below(1001)) /
                                                       1000});
  }
  return all;
}

TEST(RowSpreadTest, IsTheNinetiethPercentileOfWhatRowsOfThatDurationErr) {
  const auto spread = RowSpread::learn(rows(4000));
  ASSERT_TRUE(spread);
  EXPECT_NEAR(spread->at(8.5), 0.18 / 1.645, 0.006);
  EXPECT_NEAR(spread->at(14.5), 0.018 / 1.645, 0.0006);
  EXPECT_EQ(spread->at(1), spread->at(8)) << "below all: as the shortest";
  EXPECT_EQ(spread->at(30), spread->at(15)) << "beyond all: as the longest";
}

TEST(RowSpreadTest, RowsThatAgreeByChanceAreNotCertain) {
  const auto spread = RowSpread::learn(std::vector<LeftOutRow>(200, {8, 0}));
  ASSERT_TRUE(spread);
  EXPECT_EQ(spread->at(8), 0.005);
}

TEST(RowSpreadTest, FewRowsTellNothing) { EXPECT_FALSE(RowSpread::learn(rows(99))); }

TEST(RowSpreadTest, ComesBackFromItsBytes) {
  const auto spread = RowSpread::learn(rows(1000));
  ASSERT_TRUE(spread);
  const auto again = RowSpread::load(spread->save());
  ASSERT_TRUE(again);
  for (const double at : {7.0, 8.2, 8.9, 14.1, 20.0}) EXPECT_EQ(again->at(at), spread->at(at));
}

TEST(RowSpreadTest, BytesThatAreNoneAreRefused) {
  const std::string bytes = RowSpread::learn(rows(1000))->save();
  for (std::size_t length = 0; length < bytes.size(); ++length)
    EXPECT_FALSE(RowSpread::load(bytes.substr(0, length))) << length;
  EXPECT_FALSE(RowSpread::load(bytes + '\0'));
  EXPECT_FALSE(RowSpread::load(std::string(8, '\xff'))) << "more bands than there are bytes";
  std::string negative = bytes;
  negative[8 + 8 + 7] = static_cast<char>(static_cast<unsigned char>(negative[8 + 8 + 7]) | 0x80U);
  EXPECT_FALSE(RowSpread::load(negative));
}

}  // namespace
}  // namespace oplat::estimate
