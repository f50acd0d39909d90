// SPDX-License-Identifier: Apache-2.0
#include "estimate/load_spread.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/random.hpp"
#include "base/stats.hpp"
#include "unit/estimate/small_table.hpp"

namespace oplat::estimate {
namespace {

using test::must;

/// `count` rows that load moved by a normal deviate of this spread.
std::vector<table::BlocksByLoad> moved_rows(std::size_t count, double sd_log) {
  base::Random random(7);
  std::vector<table::BlocksByLoad> rows;
  for (std::size_t i = 0; i < count; ++i) {
    const double p = (static_cast<double>(random.below(999)) + 1) / 1000;
    rows.push_back({{990, 1000, 1010}, {1000 * std::exp(sd_log * base::normal_quantile(p))}});
  }
  return rows;
}

TEST(LoadSpreadTest, WithoutRowsItIsTheStartValue) { EXPECT_EQ(load_sd({}, 0.1), 0.1); }

TEST(LoadSpreadTest, ManyRowsReplaceTheStartValue) {
  EXPECT_NEAR(load_sd(moved_rows(2000, 0.03), 0.1), 0.03, 0.004);
  EXPECT_NEAR(load_sd(moved_rows(2000, 0.25), 0.1), 0.25, 0.015);
}

TEST(LoadSpreadTest, FewRowsMoveItLittle) {
  const double of_five = load_sd(moved_rows(5, 0.01), 0.1);
  EXPECT_LT(of_five, 0.1);
  EXPECT_GT(of_five, 0.085);
  const std::vector<table::BlocksByLoad> same(20, {{1000}, {1000}});
  EXPECT_NEAR(load_sd(same, 0.1), 0.1 / std::sqrt(2), 1e-12) << "as many as the start value counts";
}

TEST(LoadSpreadTest, RowsThatGotShorterCountAsThoseThatGotLonger) {
  const std::vector<table::BlocksByLoad> longer(50, {{1000}, {1200}}),
      shorter(50, {{1200}, {1000}});
  EXPECT_DOUBLE_EQ(load_sd(longer, 0.1), load_sd(shorter, 0.1));
}

TEST(LoadSpreadTest, AFewWildRowsDoNotDecide) {
  std::vector<table::BlocksByLoad> rows = moved_rows(1000, 0.03);
  for (std::size_t i = 0; i < 20; ++i) rows[i].loaded_ns = {50'000};
  EXPECT_NEAR(load_sd(rows, 0.1), 0.03, 0.006);
}

TEST(LoadSpreadTest, TimesThatHaveNoRatioAreLeftOut) {
  EXPECT_EQ(
      load_sd(std::vector<table::BlocksByLoad>{{{0}, {1000}}, {{1000}, {0}}, {{}, {1000}}}, 0.1),
      0.1);
}

class LoadSpreadOfTable : public ::testing::Test {
 protected:
  void add_block(table::RowId row, double ns, std::optional<double> other_load,
                 std::int64_t steal_ticks = 0) {
    table::Block block = test::block_at_load(ns, other_load);
    block.steal_ticks = steal_ticks;
    must(small_.table().add_block(row, block));
  }
  [[nodiscard]] double of_rows() const {
    return must(load_sd_of_rows(small_.table(), device_, std::vector{setting_}));
  }
  [[nodiscard]] double seen(double distance, double count) const {
    const double sd = distance / base::two_sided_normal_quantile(0.9);
    return std::sqrt((kRowsOfAStartValue * kUnderLoadSd * kUnderLoadSd + count * sd * sd) /
                     (kRowsOfAStartValue + count));
  }

  test::SmallTable small_;
  table::DeviceId device_ = small_.device();
  table::SettingId setting_ = small_.setting();
  table::RowId row_ =
      small_.row(device_, setting_, test::kCopy250, std::nullopt, test::timing(1000));
};

TEST_F(LoadSpreadOfTable, OnlyRowsOfBothKindsOfBlocksCount) {
  add_block(row_, 1000, 0.0);
  add_block(row_, 1010, 0.24);
  EXPECT_EQ(of_rows(), kUnderLoadSd) << "quiet alone";
  add_block(row_, 7000, std::nullopt);
  EXPECT_EQ(of_rows(), kUnderLoadSd) << "how busy it was is not known";
  add_block(row_, 9000, 1.0, 10);
  EXPECT_EQ(of_rows(), kUnderLoadSd) << "the core was another tenant's";
  add_block(row_, 1100, 0.25);
  EXPECT_DOUBLE_EQ(of_rows(), seen(std::log(1100 / 1005.0), 1));
  const table::RowId busy =
      small_.row(device_, setting_, test::kCopy1000, std::nullopt, test::timing(5000));
  add_block(busy, 5000, 1.0);
  EXPECT_DOUBLE_EQ(of_rows(), seen(std::log(1100 / 1005.0), 1)) << "busy alone";
}

TEST_F(LoadSpreadOfTable, RowsOfOtherSettingsDoNotCount) {
  const table::SettingId other = small_.setting(test::setting_of(2));
  const table::RowId row =
      small_.row(device_, other, test::kCopy250, std::nullopt, test::timing(1000));
  add_block(row, 1000, 0.0);
  add_block(row, 2000, 1.0);
  EXPECT_EQ(of_rows(), kUnderLoadSd);
  EXPECT_DOUBLE_EQ(must(load_sd_of_rows(small_.table(), device_, std::vector{setting_, other})),
                   seen(std::log(2.0), 1));
}

TEST_F(LoadSpreadOfTable, ModelsHaveAStartValueOfTheirOwn) {
  EXPECT_EQ(must(load_sd_of_models(small_.table(), device_, std::vector{setting_})),
            kLoadedModelSd);
  table::ModelRow model;
  model.name = "net.onnx";
  model.plan_identity = "plan";
  model.outcome = test::timing(1e6);
  const table::RowId row =
      must(small_.table().put_model_row(device_, setting_, std::nullopt, model));
  for (const double load : {0.0, 1.0})
    must(small_.table().add_model_block(row, test::block_at_load(1e6, load)));
  EXPECT_DOUBLE_EQ(must(load_sd_of_models(small_.table(), device_, std::vector{setting_})),
                   kLoadedModelSd * std::sqrt(20.0 / 21));
  EXPECT_EQ(of_rows(), kUnderLoadSd);
}

}  // namespace
}  // namespace oplat::estimate
