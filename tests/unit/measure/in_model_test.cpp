// SPDX-License-Identifier: Apache-2.0
/// Rows against the times that kernels have inside a model.
#include "measure/in_model.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "table/in_model.hpp"
#include "unit/estimate/small_table.hpp"

namespace oplat::measure {
namespace {

using test::kCopy1000;
using test::kCopy250;
using test::kMatMul;
using test::must;
using ::testing::ElementsAre;

TEST(InModelFlag, KeepsTheRangeAmongOtherFlags) {
  table::Method method;
  method.flags = {"ci_not_reached", "under_load"};
  EXPECT_EQ(table::in_model_ns(method), std::nullopt);
  table::set_in_model_ns(method, base::Interval{1234.5, 5678.25});
  EXPECT_THAT(method.flags, ElementsAre("ci_not_reached", "in_model_ns=1234..5679", "under_load",
                                        "unlike_in_model"));
  EXPECT_EQ(table::in_model_ns(method), (base::Interval{1234, 5679})) << "rounded outwards";
  table::set_in_model_ns(method, base::Interval{10, 20});
  EXPECT_EQ(method.flags.size(), 4U) << "the new range takes the place of the old one";
  table::set_in_model_ns(method, std::nullopt);
  EXPECT_THAT(method.flags, ElementsAre("ci_not_reached", "under_load"));
}

TEST(InModelFlag, ADamagedRangeSaysNothing) {
  for (const char* range : {"in_model_ns=", "in_model_ns=1", "in_model_ns=5..4",
                            "in_model_ns=-1..4", "in_model_ns=1..inf", "in_model_ns=a..b"}) {
    table::Method method;
    method.flags = {range, table::kUnlikeInModel};
    EXPECT_EQ(table::in_model_ns(method), std::nullopt) << range;
  }
}

ir::Work moves(double bytes_in, double bytes_weights = 0) {
  ir::Work work;
  work.bytes_in = bytes_in;
  work.bytes_weights = bytes_weights;
  return work;
}

TEST(InModel, AFactorOfTwoAndTheWayFromMemoryAreExplained) {
  EXPECT_TRUE(explains({100, 100}, {150, 260}, moves(0)));
  EXPECT_TRUE(explains({100, 100}, {200, 210}, moves(0)));
  EXPECT_FALSE(explains({100, 100}, {201, 210}, moves(0)));
  EXPECT_TRUE(explains({100, 100}, {40, 50}, moves(0)));
  EXPECT_FALSE(explains({100, 100}, {40, 49}, moves(0)));
  // The nearest cache state counts.
  EXPECT_TRUE(explains({100, 300}, {590, 600}, moves(0)));
  EXPECT_TRUE(explains({100, 300}, {50, 60}, moves(0)));
  // 10,000 bytes from memory take 1 us, but operands by themselves are warm already.
  EXPECT_TRUE(explains({100, 100}, {1090, 1100}, moves(10'000)));
  EXPECT_FALSE(explains({100, 100}, {1110, 1120}, moves(10'000)));
  EXPECT_FALSE(explains({100, 100}, {40, 49}, moves(10'000)));
}

TEST(InModel, ALongKernelIsTimedWell) {
  EXPECT_TRUE(explains({50'000, 50'000}, {69'000, 70'000}, moves(0)));
  EXPECT_FALSE(explains({50'000, 50'000}, {71'000, 72'000}, moves(0)));
  EXPECT_TRUE(explains({50'000, 50'000}, {89'000, 90'000}, moves(400'000)));
  EXPECT_FALSE(explains({50'000, 50'000}, {91'000, 92'000}, moves(400'000)));
  EXPECT_TRUE(explains({281'000, 281'000}, {200'000, 213'000}, moves(2'000'000)));
  EXPECT_FALSE(explains({281'000, 281'000}, {180'000, 188'000}, moves(2'000'000)))
      << "memory that is as warm by itself makes nothing faster inside";
  // Warm weights where the row's are cold.
  EXPECT_TRUE(explains({50'000, 50'000}, {24'000, 26'000}, moves(0, 240'000)));
  EXPECT_FALSE(explains({50'000, 50'000}, {24'000, 26'000}, moves(0, 200'000)));
}

class UnlikeKernels : public ::testing::Test {
 protected:
  std::vector<UnlikeKernel> compare(std::vector<KernelInModel> kernels) {
    return must(flag_unlike_kernels(small_.table(), device_, setting_, ir::Catalogue::own(),
                                    "net.onnx", kernels));
  }
  std::vector<std::string> flags_of(const char* key) {
    const auto rows = must(small_.table().rows_of(key, device_, setting_));
    return rows.empty() ? std::vector<std::string>() : rows.front().row.method.flags;
  }

  test::SmallTable small_;
  table::DeviceId device_ = small_.device();
  table::SettingId setting_ = small_.setting();
};

TEST_F(UnlikeKernels, AreFlaggedWithWhatTheyTookInTheModel) {
  small_.row(device_, setting_, kCopy250, std::nullopt, test::timing(10'000));
  small_.row(device_, setting_, kCopy1000, std::nullopt, test::timing(20'000));
  const auto unlike =
      compare({{"n0", kCopy250, 1, {29'000, 31'000}}, {"n1", kCopy1000, 1, {19'000, 21'000}}});
  ASSERT_EQ(unlike.size(), 1U);
  EXPECT_EQ(unlike[0].name, "n0");
  EXPECT_EQ(unlike[0].model, "net.onnx");
  EXPECT_DOUBLE_EQ(unlike[0].share, 0.6);
  EXPECT_EQ(unlike[0].by_itself_ns, (base::Interval{10'000, 10'000}));
  EXPECT_THAT(flags_of(kCopy250), ElementsAre("in_model_ns=29000..31000", "unlike_in_model"));
  EXPECT_THAT(flags_of(kCopy1000), ElementsAre());
}

TEST_F(UnlikeKernels, FasterOnesTooAndEveryCacheStateOfThem) {
  small_.row(device_, setting_, kMatMul, 1e6, test::timing(300'000));
  small_.row(device_, setting_, kMatMul, 1e8, test::timing(900'000));
  EXPECT_TRUE(compare({{"n0", kMatMul, 4, {1'000'000, 1'100'000}}}).empty());
  EXPECT_TRUE(compare({{"n0", kMatMul, 4, {200'000, 210'000}}}).empty()) << "1 MiB of warm weights";
  ASSERT_EQ(compare({{"n0", kMatMul, 4, {170'000, 180'000}}}).size(), 1U);
  for (const table::StoredRow& row : must(small_.table().rows_of(kMatMul, device_, setting_)))
    EXPECT_TRUE(row.row.method.has(table::kUnlikeInModel));
}

TEST_F(UnlikeKernels, NodesOfOneKeyCountTogetherAndSmallSharesAreLeftAlone) {
  small_.row(device_, setting_, kCopy250, std::nullopt, test::timing(10'000));
  small_.row(device_, setting_, kCopy1000, std::nullopt, test::timing(500'000));
  EXPECT_TRUE(
      compare({{"n0", kCopy250, 1, {20'500, 20'500}}, {"n1", kCopy1000, 1, {500'000, 500'000}}})
          .empty())
      << "4 % of the model";
  EXPECT_EQ(compare({{"n0", kCopy250, 1, {20'500, 20'500}},
                     {"n1", kCopy1000, 1, {500'000, 500'000}},
                     {"n2", kCopy250, 3, {20'500, 20'500}}})
                .size(),
            1U);
}

TEST_F(UnlikeKernels, TheNextComparisonClearsTheFlagOnlyIfTheRowExplainsBoth) {
  small_.row(device_, setting_, kCopy250, std::nullopt, test::timing(10'000));
  compare({{"n0", kCopy250, 1, {30'000, 31'000}}});
  // Another model, in which it is as by itself, does not speak for the first.
  EXPECT_TRUE(compare({{"n0", kCopy250, 1, {10'000, 11'000}}}).empty());
  EXPECT_THAT(flags_of(kCopy250), ElementsAre("in_model_ns=30000..31000", "unlike_in_model"));
  compare({{"n0", kCopy250, 1, {40'000, 41'000}}});
  EXPECT_THAT(flags_of(kCopy250), ElementsAre("in_model_ns=30000..41000", "unlike_in_model"));
  // The row was measured again.
  table::Row row = must(small_.table().rows_of(kCopy250, device_, setting_)).front().row;
  row.outcome = test::timing(35'000);
  must(small_.table().put_row(device_, setting_, std::nullopt, row));
  compare({{"n0", kCopy250, 1, {40'000, 41'000}}});
  EXPECT_THAT(flags_of(kCopy250), ElementsAre());
}

TEST_F(UnlikeKernels, AViewThatTakesMoreThanADispatchIsNamed) {
  small_.row(device_, setting_, std::string(plan::kDispatchKey).c_str(), std::nullopt,
             test::timing(500));
  const auto unlike = compare({{"n0", test::kReshape, 1, {40'000, 41'000}}});
  ASSERT_EQ(unlike.size(), 1U);
  EXPECT_FALSE(unlike[0].has_row);
  EXPECT_TRUE(compare({{"n0", test::kReshape, 1, {0, 2'000}}}).empty());
}

TEST_F(UnlikeKernels, WithoutARowNothingIsCompared) {
  EXPECT_TRUE(compare({{"n0", kCopy250, 1, {20'500, 20'500}}}).empty());
  small_.row(device_, setting_, kCopy250, std::nullopt, table::Failed{"no"});
  EXPECT_TRUE(compare({{"n0", kCopy250, 1, {20'500, 20'500}}}).empty());
}

}  // namespace
}  // namespace oplat::measure
