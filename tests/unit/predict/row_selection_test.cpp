// SPDX-License-Identifier: Apache-2.0
#include "predict/row_selection.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "unit/estimate/small_table.hpp"

namespace oplat::predict {
namespace {

using test::must;
using test::setting_of;
using test::SmallTable;
using test::timing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class RowSelectionTest : public ::testing::Test {
 protected:
  table::SettingId add(const table::Setting& setting, const std::string& device = "desk",
                       const char* key = test::kCopy250) {
    const auto id = small_.setting(setting);
    small_.row(small_.device(device), id, key, std::nullopt, timing(1000));
    return id;
  }
  SmallTable small_;
};

TEST_F(RowSelectionTest, AnEmptyTableIsRefusedWithTheWayOut) {
  const auto none = select_rows(small_.table(), {}, ir::Catalogue::own());
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, Code::Refused);
  EXPECT_THAT(none.error().message, HasSubstr("oplat profile"));
}

// A model without kernels has no rows, and takes the empty call that its campaign timed.
TEST_F(RowSelectionTest, ACampaignWithoutRowsIsEnough) {
  const auto device = small_.device("desk");
  const auto timed = small_.setting(setting_of(4));
  table::Campaign campaign;
  campaign.empty_call_ns = 1200;
  must(small_.table().add_campaign(device, timed, campaign, {}));
  must(small_.table().add_campaign(device, timed, campaign, {}));
  campaign.empty_call_ns = std::nullopt;
  must(small_.table().add_campaign(device, small_.setting(setting_of(2)), campaign, {}));
  const Selection selection = must(select_rows(small_.table(), {}, ir::Catalogue::own()));
  EXPECT_EQ(selection.device.name, "desk");
  EXPECT_THAT(selection.setting_ids, ElementsAre(timed));

  // Rows come before campaigns that have none, which answer where they are asked for.
  const auto id = add(setting_of(1));
  EXPECT_THAT(must(select_rows(small_.table(), {}, ir::Catalogue::own())).setting_ids,
              ElementsAre(id));
  RowFilter four;
  four.threads = 4;
  EXPECT_THAT(must(select_rows(small_.table(), four, ir::Catalogue::own())).setting_ids,
              ElementsAre(timed));
}

TEST_F(RowSelectionTest, OneValuePerFieldFillsTheFilter) {
  const auto id = add(setting_of(4));
  const Selection selection = must(select_rows(small_.table(), {}, ir::Catalogue::own()));
  EXPECT_EQ(selection.device.name, "desk");
  EXPECT_EQ(selection.setting, setting_of(4));
  EXPECT_THAT(selection.setting_ids, ElementsAre(id));
  EXPECT_THAT(selection.mismatch, IsEmpty());
  EXPECT_THAT(selection.warnings, IsEmpty());
}

struct Ambiguity {
  const char* name;
  const char* flag;
  table::Setting a, b;
  const char* device_a;
  const char* device_b;
  RowFilter a_is;
};

class AmbiguityTest : public RowSelectionTest, public ::testing::WithParamInterface<int> {};

TEST_P(AmbiguityTest, SeveralValuesAreListedWithTheFlagThatChooses) {
  table::Setting half = setting_of();
  half.precision = "f16";
  const Ambiguity cases[] = {
      {"device is one of desk, lap",
       "--device",
       setting_of(),
       setting_of(),
       "desk",
       "lap",
       {.device = "desk"}},
      {"runtime is one of mnn, replay",
       "--runtime",
       setting_of(),
       setting_of(1, "mnn"),
       "desk",
       "desk",
       {.runtime = "replay"}},
      {"version is one of 1.0, 2.0",
       "--runtime-version",
       setting_of(),
       setting_of(1, "replay", "2.0"),
       "desk",
       "desk",
       {.version = "1.0"}},
      {"precision is one of f16, model",
       "--precision",
       setting_of(),
       half,
       "desk",
       "desk",
       {.precision = "model"}},
      {"threads is one of 1, 4",
       "--threads",
       setting_of(),
       setting_of(4),
       "desk",
       "desk",
       {.threads = 1}},
  };
  const Ambiguity& one = cases[GetParam()];
  add(one.a, one.device_a);
  add(one.b, one.device_b);
  const auto open = select_rows(small_.table(), {}, ir::Catalogue::own());
  ASSERT_FALSE(open);
  EXPECT_EQ(open.error().code, Code::Usage);
  EXPECT_THAT(open.error().message,
              HasSubstr(std::string(one.name) + " (choose with " + one.flag + ")"));
  const Selection chosen = must(select_rows(small_.table(), one.a_is, ir::Catalogue::own()));
  EXPECT_EQ(chosen.setting, one.a);
  EXPECT_EQ(chosen.device.name, one.device_a);
  EXPECT_THAT(chosen.mismatch, IsEmpty());
}
INSTANTIATE_TEST_SUITE_P(Fields, AmbiguityTest, ::testing::Range(0, 5));

TEST_F(RowSelectionTest, OnlyFieldsThatDifferAreListed) {
  add(setting_of(1));
  add(setting_of(2));
  const auto open = select_rows(small_.table(), {}, ir::Catalogue::own());
  ASSERT_FALSE(open);
  EXPECT_THAT(open.error().message, Not(HasSubstr("--runtime")));
  EXPECT_THAT(open.error().message, Not(HasSubstr("--device")));
}

TEST_F(RowSelectionTest, AFieldMayFollowFromAnother) {
  add(setting_of(1, "replay", "1.0"));
  add(setting_of(4, "mnn", "3.0"));
  EXPECT_EQ(
      must(select_rows(small_.table(), {.runtime = "mnn"}, ir::Catalogue::own())).setting.threads,
      4);
}

TEST_F(RowSelectionTest, NothingUnderTheSettingIsRefusedNamingTheNearest) {
  add(setting_of(1));
  add(setting_of(4));
  add(setting_of(3, "mnn"));
  const auto none =
      select_rows(small_.table(), {.runtime = "replay", .threads = 3}, ir::Catalogue::own());
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, Code::Refused);
  EXPECT_THAT(none.error().message, HasSubstr("no row for threads 3"));
  EXPECT_THAT(none.error().message, HasSubstr("--threads 4"));
  EXPECT_THAT(none.error().message, HasSubstr("--allow-setting-mismatch"));
}

TEST_F(RowSelectionTest, AMismatchIsAnsweredWhenAllowedAndListed) {
  add(setting_of(4));
  const Selection selection = must(select_rows(
      small_.table(), {.threads = 2, .allow_setting_mismatch = true}, ir::Catalogue::own()));
  EXPECT_EQ(selection.setting.threads, 4);
  ASSERT_EQ(selection.mismatch.size(), 1U);
  EXPECT_EQ(selection.mismatch[0].field, "threads");
  EXPECT_EQ(selection.mismatch[0].asked, "2");
  EXPECT_EQ(selection.mismatch[0].used, "4");
  EXPECT_NEAR(selection.mismatch[0].sd_log, 0.69314718056, 1e-9);
}

TEST_F(RowSelectionTest, AnotherVersionIsAMismatch) {
  add(setting_of(1, "replay", "1.0"));
  EXPECT_EQ(select_rows(small_.table(), {.version = "1.1"}, ir::Catalogue::own()).error().code,
            Code::Refused);
  const Selection selection = must(select_rows(
      small_.table(), {.version = "1.1", .allow_setting_mismatch = true}, ir::Catalogue::own()));
  ASSERT_EQ(selection.mismatch.size(), 1U);
  EXPECT_EQ(selection.mismatch[0].field, "version");
}

TEST_F(RowSelectionTest, AllowingAMismatchDoesNotChangeAnExactAnswer) {
  add(setting_of(1));
  add(setting_of(4));
  const Selection selection = must(select_rows(
      small_.table(), {.threads = 4, .allow_setting_mismatch = true}, ir::Catalogue::own()));
  EXPECT_EQ(selection.setting.threads, 4);
  EXPECT_THAT(selection.mismatch, IsEmpty());
}

TEST_F(RowSelectionTest, AnotherBuildIsAWarning) {
  add(setting_of(1, "replay", "1.0", "b1"));
  const Selection selection =
      must(select_rows(small_.table(), {.build = "b2"}, ir::Catalogue::own()));
  EXPECT_THAT(selection.mismatch, IsEmpty());
  EXPECT_THAT(
      selection.warnings,
      ElementsAre(HasSubstr("the rows have build b1 of replay 1.0, but build b2 was asked for")));
}

TEST_F(RowSelectionTest, OfSeveralBuildsTheAskedOneComesFirst) {
  const auto b1 = add(setting_of(1, "replay", "1.0", "b1"));
  const auto b2 = add(setting_of(1, "replay", "1.0", "b2"));
  const Selection first = must(select_rows(small_.table(), {.build = "b1"}, ir::Catalogue::own()));
  EXPECT_THAT(first.setting_ids, ElementsAre(b1, b2));
  EXPECT_THAT(first.warnings, ElementsAre(HasSubstr("2 builds")));
  const Selection second = must(select_rows(small_.table(), {.build = "b2"}, ir::Catalogue::own()));
  EXPECT_THAT(second.setting_ids, ElementsAre(b2, b1));
}

TEST_F(RowSelectionTest, OptionsAreComparedWhereAsked) {
  table::Setting spinning = setting_of();
  spinning.options["spinning"] = "1";
  add(spinning);
  EXPECT_THAT(
      must(select_rows(small_.table(), {.options = {{"spinning", "1"}}}, ir::Catalogue::own()))
          .mismatch,
      IsEmpty());
  EXPECT_EQ(select_rows(small_.table(), {.options = {{"spinning", "0"}}}, ir::Catalogue::own())
                .error()
                .code,
            Code::Refused);
}

TEST_F(RowSelectionTest, AnEmptyOptionAsksForRowsWithoutIt) {
  table::Setting spinning = setting_of();
  spinning.options["spinning"] = "1";
  add(spinning);
  EXPECT_THAT(select_rows(small_.table(), {.options = {{"spinning", ""}}}, ir::Catalogue::own())
                  .error()
                  .message,
              HasSubstr("no row for option spinning (not set)"));
  add(setting_of());
  const Selection selection =
      must(select_rows(small_.table(), {.options = {{"spinning", ""}}}, ir::Catalogue::own()));
  EXPECT_EQ(selection.setting, setting_of());
  EXPECT_THAT(selection.warnings, IsEmpty());
}

TEST_F(RowSelectionTest, ExactOptionsLeaveOutRowsWithFurtherOnes) {
  table::Setting pinned = setting_of();
  pinned.options = {{"level", "99"}, {"affinity", "0"}};
  add(pinned);
  const RowFilter filter{.options = {{"level", "99"}}, .exact_options = true};
  EXPECT_THAT(select_rows(small_.table(), filter, ir::Catalogue::own()).error().message,
              HasSubstr("no row for option affinity (not set)"));
  table::Setting free = setting_of();
  free.options = {{"level", "99"}, {"affinity", ""}};
  add(free);
  const Selection selection = must(select_rows(small_.table(), filter, ir::Catalogue::own()));
  EXPECT_EQ(selection.setting, free);
  EXPECT_THAT(selection.warnings, IsEmpty());
}

TEST_F(RowSelectionTest, OptionsThatNobodyAskedForLeaveTheFullerSettingWithAWarning) {
  table::Setting spinning = setting_of();
  spinning.options["spinning"] = "1";
  add(spinning);
  add(setting_of());
  add(setting_of(), "desk", test::kCopy1000);
  const Selection selection = must(select_rows(small_.table(), {}, ir::Catalogue::own()));
  EXPECT_EQ(selection.setting, setting_of());
  EXPECT_EQ(selection.setting_ids.size(), 1U);
  EXPECT_THAT(selection.warnings,
              ElementsAre(HasSubstr(
                  "1 further settings that differ only in runtime options (spinning=1)")));
}

TEST_F(RowSelectionTest, SettingsWithoutATimeAreNoChoice) {
  add(setting_of(1));
  small_.row(small_.device(), small_.setting(setting_of(8)), test::kCopy250, std::nullopt,
             table::Failed{"crash"});
  EXPECT_EQ(must(select_rows(small_.table(), {}, ir::Catalogue::own())).setting.threads, 1);
  EXPECT_EQ(must(select_rows(small_.table(), {.threads = 8}, ir::Catalogue::own())).setting.threads,
            8);
}

}  // namespace
}  // namespace oplat::predict
