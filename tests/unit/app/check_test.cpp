// SPDX-License-Identifier: Apache-2.0
#include "app/check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/estimate/small_table.hpp"

namespace oplat::app {
namespace {

using test::must;

class CheckTest : public ::testing::Test {
 protected:
  Result<CheckResult> run() {
    CheckRequest request;
    request.table = small_.table().path().string();
    request.limits.peak_flops_per_ns = 10;
    return check(request, events_);
  }
  test::SmallTable small_;
  table::DeviceId device_ = small_.device();
  table::SettingId setting_ = small_.setting();
  CollectedEvents events_;
};

TEST_F(CheckTest, NamesRowsFasterThanTheMachine) {
  // 524,288 operations: 52 us at 10 operations a ns.
  const table::RowId slow =
      small_.row(device_, setting_, test::kMatMul, std::nullopt, test::timing(60e3));
  CheckResult result = must(run());
  EXPECT_EQ(result.rows, 1U);
  EXPECT_TRUE(result.suspects.empty());
  EXPECT_EQ(result.device.name, "desk");
  const table::RowId fast = small_.row(device_, setting_, test::kMatMul, 1e6, test::timing(1e3));
  EXPECT_NE(slow, fast);
  result = must(run());
  EXPECT_EQ(result.rows, 2U);
  ASSERT_EQ(result.suspects.size(), 1U);
  EXPECT_EQ(result.suspects.front().row, fast);
  EXPECT_EQ(result.suspects.front().key, test::kMatMul);
  EXPECT_EQ(result.suspects.front().latency_ns, 1e3);
  EXPECT_EQ(result.suspects.front().fault, estimate::Fault::TooFast);
}

TEST_F(CheckTest, AProfileEndsWithAWarningOfRowsThatAreTooFast) {
  const auto warnings = [&] {
    CollectedEvents events;
    EXPECT_TRUE(warn_of_rows_too_fast(small_.table(), {.threads = 1}, "t.oplat", events));
    return events.warnings;
  };
  // 10 operations a ns.
  for (int rows = 32; rows < 32 + 40; ++rows)
    small_.row(device_, setting_,
               fmt::format("MatMul/13{{}}(f32[{0},64],f32c[64,128])->(f32[{0},128])", rows),
               std::nullopt, test::timing(rows * 64 * 128 * 2 / 10.0));
  EXPECT_THAT(warnings(), ::testing::IsEmpty());
  small_.row(device_, setting_, "MatMul/13{}(f32[512,64],f32c[64,128])->(f32[512,128])",
             std::nullopt, test::timing(80));
  EXPECT_THAT(warnings(), ::testing::ElementsAre(
                              ::testing::HasSubstr("1 of 41 rows are faster than this machine")));
}

TEST_F(CheckTest, RowsOfAnotherSettingDoNotCount) {
  small_.row(device_, setting_, test::kMatMul, std::nullopt, test::timing(60e3));
  const auto other = small_.setting(test::setting_of(4));
  small_.row(device_, other, test::kMatMul, std::nullopt, test::timing(1));
  CheckRequest request;
  request.table = small_.table().path().string();
  request.rows.threads = 1;
  request.limits.peak_flops_per_ns = 10;
  EXPECT_TRUE(must(check(request, events_)).suspects.empty());
}

TEST_F(CheckTest, RefusesATableWithoutTimes) {
  small_.row(device_, setting_, test::kMatMul, std::nullopt, table::Failed{"crashed"});
  const auto none = run();
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, Code::Refused);
}

}  // namespace
}  // namespace oplat::app
