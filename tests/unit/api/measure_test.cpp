// SPDX-License-Identifier: Apache-2.0
#include "oplat/measure.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "oplat/profile.hpp"
#include "unit/estimate/small_table.hpp"

namespace oplat {
namespace {

using test::must;
using ::testing::HasSubstr;

/// The program of the build, and a file of a key that plain loops can run.
class ApiMeasure : public ::testing::Test {
 protected:
  ApiMeasure() {
    ::setenv("OPLAT_PROGRAM", OPLAT_EXECUTABLE, 1);
    std::ofstream(at("keys.txt")) << "Relu/14{}(f32[64,64])->(f32[64,64])\n";
  }
  ~ApiMeasure() override { ::unsetenv("OPLAT_PROGRAM"); }
  [[nodiscard]] std::string at(const std::string& name) const {
    return (folder_.path() / name).string();
  }
  base::TemporaryFolder folder_ = must(base::TemporaryFolder::create("oplat-api-measure"));
};

struct CountedProgress : Events {
  void progress(const Progress& progress) override { most = std::max(most, progress.total); }
  std::int64_t most = 0;
};

TEST_F(ApiMeasure, ProfilesKeysIntoATableThatAnswers) {
  ProfileRequest request;
  request.keys_file = at("keys.txt");
  request.table = at("t.oplat");
  request.runtime.runtime = "reference";
  request.campaign.budget_s = 20;
  request.campaign.target_error = 0.5;
  CountedProgress events;
  const CampaignSummary summary = must(profile_models(request, &events));
  EXPECT_GE(summary.kernels, 1);
  EXPECT_EQ(summary.kernels_measured, summary.kernels);
  EXPECT_GE(events.most, 1);
  const Table table = must(Table::open(request.table));
  EXPECT_GE(must(table.count({.runtime = "reference", .with_time = true})), 1);
}

TEST_F(ApiMeasure, RefusesBeforeAnythingIsMeasured) {
  MeasureRequest request;
  request.models = {at("none.onnx")};
  request.runtime.runtime = "reference";
  EXPECT_EQ(measure_models(request).error().code, Code::Input);
  request.runtime.runtime = "mind";
  const auto unknown = measure_models(request);
  EXPECT_EQ(unknown.error().code, Code::Runtime);
  EXPECT_THAT(unknown.error().message, HasSubstr("unknown runtime 'mind'"));
}

}  // namespace
}  // namespace oplat
