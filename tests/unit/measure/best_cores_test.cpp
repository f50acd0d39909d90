// SPDX-License-Identifier: Apache-2.0
/// Cores that campaigns saw, and what the next one takes from them.
#include "measure/best_cores.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace oplat::measure {
namespace {

table::StoredCampaign campaign_of(const std::string& fact, table::SettingId setting = 1,
                                  table::DeviceId device = 1) {
  table::StoredCampaign campaign;
  campaign.device = device;
  campaign.setting = setting;
  if (!fact.empty()) campaign.environment.facts[table::kBestCores] = fact;
  return campaign;
}

TEST(BestCores, SurviveTheirText) {
  const Cores cores{2950.5, 88};
  EXPECT_EQ(decode_cores(encode(cores)), cores);
  for (const char* text : {"", "88", "2950.5", "a b", "-1 88", "2950 0", "2950 inf", "nan 88",
                           "2950 88 7", "1e300 88"})
    EXPECT_FALSE(decode_cores(text)) << text;
}

TEST(BestCores, AreTheNearestOfCampaignsWhoseCoresWereTheirOwn) {
  // The second had far cores all the time; those of the third were two threads of one, which are
  // nearer than cores can be.
  const std::vector<table::StoredCampaign> campaigns = {
      campaign_of("3000 90"), campaign_of("2900 400"), campaign_of("5000 25"), campaign_of("")};
  const Cores cores = cores_of(campaigns, 1, 1);
  EXPECT_EQ(cores.handoff_ns, 90);
  EXPECT_GT(cores.issue_ns, 2900);
  EXPECT_LT(1.15 * cores.issue_ns, 1.3 * 2900)
      << "what oplat_probe_apart accepts is less than a look on a core that is shared";
}

TEST(BestCores, TellWhatWasWorse) {
  EXPECT_TRUE(were_worse({3000, 390}, {3000, 90})) << "far";
  EXPECT_TRUE(were_worse({5000, 25}, {3000, 90})) << "two threads of one core";
  EXPECT_FALSE(were_worse({3400, 145}, {3000, 85})) << "another clock, within one cache";
  EXPECT_FALSE(were_worse({3000, 90}, {3000, 390}));
  EXPECT_FALSE(were_worse({3000, 0}, {2000, 0})) << "one thread";
  EXPECT_FALSE(were_worse({}, {3000, 90}));
  EXPECT_TRUE(were_worse({5000, 25}, {3000, 0})) << "one of the cores is still shared";
  EXPECT_FALSE(were_worse({3000, 90}, {5000, 25})) << "nearer than cores can be, and shared";
}

TEST(BestCores, AreThoseOfTheSameDeviceAndSetting) {
  const std::vector<table::StoredCampaign> campaigns = {campaign_of("3000 90", 2),
                                                        campaign_of("3000 90", 1, 2)};
  EXPECT_EQ(cores_of(campaigns, 1, 1), Cores{});
  EXPECT_EQ(cores_of({}, 1, 1), Cores{});
}

}  // namespace
}  // namespace oplat::measure
