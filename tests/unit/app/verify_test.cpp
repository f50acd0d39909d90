// SPDX-License-Identifier: Apache-2.0
#include "app/verify.hpp"

#include <gmock/gmock.h>

#include "app/profile.hpp"
#include "unit/app/recording.hpp"

namespace oplat::app {
namespace {

using ::testing::HasSubstr;

class VerifyTest : public RecordingTest {
 protected:
  VerifyRequest request() const {
    VerifyRequest request;
    request.table = path("recorded.oplat");
    request.runtime = "replay";
    request.worker_command = replay().worker_command;
    request.worker_arguments = {path("recorded.oplat")};
    return request;
  }
};

TEST_F(VerifyTest, ATableHoldsAgainstItself) {
  const auto result = verify(request(), events_);
  ASSERT_TRUE(result) << result.error().message;
  const report::Verification& report = result->verification;
  EXPECT_EQ(result->verdict, measure::TableVerdict::Same)
      << ::testing::PrintToString(report.reasons);
  EXPECT_EQ(report.verdict, "same");
  EXPECT_EQ(report.table, path("recorded.oplat"));
  EXPECT_EQ(report.compared, 7);
  ASSERT_TRUE(report.ratio);
  EXPECT_NEAR(*report.ratio, 1, 0.01);
  EXPECT_EQ(report.rows.size(), 7U);
  EXPECT_EQ(report.device.name, "bench");
  EXPECT_GT(events_.measuring, 0);
}

TEST_F(VerifyTest, ATableOfASlowerMachineDoesNot) {
  std::filesystem::copy_file(path("recorded.oplat"), path("slow.oplat"));
  {
    auto table = table::Table::open(path("slow.oplat"), table::Mode::Write);
    ASSERT_TRUE(table) << table.error().message;
    const auto device = table->find_device("bench");
    ASSERT_TRUE(device && *device);
    const auto campaigns = table->campaigns();
    ASSERT_TRUE(campaigns && campaigns->size() == 1);
    const table::SettingId setting = campaigns->front().setting;
    for (int size = 1; size <= 7; ++size) {
      auto rows = table->rows_of(key(size), **device, setting);
      ASSERT_TRUE(rows && rows->size() == 1);
      table::Row row = rows->front().row;
      auto& timing = std::get<table::Timing>(row.outcome);
      for (double* ns : {&timing.median_ns, &timing.ci_low_ns, &timing.ci_high_ns, &timing.min_ns,
                         &timing.p10_ns, &timing.p90_ns})
        *ns *= 2;
      ASSERT_TRUE(table->put_row(**device, setting, campaigns->front().id, row));
    }
  }
  VerifyRequest slow = request();
  slow.table = path("slow.oplat");
  const auto result = verify(slow, events_);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->verdict, measure::TableVerdict::Faster);
  ASSERT_TRUE(result->verification.ratio);
  EXPECT_NEAR(*result->verification.ratio, 0.5, 0.01);
}

TEST_F(VerifyTest, SaysWhatItCannotCompare) {
  VerifyRequest other = request();
  other.rows.threads = 7;
  const auto threads = verify(other, events_);
  ASSERT_FALSE(threads);
  EXPECT_EQ(threads.error().code, Code::Refused) << threads.error().message;

  { ASSERT_TRUE(table::Table::open(path("empty.oplat"), table::Mode::Create)); }
  VerifyRequest none = request();
  none.runtime.clear();
  none.table = path("empty.oplat");
  const auto empty = verify(none, events_);
  ASSERT_FALSE(empty);
  EXPECT_EQ(empty.error().code, Code::Refused);
  EXPECT_THAT(empty.error().message, HasSubstr("holds no times to verify"));
}

TEST_F(VerifyTest, CancelledItIsInterrupted) {
  events_.cancel_after = 2;
  const auto result = verify(request(), events_);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Code::Interrupted);
  EXPECT_THAT(result.error().message, HasSubstr("was only read"));
}

}  // namespace
}  // namespace oplat::app
