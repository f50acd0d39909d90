// SPDX-License-Identifier: Apache-2.0
/// Another system's table into a table, and out of it again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "app/export_table.hpp"
#include "app/import_table.hpp"
#include "unit/estimate/small_table.hpp"

namespace oplat::app {
namespace {

using test::must;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kLibrary =
    "{Regular,1,16,5,5,8,1,1,0} 0.5\n"
    "{Regular,1,16,5,5,8,3,1,0} -1\n";

class ExchangeTest : public ::testing::Test {
 protected:
  std::string put(const std::string& name, const std::string& bytes) {
    const std::string path = (folder_.path() / name).string();
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }
  ImportTableRequest request(const std::string& bytes) {
    ImportTableRequest request;
    request.file = put("conv_data.out", bytes);
    request.format = "tinynas";
    request.table = (folder_.path() / "t.oplat").string();
    request.device = "ours";
    return request;
  }
  base::TemporaryFolder folder_ = must(base::TemporaryFolder::create("oplat-exchange"));
  CollectedEvents events_;
};

TEST_F(ExchangeTest, TheSameBytesComeBack) {
  const ImportTableRequest in = request(kLibrary);
  const ImportTableResult read = must(import_table(in, events_));
  EXPECT_EQ(read.outcome, table::ImportOutcome::Added);
  EXPECT_EQ(read.rows, 2U);
  EXPECT_EQ(read.timed, 1U);
  EXPECT_THAT(read.devices, ElementsAre("ours"));
  EXPECT_EQ(read.setting.precision, "fp32");
  const std::string out = (folder_.path() / "out").string();
  const ExportTableRequest request{.table = in.table, .format = "tinynas", .file = out};
  EXPECT_EQ(must(export_table(request, events_)).rows, 2U);
  EXPECT_EQ(must(base::read_file(out, 1000)), kLibrary);
  EXPECT_THAT(events_.warnings, IsEmpty());
}

TEST_F(ExchangeTest, TheSameFileAgainChangesNothingAndAnotherIsRefused) {
  must(import_table(request(kLibrary), events_));
  EXPECT_EQ(must(import_table(request(kLibrary), events_)).outcome,
            table::ImportOutcome::Unchanged);
  ImportTableRequest other = request("{Regular,1,16,5,5,8,1,1,0} 0.7\n");
  const auto refused = import_table(other, events_);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::Refused);
  other.replace = true;
  EXPECT_EQ(must(import_table(other, events_)).outcome, table::ImportOutcome::Replaced);
}

TEST_F(ExchangeTest, MalformedRowsAreAnErrorOrAWarning) {
  ImportTableRequest bad = request(std::string(kLibrary) + "{Regular,1} 3\n");
  const auto refused = import_table(bad, events_);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::Input);
  bad.skip_bad_rows = true;
  EXPECT_EQ(must(import_table(bad, events_)).rows, 2U);
  EXPECT_THAT(events_.warnings,
              Contains(HasSubstr("1 malformed row was left out; an export writes it back")));
}

TEST_F(ExchangeTest, TheDeviceHasToBeKnown) {
  ImportTableRequest nameless = request(kLibrary);
  nameless.device.reset();
  const auto wrong = import_table(nameless, events_);
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code, Code::Usage);
  EXPECT_THAT(wrong.error().message, HasSubstr("--device"));
  EXPECT_FALSE(std::filesystem::exists(nameless.table));
}

TEST_F(ExchangeTest, OfSeveralImportsOneIsChosen) {
  ImportTableRequest in = request(kLibrary);
  must(import_table(in, events_));
  in.device = "theirs";
  must(import_table(in, events_));
  ExportTableRequest out{
      .table = in.table, .format = "tinynas", .file = (folder_.path() / "out").string()};
  const auto several = export_table(out, events_);
  ASSERT_FALSE(several);
  EXPECT_EQ(several.error().code, Code::Usage);
  EXPECT_THAT(several.error().message, HasSubstr("holds several imports"));
  out.rows.device = "theirs";
  EXPECT_EQ(must(export_table(out, events_)).rows, 2U);
}

}  // namespace
}  // namespace oplat::app
