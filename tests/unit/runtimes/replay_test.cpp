// SPDX-License-Identifier: Apache-2.0
/// Replay from a small table: it answers what was recorded and nothing else.
#include "runtimes/replay/replay.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/files.hpp"
#include "table/table.hpp"

namespace oplat::runtimes {
namespace {

using testing::HasSubstr;

constexpr const char* kRelu = "Relu/14{}(f32[1,64,56,56])->(&0)";
constexpr const char* kGemm = "Gemm/13{}(f32[1,512],f32c[512,512])->(f32[1,512])";
constexpr const char* kLstm = "LSTM/14{}(f32[1])->(f32[1])";
constexpr const char* kNoisy = "Sigmoid/13{}(f32[9])->(&0)";

table::Timing timing(double median_ns, double sd_log = 0) {
  table::Timing value;
  value.median_ns = value.ci_low_ns = value.ci_high_ns = value.min_ns = value.p10_ns =
      value.p90_ns = median_ns;
  value.sd_log = sd_log;
  value.blocks = 5;
  value.processes = 5;
  return value;
}

table::Row row(const char* key, std::optional<double> reuse_bytes, table::Outcome outcome,
               const char* topology = "fan") {
  table::Row made;
  made.key = key;
  made.reuse_bytes = reuse_bytes;
  made.outcome = std::move(outcome);
  made.method.copies = 8;
  made.method.topology = topology;
  return made;
}

table::Setting setting(std::int64_t threads) {
  table::Setting made;
  made.runtime = "onnxruntime";
  made.version = "1.31.1";
  made.build = "abc";
  made.threads = threads;
  made.options = {{"level", "99"}};
  return made;
}

class ReplayTest : public testing::Test {
 protected:
  void SetUp() override {
    auto folder = base::TemporaryFolder::create("oplat-test");
    ASSERT_TRUE(folder);
    folder_.emplace(std::move(*folder));
    path_ = folder_->path() / "t.oplat";
    fill();
    auto created = create_replay({path_});
    ASSERT_TRUE(created) << created.error().message;
    worker_ = std::move(*created);
  }

  void fill() {
    auto table = table::Table::open(path_, table::Mode::Create);
    ASSERT_TRUE(table) << table.error().message;
    table::Device device;
    device.name = "bench";
    device.cores = 2;
    table::Device other = device;
    other.name = "phone";
    const auto bench = table->put_device(device);
    const auto phone = table->put_device(other);
    const auto one = table->put_setting(setting(1));
    const auto two = table->put_setting(setting(2));
    ASSERT_TRUE(bench && phone && one && two);
    table::Campaign campaign;
    campaign.empty_call_ns = 1000;
    table::Environment environment;
    environment.started_at = "2026-01-01T00:00:00Z";
    const auto id = table->add_campaign(*bench, *one, campaign, environment);
    ASSERT_TRUE(id) << id.error().message;
    const auto put = [&](table::DeviceId d, table::SettingId s, const table::Row& r) {
      const auto stored = table->put_row(d, s, *id, r);
      ASSERT_TRUE(stored) << stored.error().message;
    };
    put(*bench, *one, row(kRelu, 0, timing(500), "chain"));
    put(*bench, *one, row(kGemm, 0, timing(11'000)));
    put(*bench, *one, row(kGemm, 1.0e8, timing(40'000)));
    put(*bench, *one, row(kNoisy, 0, timing(2000, 0.1)));
    put(*bench, *one, row(kLstm, 0, table::Unsupported{"LSTM is not built"}));
    put(*bench, *two, row(kRelu, 0, timing(300)));
    put(*phone, *one, row(kRelu, 0, timing(9000)));
    table::Plan plan;
    plan.model = "net.onnx";
    plan.identity = "00112233445566778899aabbccddeeff";
    plan.batch = 1;
    plan.kernels = {{"n0", kRelu, 1}, {"n1", kGemm, 2}};
    const auto kept = table->put_plan(plan);
    ASSERT_TRUE(kept) << kept.error().message;
    table::ModelRow model;
    model.name = "net.onnx";
    model.plan_identity = plan.identity;
    model.outcome = timing(123'000);
    const auto model_row = table->put_model_row(*bench, *one, *id, model);
    ASSERT_TRUE(model_row) << model_row.error().message;
  }

  measure::OpenOutcome open(const char* key, std::int64_t copies = 1, bool cold = false,
                            std::int64_t threads = 1, std::uint64_t seed = 1) {
    measure::OpenRequest request;
    request.key = key;
    request.copies = copies;
    request.distinct_weights = cold;
    request.setting = setting(threads);
    request.seed = seed;
    auto outcome = worker_->open(request);
    EXPECT_TRUE(outcome) << (outcome ? "" : outcome.error().message);
    return outcome ? *outcome : measure::OpenOutcome(table::Failed{"error"});
  }
  double time_of(const measure::OpenOutcome& outcome) {
    const auto* opened = std::get_if<measure::Opened>(&outcome);
    if (opened == nullptr) return -1;
    return worker_->run(opened->handle).value_or(-1);
  }

  std::optional<base::TemporaryFolder> folder_;
  std::string path_;
  std::unique_ptr<Worker> worker_;
};

TEST_F(ReplayTest, SaysWhatTheTableSays) {
  const auto hello = worker_->hello();
  ASSERT_TRUE(hello);
  EXPECT_EQ(hello->runtime, "onnxruntime");
  EXPECT_EQ(hello->version, "1.31.1");
  EXPECT_EQ(hello->build, "abc");
  EXPECT_EQ(hello->device.name, "bench");
  EXPECT_EQ(hello->max_threads, 2);
  EXPECT_EQ(hello->options.at("level").default_value, "99");
  EXPECT_THAT(hello->precisions, testing::ElementsAre("model"));
  EXPECT_TRUE(worker_->virtual_time());
}

TEST_F(ReplayTest, CopiesCostTheCallPlusTheirMedians) {
  EXPECT_DOUBLE_EQ(time_of(open(kRelu)), 1500);
  EXPECT_DOUBLE_EQ(time_of(open(kRelu, 11)), 1000 + 11 * 500);
  EXPECT_EQ(std::get<measure::Opened>(open(kRelu)).topology, "single");
  EXPECT_EQ(std::get<measure::Opened>(open(kRelu, 11)).topology, "chain");
}

TEST_F(ReplayTest, ColdAndHotAnswerFromTheirOwnRows) {
  EXPECT_DOUBLE_EQ(time_of(open(kGemm, 1, false)), 12'000);
  EXPECT_DOUBLE_EQ(time_of(open(kGemm, 1, true)), 41'000);
  EXPECT_DOUBLE_EQ(time_of(open(kRelu, 1, true)), 1500) << "the only state there is";
}

TEST_F(ReplayTest, TheSlopeOverColdCopiesIsTheColdTime) {
  // A campaign opens the single copy without saying that it will be cold.
  EXPECT_DOUBLE_EQ((time_of(open(kGemm, 8, true)) - time_of(open(kGemm, 1, false))) / 7, 40'000);
  EXPECT_DOUBLE_EQ((time_of(open(kGemm, 8, false)) - time_of(open(kGemm, 1, false))) / 7, 11'000);
}

TEST_F(ReplayTest, SettingsAreKeptApart) {
  EXPECT_DOUBLE_EQ(time_of(open(kRelu, 1, false, 2)), 1300);
}

TEST_F(ReplayTest, NeverInvents) {
  EXPECT_THAT(std::get<table::Unsupported>(open("Tanh/13{}(f32[1])->(&0)")).reason,
              HasSubstr("no row"));
  EXPECT_EQ(std::get<table::Unsupported>(open(kLstm)).reason, "LSTM is not built");
  EXPECT_THAT(std::get<table::Unsupported>(open(kRelu, 1, false, 4)).reason, HasSubstr("nothing"));
  EXPECT_TRUE(std::holds_alternative<table::Unsupported>(open(kGemm, 1, false, 2)));
  EXPECT_FALSE(worker_->run(4711));
}

TEST_F(ReplayTest, NoiseIsThatOfTheRowAndOfTheSeed) {
  const auto times = [&](std::uint64_t seed) {
    const auto opened = std::get<measure::Opened>(open(kNoisy, 1, false, 1, seed));
    std::vector<double> values;
    for (int i = 0; i < 4001; ++i)
      values.push_back(std::log(worker_->run(opened.handle).value_or(-1)));
    return values;
  };
  const auto first = times(1);
  EXPECT_EQ(first, times(1));
  EXPECT_NE(first, times(2));
  double sum = 0;
  double squares = 0;
  for (const double x : first) sum += x;
  const double mean = sum / static_cast<double>(first.size());
  for (const double x : first) squares += (x - mean) * (x - mean);
  EXPECT_NEAR(mean, std::log(3000.0), 0.01);
  EXPECT_NEAR(std::sqrt(squares / static_cast<double>(first.size())), 0.1, 0.01);
}

TEST_F(ReplayTest, PlansAndModelsByFileName) {
  PlanRequest request;
  request.model = "/some/where/net.onnx";
  const auto plan = worker_->plan(request);
  ASSERT_TRUE(plan) << plan.error().message;
  ASSERT_EQ(plan->kernels.size(), 2U);
  EXPECT_EQ(plan->kernels[1].count, 2);
  request.batch = 8;
  EXPECT_FALSE(worker_->plan(request));
  request.model = "absent.onnx";
  const auto absent = worker_->plan(request);
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().code, Code::Input);
  measure::OpenRequest model;
  model.model = "net.onnx";
  model.setting = setting(1);
  const auto opened = worker_->open(model);
  ASSERT_TRUE(opened);
  EXPECT_DOUBLE_EQ(time_of(*opened), 123'000);
  model.model = "absent.onnx";
  EXPECT_TRUE(std::holds_alternative<table::Unsupported>(*worker_->open(model)));
}

TEST_F(ReplayTest, ArgumentsChooseTheContext) {
  const auto phone = create_replay({path_, "device=phone"});
  ASSERT_TRUE(phone) << phone.error().message;
  EXPECT_EQ((*phone)->hello()->device.name, "phone");
  EXPECT_FALSE(create_replay({path_, "device=nothing"}));
  EXPECT_FALSE(create_replay({path_, "colour=red"}));
  EXPECT_FALSE(create_replay({}));
  const auto absent = create_replay({path_ + ".absent"});
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().code, Code::Input);
}

}  // namespace
}  // namespace oplat::runtimes
