// SPDX-License-Identifier: Apache-2.0
/// A measured hierarchy comes back from its text and from a table; what is not one is refused.
#include "table/memory_text.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <map>
#include <string>

#include "table_fixture.hpp"

namespace oplat::table {
namespace {

using testing::HasSubstr;
using MemoryText = TableTest;

MemoryHierarchy sample_memory(double last_bytes = 15e6) {
  MemoryHierarchy memory;
  memory.points = {{1 << 20, 1.5, 20, 1.6, 21}, {64 << 20, 4, 170.25, 4.5, 180}};
  memory.levels = {{1e6, 0.7, 4.5}, {last_bytes, 2.1, 41}, {std::nullopt, 4, 170}};
  memory.own = MemoryRamp{6e5, 4e6};
  memory.last = Eviction{{11e6, 32e6}, MemoryRamp{64e6, 90e6}, {12e6, 80e6}, std::nullopt};
  memory.scrub_bytes = 136 << 20;
  return memory;
}

TEST_F(MemoryText, ComesBack) {
  for (const MemoryHierarchy& memory : {sample_memory(), MemoryHierarchy()}) {
    const auto back = decode_memory(encode(memory));
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(*back, memory);
  }
}

TEST_F(MemoryText, WaitsComeBackAndAreKeptFromEveryCampaign) {
  MemoryHierarchy memory = sample_memory();
  EXPECT_EQ(encode(memory).find("waits"), std::string::npos) << "as an earlier oplat wrote it";
  memory.waits = {{5 << 20, 0, 17.5}, {5 << 20, 32e6, 130}};
  const auto back = decode_memory(encode(memory));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(*back, memory);
  MemoryHierarchy later = sample_memory();
  later.waits = {{4 << 20, 0, 17}, {4 << 20, 1e6, 60}};
  const MemoryHierarchy both = together(memory, later);
  ASSERT_EQ(both.waits.size(), 4U);
  EXPECT_EQ(both.waits[1], memory.waits[1]);
  EXPECT_EQ(both.waits[2], later.waits[0]);
  EXPECT_EQ(together(memory, sample_memory()).waits, memory.waits);
  // Of many campaigns the last ones count, and a table holds as many as can be read.
  MemoryHierarchy all = memory;
  for (int i = 0; i < 100; ++i) all = together(all, later);
  ASSERT_EQ(all.waits.size(), 64U);
  EXPECT_EQ(all.waits.front(), later.waits[0]);
  EXPECT_TRUE(decode_memory(encode(all)));
  all.waits.push_back(later.waits[0]);
  EXPECT_FALSE(decode_memory(encode(all)));
}

TEST_F(MemoryText, WhatIsNoneIsRefused) {
  MemoryHierarchy memory = sample_memory();
  memory.waits = {{5 << 20, 0, 17.5}, {5 << 20, 32e6, 130}};
  const std::string good = encode(memory);
  const auto damaged = [&](const std::string& what, const std::string& by) {
    std::string text = good;
    const std::size_t at = text.find(what);
    EXPECT_NE(at, std::string::npos) << what;
    text.replace(at, what.size(), by);
    const auto decoded = decode_memory(text);
    return decoded ? std::string("read") : decoded.error().message;
  };
  EXPECT_FALSE(decode_memory(""));
  EXPECT_FALSE(decode_memory("[]"));
  EXPECT_THAT(damaged("memory/1", "memory/9"), HasSubstr("known format"));
  EXPECT_THAT(damaged("\"chase_ns\":4.5", "\"chase_ns\":-4.5"), HasSubstr("chase_ns"));
  EXPECT_THAT(damaged("170.25", "\"x\""), HasSubstr("points"));
  EXPECT_THAT(damaged("[12000000.0,80000000.0]", "[80000000.0,12000000.0]"), HasSubstr("middle"));
  EXPECT_THAT(damaged("[11000000.0,32000000.0]", "null"), HasSubstr("last"));
  EXPECT_THAT(damaged("\"usable_bytes\":null", "\"usable_bytes\":5"), HasSubstr("levels"));
  EXPECT_THAT(damaged("\"levels\"", "\"leveled\""), HasSubstr("levels"));
  EXPECT_THAT(damaged("[5242880,0.0,17.5]", "[5242880,0.0,0]"), HasSubstr("waits"));
  EXPECT_THAT(damaged("[5242880,0.0,17.5]", "[5242880,-1,17.5]"), HasSubstr("waits"));
  EXPECT_THAT(damaged("[5242880,0.0,17.5]", "[5242880,0.0]"), HasSubstr("lists of 3"));
  EXPECT_THAT(damaged("[5242880,0.0,17.5]", "\"x\""), HasSubstr("lists of 3"));
}

TEST_F(MemoryText, CampaignsSayWhatWasMeasuredAndWhatStatesAreMadeFrom) {
  Table table = must_open(file(), Mode::Create);
  const DeviceId device = must(table.put_device(sample_device()));
  const SettingId one = must(table.put_setting(sample_setting()));
  Setting threads = sample_setting();
  threads.threads += 1;
  const SettingId two = must(table.put_setting(threads));
  EXPECT_FALSE(must(find_memory(table, device)));
  EXPECT_FALSE(must(sizes_of_states(table, device, one)).begun);
  const auto campaign = [&](SettingId setting, const std::map<std::string, std::string>& facts) {
    Environment environment;
    environment.facts = facts;
    must(table.add_campaign(device, setting, {}, environment));
  };
  // Whole models alone: rows of kernels are still free.
  campaign(one, {});
  EXPECT_FALSE(must(sizes_of_states(table, device, one)).begun);
  campaign(one, {{kStatesFact, std::string(kReportedSizes)}});
  campaign(one, {{kMemoryFact, encode(sample_memory(15e6))},
                 {kStatesFact, encode(sample_memory(15e6))}});
  EXPECT_TRUE(must(sizes_of_states(table, device, one)).begun);
  EXPECT_FALSE(must(sizes_of_states(table, device, one)).memory) << "begun by reported sizes";
  EXPECT_EQ(must(find_memory(table, device)), sample_memory(15e6));
  // The first campaign of the other setting goes by it, and measures again at its end.
  campaign(two, {{kStatesFact, encode(sample_memory(15e6))},
                 {kMemoryAfterFact, encode(sample_memory(20e6))}});
  campaign(two, {{kStatesFact, std::string(kReportedSizes)},
                 {kMemoryFact, "{\"of\": \"a later version\"}"}});
  EXPECT_EQ(must(sizes_of_states(table, device, two)).memory, sample_memory(15e6));
  EXPECT_EQ(must(find_memory(table, device)), together(sample_memory(15e6), sample_memory(20e6)));
}

TEST_F(MemoryText, RowsOfAnEarlierOplatWereBegunByReportedSizes) {
  Table table = must_open(file(), Mode::Create);
  const DeviceId device = must(table.put_device(sample_device()));
  const SettingId setting = must(table.put_setting(sample_setting()));
  const CampaignId campaign = must(table.add_campaign(device, setting, {}, {}));
  must(table.put_row(device, setting, campaign, sample_row(kRelu, 1000)));
  const StateSizes sizes = must(sizes_of_states(table, device, setting));
  EXPECT_TRUE(sizes.begun);
  EXPECT_FALSE(sizes.memory);
}

TEST_F(MemoryText, ACurveThatMovedIsInDoubtAsFar) {
  MemoryHierarchy quiet = sample_memory();
  quiet.last = Eviction{{16e6, 64e6}, std::nullopt, {16e6, 64e6}, std::nullopt};
  MemoryHierarchy busy = sample_memory();
  busy.last = Eviction{{4e6, 16e6}, MemoryRamp{6e6, 24e6}, {5e6, 20e6}, MemoryRamp{3e6, 12e6}};
  for (const MemoryHierarchy& both : {together(quiet, busy), together(busy, quiet)}) {
    ASSERT_TRUE(both.last && both.last->stream);
    EXPECT_NEAR(both.last->middle.lo_bytes, std::sqrt(16e6 * 5e6), 1);
    EXPECT_NEAR(both.last->middle.hi_bytes, std::sqrt(64e6 * 20e6), 1);
    EXPECT_EQ(both.last->chase, (MemoryRamp{4e6, 16e6}));
    EXPECT_EQ(both.last->stream, (MemoryRamp{16e6, 64e6}));
    EXPECT_EQ(both.last->disturbed, (MemoryRamp{3e6, 12e6}));
  }
  // Loads that notice it later than reads in order are not lost.
  MemoryHierarchy late = busy;
  late.last->chase = {20e6, 80e6};
  EXPECT_EQ(together(late, busy).last->stream, (MemoryRamp{20e6, 80e6}));
  MemoryHierarchy flat;
  flat.levels = {{std::nullopt, 1, 5}};
  EXPECT_EQ(together(quiet, flat), quiet);
  EXPECT_EQ(together(flat, quiet), quiet);
  // One that did not move is what it was.
  EXPECT_EQ(together(quiet, quiet).last->middle, quiet.last->middle);
}

}  // namespace
}  // namespace oplat::table
