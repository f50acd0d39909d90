// SPDX-License-Identifier: Apache-2.0
#include "app/lut.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/paddleslim.hpp"

namespace oplat::app {
namespace {

using ::testing::HasSubstr;

class LutRequestTest : public ::testing::Test {
 protected:
  LutRequestTest() {
    request_.models = {"net"};
    request_.input_dims = R"({"data": [1, 3, 8, 8]})";
  }
  [[nodiscard]] Error error() {
    const auto made = lut_predict(request_, events_);
    EXPECT_FALSE(made);
    return made ? Error{} : made.error();
  }
  LutRequest request_;
  CollectedEvents events_;
};

TEST_F(LutRequestTest, AnUnknownModeIsAUsageErrorBeforeAnyFileIsRead) {
  request_.mode = "median";
  EXPECT_EQ(error().code, Code::Usage);
  EXPECT_THAT(error().message, HasSubstr("--mode median: expected ave, mean, min, max or last"));
}

TEST_F(LutRequestTest, FlagsOfATableNeedOne) {
  request_.rows.runtime = "qnnpack";
  EXPECT_EQ(error().code, Code::Usage);
  EXPECT_THAT(error().message, HasSubstr("select rows of --table"));
}

TEST_F(LutRequestTest, AMissingNetIsNamed) {
  EXPECT_EQ(error().code, Code::Input);
  EXPECT_THAT(error().message, HasSubstr("net"));
  const auto queries = lut_queries(request_, events_);
  ASSERT_FALSE(queries);
  EXPECT_EQ(queries.error().code, Code::Input);
}

TEST_F(LutRequestTest, ABuildSaysWhatToMeasureAndForWhom) {
  LutBuildRequest build;
  build.out = "t.json";
  const auto nothing = lut_build(build, events_);
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().code, Code::Usage);
  EXPECT_THAT(nothing.error().message, HasSubstr("nothing to measure"));
  build.models = {"net"};
  const auto nobody = lut_build(build, events_);
  ASSERT_FALSE(nobody);
  EXPECT_THAT(nobody.error().message, HasSubstr("--device is missing"));
}

TEST(PaddleslimRequestTest, NamesATableOnce) {
  CollectedEvents events;
  PaddleslimRequest request;
  request.model = "net.pdmodel";
  const auto none = paddleslim_predict(request, events);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, Code::Usage);
  EXPECT_THAT(none.error().message, HasSubstr("set the table once"));
  request.hardware = "folder/SD710";
  const auto path = paddleslim_predict(request, events);
  ASSERT_FALSE(path);
  EXPECT_EQ(path.error().code, Code::Usage);
  EXPECT_THAT(path.error().message, HasSubstr("expected a name such as SD710"));
  request.hardware = "SD710";
  const auto missing = paddleslim_predict(request, events);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, Code::Input);
  EXPECT_THAT(missing.error().message, HasSubstr("net.pdmodel"));
}

}  // namespace
}  // namespace oplat::app
