// SPDX-License-Identifier: Apache-2.0
#include "app/profile.hpp"

#include <gmock/gmock.h>

#include <cstdlib>

#include "plan/identity.hpp"
#include "unit/app/recording.hpp"

namespace oplat::app {
namespace {

using ::testing::HasSubstr;

class ProfileTest : public RecordingTest {
 protected:
  ProfileRequest request(const std::string& keys_file) {
    ProfileRequest request;
    request.keys_file = keys_file;
    request.table = path("t.oplat");
    request.runtime = replay();
    return request;
  }
  void expect_refused(const ProfileRequest& request, Code code, const std::string& text) {
    const auto result = profile(request, events_);
    ASSERT_FALSE(result) << text;
    EXPECT_EQ(result.error().code, code) << result.error().message;
    EXPECT_THAT(result.error().message, HasSubstr(text));
    EXPECT_FALSE(std::filesystem::exists(path("t.oplat"))) << "an error leaves no table behind";
  }
};

TEST_F(ProfileTest, MeasuresTheKeysOfAFile) {
  const std::string unknown = "LSTM/14{}(f32[1])->(f32[1])";
  const auto result =
      profile(request(write("keys.txt", {"# three", key(1), key(2), unknown, key(1)})), events_);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->summary.kernels.total, 3) << "a key that is listed twice is one row";
  EXPECT_EQ(result->summary.kernels.measured(), 2);
  EXPECT_EQ(result->summary.kernels.unsupported, 1);
  EXPECT_EQ(result->summary.blocks, 10);
  ASSERT_EQ(result->summary.refusals.size(), 1U);
  EXPECT_EQ(result->summary.refusals[0].key, unknown);
  EXPECT_FALSE(result->every_kernel_failed());
  EXPECT_GE(events_.measuring, 10);
  EXPECT_EQ(events_.beyond, 0) << "progress went beyond its total";

  auto table = table::Table::open(path("t.oplat"), table::Mode::Read);
  ASSERT_TRUE(table) << table.error().message;
  const auto device = table->find_device("bench");
  ASSERT_TRUE(device && *device) << "rows are stored under the recorded device's name";
  const auto campaigns = table->campaigns();
  ASSERT_TRUE(campaigns);
  ASSERT_EQ(campaigns->size(), 1U);
  const auto rows = table->rows_of(key(2), **device, campaigns->front().setting);
  ASSERT_TRUE(rows);
  ASSERT_EQ(rows->size(), 1U);
  EXPECT_NEAR(std::get<table::Timing>(rows->front().row.outcome).median_ns, 2000, 20);
}

TEST_F(ProfileTest, SkipsFinishedRows) {
  const ProfileRequest again = request(write("keys.txt", {key(1)}));
  ASSERT_TRUE(profile(again, events_));
  const auto second = profile(again, events_);
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ(second->summary.blocks, 0);
  EXPECT_EQ(second->summary.kernels.measured(), 1);
}

TEST_F(ProfileTest, CancelledItKeepsWhatItMeasuredAndGoesOn) {
  events_.cancel_after = 3;
  const ProfileRequest cut = request(all_keys());
  const auto first = profile(cut, events_);
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_TRUE(first->summary.interrupted);
  EXPECT_GE(first->summary.blocks, 1);
  EXPECT_LE(first->summary.blocks, 3);
  EXPECT_EQ(first->summary.kernels.measured(), first->summary.blocks) << "one block a row so far";

  events_.cancel_after.reset();
  ProfileRequest rest = cut;
  rest.table_must_exist = true;
  const auto second = profile(rest, events_);
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_FALSE(second->summary.interrupted);
  EXPECT_EQ(second->summary.kernels.measured(), 7);
  EXPECT_EQ(first->summary.blocks + second->summary.blocks, 7 * 5);
}

TEST_F(ProfileTest, MeasuresModelsAndTheirKernels) {
  ProfileRequest both = request("");
  both.models = {path(kModel)};
  const auto result = profile(both, events_);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(events_.planning, 1);
  EXPECT_EQ(result->summary.kernels.measured(), 1);
  EXPECT_EQ(result->summary.models.measured(), 1);
  auto table = table::Table::open(path("t.oplat"), table::Mode::Read);
  ASSERT_TRUE(table);
  const auto plan = table->find_plan(kIdentity);
  ASSERT_TRUE(plan && *plan) << "the plan is stored";
}

// Else a fit would take the model twice, once with keys that mean something else by now.
TEST_F(ProfileTest, APlanOfAnEarlierFormatGoes) {
  const auto recorded = table::Table::open(path("recorded.oplat"), table::Mode::Read);
  ASSERT_TRUE(recorded);
  const auto settings = recorded->settings();
  ASSERT_TRUE(settings && settings->size() == 1);
  const auto hash = plan::model_hash(path(kModel));
  ASSERT_TRUE(hash) << hash.error().message;
  const std::string earlier = plan::identity(*hash, {}, settings->front().second, "", {}, 1);
  {
    auto table = table::Table::open(path("t.oplat"), table::Mode::Create);
    ASSERT_TRUE(table);
    ASSERT_TRUE(table->put_plan({kModel, earlier, "runtime", 1, 0, 0, {{"n", key(1), 1}}}));
    ASSERT_TRUE(table->put_plan({kModel, "another", "runtime", 1, 0, 0, {{"n", key(1), 1}}}));
  }
  ProfileRequest request = this->request("");
  request.models = {path(kModel)};
  const auto result = profile(request, events_);
  ASSERT_TRUE(result) << result.error().message;
  const auto table = table::Table::open(path("t.oplat"), table::Mode::Read);
  ASSERT_TRUE(table);
  const auto gone = table->find_plan(earlier);
  ASSERT_TRUE(gone);
  EXPECT_FALSE(gone->has_value());
  const auto kept = table->find_plan("another");
  ASSERT_TRUE(kept);
  EXPECT_TRUE(kept->has_value()) << "of another question";
}

TEST_F(ProfileTest, ChecksInOrder) {
  ProfileRequest nothing = request("");
  nothing.runtime.runtime = "nope";
  expect_refused(nothing, Code::Usage, "nothing to profile");
  ProfileRequest name = request(path("absent.txt"));
  name.models = {path("absent.onnx")};
  name.runtime.runtime = "nope";
  expect_refused(name, Code::Runtime, "unknown runtime 'nope'");
  name.runtime = replay();
  expect_refused(name, Code::Input, "absent.onnx: no such file");
  name.models.clear();
  expect_refused(name, Code::Input, "absent.txt");
  expect_refused(request(write("bad.txt", {key(1), "Relu/14{}(f32[1"})), Code::Input,
                 "bad.txt:2: ");
  expect_refused(request(write("none.txt", {"# nothing"})), Code::Input, "holds no keys");
  ProfileRequest absent = request(write("keys.txt", {key(1)}));
  absent.runtime.worker_arguments = {path("absent.oplat")};
  expect_refused(absent, Code::Input, "absent.oplat");
  absent.runtime = replay();
  absent.table_must_exist = true;
  expect_refused(absent, Code::Input, "t.oplat");
}

TEST_F(ProfileTest, RefusesWhatTheRuntimeDoesNotHave) {
  ProfileRequest wrong = request(write("keys.txt", {key(1)}));
  wrong.runtime.precision = "fp8";
  expect_refused(wrong, Code::Usage, "--precision fp8");
  wrong.runtime = replay();
  wrong.runtime.options = {{"magic", "on"}};
  expect_refused(wrong, Code::Usage, "--option magic=on");
  wrong.runtime = replay();
  wrong.runtime.threads = 4000;
  expect_refused(wrong, Code::Usage, "--threads 4000");
}

TEST_F(ProfileTest, KeepsReplayedAndMeasuredTimesApart) {
  const std::string keys = write("keys.txt", {key(1)});
  ProfileRequest recorded = request(keys);
  recorded.table = path("recorded.oplat");
  const auto result = profile(recorded, events_);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Code::Refused);
  EXPECT_THAT(result.error().message,
              HasSubstr("were measured, and cannot be mixed with replayed times"));
}

TEST_F(ProfileTest, ARemoteWorkerSaysWhatItIs) {
  ::setenv("XDG_CACHE_HOME", path("cache").c_str(), 1);
  ProfileRequest remote = request(write("keys.txt", {key(1)}));
  remote.models = {path(kModel)};
  remote.runtime.remote = true;
  remote.runtime.runtime = "onnxruntime";
  expect_refused(remote, Code::Runtime, "serves replay");
  remote.runtime.runtime.clear();
  remote.runtime.cpu = 0;
  expect_refused(remote, Code::Usage, "--cpu 0");
  remote.runtime.cpu.reset();
  const auto result = profile(remote, events_);
  ::unsetenv("XDG_CACHE_HOME");
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->summary.models.measured(), 1);
  EXPECT_TRUE(std::filesystem::exists(path("cache/oplat/uploads"))) << "the model was not sent";
  auto table = table::Table::open(path("t.oplat"), table::Mode::Read);
  ASSERT_TRUE(table);
  const auto campaigns = table->campaigns();
  ASSERT_TRUE(campaigns && campaigns->size() == 1);
  const table::Environment& environment = campaigns->front().environment;
  EXPECT_EQ(environment.kernel + environment.hostname_hash, "");
  EXPECT_EQ(environment.facts.at("worker"), "replay") << "replayed times must say that they are";
  EXPECT_EQ(environment.facts.count("load_average"), 0U) << "of this machine";
}

TEST_F(ProfileTest, RefusesAWorkerThatIsNotAsTheFirst) {
  {
    auto table = table::Table::open(path("updated.oplat"), table::Mode::Create);
    ASSERT_TRUE(table);
    table::Device bench;
    bench.name = "bench";
    bench.cores = 2;
    table::Setting setting;
    setting.runtime = "onnxruntime";
    setting.version = "1.32.0";
    setting.build = "abc";
    const auto device = table->put_device(bench);
    const auto id = table->put_setting(setting);
    ASSERT_TRUE(device && id);
    table::Row row;
    row.key = key(1);
    table::Timing timing;
    timing.median_ns = timing.ci_low_ns = timing.ci_high_ns = 1000;
    timing.blocks = timing.processes = 5;
    row.outcome = timing;
    ASSERT_TRUE(table->put_row(*device, *id, std::nullopt, row));
  }
  ProfileRequest changing = request(write("keys.txt", {key(1)}));
  changing.runtime.worker_arguments.clear();
  changing.runtime.worker_command = {
      "sh", "-c",
      fmt::format("t={0}/updated.oplat; [ -e {0}/started ] || t={0}/recorded.oplat; "
                  "touch {0}/started; exec {1} worker replay $t",
                  folder_->path().string(), OPLAT_EXECUTABLE)};
  const auto result = profile(changing, events_);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Code::Refused) << result.error().message;
  EXPECT_THAT(result.error().message, HasSubstr("version is 1.32.0, was 1.31.1"));
}

TEST_F(ProfileTest, RefusesAnotherMachineOfTheSameName) {
  const ProfileRequest again = request(write("keys.txt", {key(1)}));
  {
    auto table = table::Table::open(path("t.oplat"), table::Mode::Create);
    ASSERT_TRUE(table);
    table::Device other;
    other.name = "bench";
    other.cores = 64;
    ASSERT_TRUE(table->put_device(other));
  }
  const auto result = profile(again, events_);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Code::Refused);
  EXPECT_THAT(result.error().message, HasSubstr("another machine named 'bench': cores is 2 here"));
}

}  // namespace
}  // namespace oplat::app
