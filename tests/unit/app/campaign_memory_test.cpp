// SPDX-License-Identifier: Apache-2.0
/// What a campaign measures of its machine's memory, and what becomes of one that cannot.
#include <gmock/gmock.h>

#include <map>
#include <string>

#include "app/profile.hpp"
#include "table/memory_text.hpp"
#include "unit/app/recording.hpp"

namespace oplat::app {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr double kFakeMib = 1 << 20;
using Facts = std::map<std::string, std::string>;

/// Is cancelled as soon as memory is looked at.
class CancelledAtMemory final : public CountingEvents {
 public:
  void progress(const Progress& progress) override { seen_ = seen_ || progress.what == "memory"; }
  bool cancelled() override { return seen_; }

 private:
  bool seen_ = false;
};

/// Workers that answer for nothing but memory: kernels are all unsupported.
class CampaignMemoryTest : public RecordingTest {
 protected:
  ProfileResult profile_with(const char* mode, double budget_s, int size, Events& events) {
    ProfileRequest request;
    request.keys_file = write("keys.txt", {key(size)});
    request.table = path("t.oplat");
    request.runtime.runtime = "reference";  // a name that is known
    request.runtime.worker_command = {OPLAT_FAKE_WORKER, mode};
    request.campaign.budget_s = budget_s;
    auto result = profile(request, events);
    if (!result) {
      ADD_FAILURE() << result.error().message;
      return {};
    }
    return std::move(*result);
  }
  /// Of the campaign that this makes; empty: it made none.
  Facts facts_of(const char* mode, double budget_s, int size = 1) {
    const auto campaign = profile_with(mode, budget_s, size, events_).summary.campaign;
    if (!campaign) return {};
    for (const table::StoredCampaign& stored : campaigns())
      if (stored.id == *campaign) return stored.environment.facts;
    return {};
  }
  std::vector<table::StoredCampaign> campaigns() {
    const auto table = table::Table::open(path("t.oplat"), table::Mode::Read);
    EXPECT_TRUE(table);
    auto all = table->campaigns();
    EXPECT_TRUE(all);
    return std::move(*all);
  }
  table::StateSizes sizes() {
    const auto table = table::Table::open(path("t.oplat"), table::Mode::Read);
    EXPECT_TRUE(table);
    const table::StoredCampaign campaign = campaigns().front();
    auto sizes = table::sizes_of_states(*table, campaign.device, campaign.setting);
    EXPECT_TRUE(sizes);
    return std::move(*sizes);
  }
};

TEST_F(CampaignMemoryTest, LooksBeforeItsRowsAndLongCampaignsAfterThemToo) {
  const Facts facts = facts_of("memory", 600);
  EXPECT_THAT(events_.warnings, Not(Contains(HasSubstr("caches"))));
  ASSERT_TRUE(facts.contains(table::kMemoryFact) && facts.contains(table::kMemoryAfterFact));
  const auto before = table::decode_memory(facts.at(table::kMemoryFact));
  ASSERT_TRUE(before) << before.error().message;
  ASSERT_TRUE(before->has_last_level());
  EXPECT_NEAR(*before->levels[1].capacity_bytes, 16 * kFakeMib, 4 * kFakeMib);
  ASSERT_TRUE(before->scrub_bytes);
  EXPECT_LT(static_cast<double>(*before->scrub_bytes), 64 * kFakeMib) << "480 MiB are reported";
  ASSERT_FALSE(before->waits.empty());
  EXPECT_NEAR(before->waits.back().chase_ns, 100, 1);
  ASSERT_TRUE(sizes().begun && sizes().memory);
  EXPECT_TRUE(sizes().memory->waits.empty()) << "no state is made from them";
  EXPECT_EQ(sizes().memory->scrub_bytes, before->scrub_bytes);
  // What is known of the machine is not measured before the rows again.
  const Facts more = facts_of("memory", 100, 2);
  EXPECT_FALSE(more.contains(table::kMemoryFact) || more.contains(table::kMemoryAfterFact));
  const Facts longer = facts_of("memory", 300, 3);
  EXPECT_FALSE(longer.contains(table::kMemoryFact));
  EXPECT_TRUE(longer.contains(table::kMemoryAfterFact));
}

TEST_F(CampaignMemoryTest, AShortOneGoesByReportedSizesAndALongerOneMeasuresForPredictions) {
  const Facts facts = facts_of("memory", 59);
  EXPECT_EQ(facts.at(table::kStatesFact), table::kReportedSizes);
  EXPECT_FALSE(facts.contains(table::kMemoryFact));
  const Facts longer = facts_of("memory", 60, 2);
  EXPECT_TRUE(longer.contains(table::kMemoryFact));
  EXPECT_TRUE(sizes().begun);
  EXPECT_FALSE(sizes().memory) << "rows go on in the states in which they were begun";
}

TEST_F(CampaignMemoryTest, WithoutWorkNothingIsMeasured) {
  ASSERT_FALSE(facts_of("memory", 59).empty());
  EXPECT_TRUE(facts_of("memory", 600).empty());
  EXPECT_EQ(campaigns().size(), 1U);
}

TEST_F(CampaignMemoryTest, AMachineThatCannotBeLookedAtIsAnAssumption) {
  for (const char* mode : {"memory-lost", "memory-flat", "memory-unknown"}) {
    SCOPED_TRACE(mode);
    std::filesystem::remove(path("t.oplat"));
    events_.warnings.clear();
    const Facts facts = facts_of(mode, 600);
    EXPECT_EQ(facts.at(table::kStatesFact), table::kReportedSizes);
    EXPECT_FALSE(facts.contains(table::kMemoryFact) || facts.contains(table::kMemoryAfterFact));
    const auto said = Contains(HasSubstr("the caches of bench were not measured: "));
    if (std::string(mode) == "memory-unknown")
      EXPECT_THAT(events_.warnings, Not(said)) << "there is nothing to be done about it";
    else
      EXPECT_THAT(events_.warnings, said);
  }
}

TEST_F(CampaignMemoryTest, AnInterruptedLookDecidesNothing) {
  CancelledAtMemory cancelled;
  EXPECT_TRUE(profile_with("memory", 600, 1, cancelled).summary.interrupted);
  EXPECT_FALSE(sizes().begun);
  EXPECT_TRUE(facts_of("memory", 600).contains(table::kMemoryFact));
  EXPECT_TRUE(sizes().memory);
}

TEST_F(CampaignMemoryTest, RecordedTimesSayNothingOfAMachine) {
  ProfileRequest request;
  request.keys_file = write("keys.txt", {key(1)});
  request.table = path("t.oplat");
  request.runtime = replay();
  ASSERT_TRUE(profile(request, events_));
  const Facts facts = campaigns().front().environment.facts;
  EXPECT_FALSE(facts.contains(table::kMemoryFact) || facts.contains(table::kStatesFact));
}

}  // namespace
}  // namespace oplat::app
