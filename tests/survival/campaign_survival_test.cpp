// SPDX-License-Identifier: Apache-2.0
/// A campaign over real worker processes that hang or need more memory than they may have: each
/// costs its own row, the others are measured as if nothing had happened.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "base/files.hpp"
#include "measure/campaign.hpp"
#include "runtimes/worker_client.hpp"

namespace oplat {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

const std::string kGood = "Relu/14{}(f32[1,16])->(f32[1,16])";
const std::string kGoodToo = "Relu/14{}(f32[1,32])->(f32[1,32])";
const std::string kHangs = "Tanh/13{}(f32[1,16])->(f32[1,16])";
const std::string kHuge = "Sigmoid/13{}(f32[1,16])->(f32[1,16])";

class CampaignSurvival : public testing::Test {
 protected:
  void SetUp() override {
    auto folder = base::TemporaryFolder::create("oplat-survival");
    ASSERT_TRUE(folder) << folder.error().message;
    folder_.emplace(*std::move(folder));
    auto table = table::Table::open(folder_->path() / "t.oplat", table::Mode::Create);
    ASSERT_TRUE(table) << table.error().message;
    table_.emplace(*std::move(table));
    options_.command = {OPLAT_PYTHON, OPLAT_TEST_SOURCE_DIR "/survival/misbehaving_worker.py"};
    options_.request_deadline = std::chrono::seconds(3);
  }

  measure::Summary profile(std::vector<std::string> keys) {
    measure::CampaignRequest request;
    request.catalogue = &ir::Catalogue::own();
    request.device.name = "bench";
    request.setting.runtime = "misbehaving";
    request.setting.version = "1";
    request.keys = std::move(keys);
    const auto factory = [&]() -> Result<std::unique_ptr<measure::KernelRunner>> {
      OPLAT_TRY(worker, runtimes::WorkerClient::start("misbehaving", options_));
      return std::unique_ptr<measure::KernelRunner>(std::move(worker));
    };
    measure::SilentProgress progress;
    auto summary = measure::run(request, *table_, factory, progress);
    EXPECT_TRUE(summary) << summary.error().message;
    return summary ? *std::move(summary) : measure::Summary{};
  }

  /// The outcomes of the only row of `key`.
  table::Outcome outcome(const std::string& key) {
    const auto device = table_->find_device("bench");
    table::Setting setting;
    setting.runtime = "misbehaving";
    setting.version = "1";
    const auto id = table_->find_setting(setting);
    EXPECT_TRUE(device && *device && id && *id);
    const auto rows = table_->rows_of(key, **device, **id);
    EXPECT_TRUE(rows && rows->size() == 1) << key;
    return rows && rows->size() == 1 ? rows->front().row.outcome
                                     : table::Outcome(table::Failed{"no row"});
  }

  void expect_good(const std::string& key) {
    const table::Outcome found = outcome(key);
    const auto* timing = std::get_if<table::Timing>(&found);
    ASSERT_NE(timing, nullptr) << key;
    EXPECT_NEAR(timing->median_ns, 100e3, 1) << key;
    EXPECT_EQ(timing->blocks, 5) << key;
  }

  std::optional<base::TemporaryFolder> folder_;
  std::optional<table::Table> table_;
  runtimes::WorkerOptions options_;
};

TEST_F(CampaignSurvival, AHangingKernelIsFailedByTheTimeLimitAndTheOthersAreMeasured) {
  const measure::Summary summary = profile({kGood, kHangs, kGoodToo});
  const table::Outcome hung = outcome(kHangs);
  ASSERT_TRUE(std::holds_alternative<table::Failed>(hung));
  EXPECT_THAT(std::get<table::Failed>(hung).reason, StartsWith("time limit"));
  expect_good(kGood);
  expect_good(kGoodToo);
  EXPECT_EQ(summary.kernels.failed, 1);
  EXPECT_EQ(summary.kernels.precise, 2);
}

TEST_F(CampaignSurvival, AKernelBeyondTheMemoryLimitIsFailedAndTheOthersAreMeasured) {
  options_.memory_limit_bytes = std::int64_t{2} << 30;
  const measure::Summary summary = profile({kGood, kHuge, kGoodToo});
  const table::Outcome huge = outcome(kHuge);
  ASSERT_TRUE(std::holds_alternative<table::Failed>(huge));
  EXPECT_THAT(std::get<table::Failed>(huge).reason, HasSubstr("MemoryError"));
  expect_good(kGood);
  expect_good(kGoodToo);
  EXPECT_EQ(summary.kernels.failed, 1);
  EXPECT_EQ(summary.kernels.precise, 2);
}

}  // namespace
}  // namespace oplat
