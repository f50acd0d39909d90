// SPDX-License-Identifier: Apache-2.0
#include "app/accuracy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "unit/app/convolution_rows.hpp"

namespace oplat::app {
namespace {

using test::must;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class AccuracyTest : public ::testing::Test {
 protected:
  AccuracyRequest request(const std::string& split) {
    AccuracyRequest request;
    request.table = made_.path();
    request.split = split;
    request.learn.jobs = 1;
    request.learn.calibrate = false;
    return request;
  }
  testing::ConvolutionRows made_;
  CollectedEvents events_;
};

TEST_F(AccuracyTest, AsksForRowsThatWereHeldOut) {
  const AccuracyResult result = must(accuracy(request("keep:80"), events_));
  EXPECT_EQ(result.device.name, "desk");
  EXPECT_EQ(result.accuracy.learned_from + result.accuracy.asked, testing::ConvolutionRows::kRows);
  ASSERT_FALSE(result.accuracy.lines.empty());
  EXPECT_EQ(result.accuracy.lines.front().name, "all");
  EXPECT_LT(result.accuracy.lines.front().median, 0.2) << "times follow a law";
}

TEST_F(AccuracyTest, GroupsAreReadFromAFile) {
  const auto folder = must(base::TemporaryFolder::create("oplat-groups"));
  const std::string path = (folder.path() / "groups.tsv").string();
  std::ofstream(path) << "Conv/11{}(f32[1,16,7,7],f32c[16,16,1,1])->(f32[1,16,7,7])\t1\n"
                      << "nothing\t1\n";
  const AccuracyResult result = must(accuracy(request("groups:" + path), events_));
  EXPECT_EQ(result.accuracy.asked, 1);
  EXPECT_THAT(events_.warnings, ElementsAre(HasSubstr("it lists 2 keys, but only 1 match a row")));
}

TEST_F(AccuracyTest, AnUnknownSplitIsAUsageError) {
  const auto wrong = accuracy(request("randomly"), events_);
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code, Code::Usage);
  const auto no_file = parse_hold_out("groups:/none/at/all");
  ASSERT_FALSE(no_file);
  EXPECT_EQ(no_file.error().code, Code::Input);
}

}  // namespace
}  // namespace oplat::app
