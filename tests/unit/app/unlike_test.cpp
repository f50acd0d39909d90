// SPDX-License-Identifier: Apache-2.0
/// A kernel whose lone time is a third of its time inside the model: flagged, said and within the
/// interval, from the campaign to the validation.
#include <gmock/gmock.h>

#include <cmath>
#include <sstream>

#include "app/predict.hpp"
#include "app/profile.hpp"
#include "app/validate.hpp"
#include "report/renderer.hpp"
#include "table/in_model.hpp"
#include "unit/app/recording.hpp"

namespace oplat::app {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

/// The worker that tests of the client use, of a runtime that has a profiler: Relu takes 10 us by
/// itself and 30 us in the model.
class UnlikeTest : public RecordingTest {
 protected:
  [[nodiscard]] RuntimeRequest worker(const char* mode) const {
    RuntimeRequest request;
    request.runtime = "replay";  // a name that is known; the worker says what it is
    request.worker_command = {OPLAT_FAKE_WORKER, mode};
    return request;
  }
  Result<ProfileResult> profile_with(const char* mode) {
    ProfileRequest request;
    request.models = {path(kModel)};
    request.table = path("t.oplat");
    request.runtime = worker(mode);
    return profile(request, events_);
  }
  static std::string rendered(std::string_view form, const ProfileResult& result) {
    std::ostringstream out;
    EXPECT_TRUE(report::render(
        form, {report::ProfileReport{result.table, result.summary, result.unlike}, {}, {}}, out));
    return out.str();
  }
};

TEST_F(UnlikeTest, ProfilePredictAndValidateSaySo) {
  const auto result = profile_with("unlike");
  ASSERT_TRUE(result) << result.error().message;
  ASSERT_EQ(result->unlike.size(), 1U);
  const measure::UnlikeKernel& unlike = result->unlike.front();
  EXPECT_EQ(unlike.key, key(1));
  EXPECT_EQ(unlike.in_model_ns, (base::Interval{29'000, 31'000}));
  EXPECT_NEAR(unlike.by_itself_ns.low, 10'000, 1);
  EXPECT_THAT(rendered("text", *result),
              HasSubstr("unlike_in_model: net.onnx: n0 takes 29.0 us to 31.0 us inside the model "
                        "(100 % of it) and 10.0 us by itself"));
  EXPECT_THAT(rendered("json", *result), HasSubstr("\"in_model_ns\": ["));

  PredictRequest asked{.model = path(kModel), .table = path("t.oplat")};
  asked.plan.from = PlanFrom::Cached;
  const auto predicted = predict(asked, events_);
  ASSERT_TRUE(predicted) << predicted.error().message;
  const predict::Prediction& prediction = predicted->prediction;
  ASSERT_TRUE(prediction.latency_ns && prediction.interval);
  EXPECT_LT(*prediction.latency_ns, 3 * 11'000) << "the row still answers";
  const double inside = *prediction.latency_ns + 2 * (31'000 - 10'000);
  // Both executions as the model saw them, in another moment than that.
  ASSERT_GT(prediction.composition_sd_log, 0);
  EXPECT_NEAR(prediction.interval->high, inside * std::exp(1.645 * prediction.composition_sd_log),
              10);
  EXPECT_THAT(prediction.warnings, Contains(HasSubstr("unlike_in_model: 1 of its")));
  EXPECT_THAT(prediction.kernels.front().why, HasSubstr("inside a profiled model"));
  EXPECT_TRUE(prediction.kernels.front().in_model_ns);
  asked.options.level = 0.5;
  const auto narrow = predict(asked, events_);
  ASSERT_TRUE(narrow && narrow->prediction.interval);
  EXPECT_GE(narrow->prediction.interval->high, inside) << "what was seen is not left out";

  ValidateRequest validated;
  validated.models = {path(kModel)};
  validated.table = path("t.oplat");
  validated.runtime = worker("unlike");
  const auto validation = validate(validated, events_);
  ASSERT_TRUE(validation) << validation.error().message;
  EXPECT_THAT(validation->validation.warnings, Contains(HasSubstr("unlike_in_model")));
  ASSERT_EQ(validation->validation.models.size(), 1U);
  EXPECT_EQ(validation->validation.models.front().inside(), true);
}

TEST_F(UnlikeTest, FurtherBlocksLeaveTheFlag) {
  ASSERT_TRUE(profile_with("unlike"));
  ProfileRequest more;
  more.keys_file = write("keys.txt", {key(1)});
  more.table = path("t.oplat");
  more.runtime = worker("unlike");
  more.campaign.min_blocks = 8;
  const auto again = profile(more, events_);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_GT(again->summary.blocks, 0);
  auto table = table::Table::open(path("t.oplat"), table::Mode::Read);
  ASSERT_TRUE(table);
  const auto device = table->find_device("bench");
  const auto campaigns = table->campaigns();
  ASSERT_TRUE(device && *device && campaigns && !campaigns->empty());
  const auto rows = table->rows_of(key(1), **device, campaigns->front().setting);
  ASSERT_TRUE(rows && !rows->empty());
  EXPECT_TRUE(table::in_model_ns(rows->front().row.method));
}

TEST_F(UnlikeTest, AWorkerWithoutAProfilerSaysNothing) {
  const auto result = profile_with("alike");
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_TRUE(result->unlike.empty());
}

}  // namespace
}  // namespace oplat::app
