// SPDX-License-Identifier: Apache-2.0
/// Choosing rows, measuring them again on a simulated machine, and what surrounds it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "measure/verify.hpp"
#include "unit/measure/campaign_fixture.hpp"

namespace oplat::measure {
namespace {

using ::testing::ElementsAre;

table::Device desk() {
  table::Device device;
  device.name = "desk";
  device.cpu = "CPU 9";
  device.architecture = "x86_64";
  device.cores = 8;
  device.memory_bytes = std::int64_t{16} << 30;
  device.l1d_bytes = 32 << 10;
  device.l2_bytes = 1 << 20;
  device.llc_bytes = 32 << 20;
  device.isa = "avx avx2";
  return device;
}

TEST(DeviceFacts, EqualOnesAndUnknownOnesDoNotDiffer) {
  EXPECT_TRUE(differing_facts(desk(), desk()).empty());
  EXPECT_TRUE(differing_facts(desk(), table::Device{}).empty());
  table::Device renamed = desk();
  renamed.name = "other";
  EXPECT_TRUE(differing_facts(desk(), renamed).empty());
}

TEST(DeviceFacts, EachThatDiffersIsNamedWithBothValues) {
  table::Device other = desk();
  other.cores = 4;
  other.llc_bytes = 16 << 20;
  other.isa = "avx";
  EXPECT_THAT(differing_facts(desk(), other),
              ElementsAre(FactDifference{"isa", "avx avx2", "avx", true},
                          FactDifference{"llc", "32.0 MiB", "16.0 MiB", true},
                          FactDifference{"cores", "8", "4", false}));
  other = desk();
  other.cpu = "CPU 10";
  other.architecture = "aarch64";
  other.l1d_bytes *= 2;
  other.l2_bytes *= 2;
  EXPECT_EQ(differing_facts(desk(), other).size(), 4U);
}

TEST(DeviceFacts, MemoryMayDifferByFivePerCent) {
  table::Device other = desk();
  other.memory_bytes = desk().memory_bytes / 100 * 96;
  EXPECT_TRUE(differing_facts(desk(), other).empty());
  EXPECT_TRUE(differing_facts(other, desk()).empty());
  other.memory_bytes = desk().memory_bytes / 100 * 94;
  EXPECT_THAT(differing_facts(desk(), other),
              ElementsAre(FactDifference{"memory", "16.0 GiB", "15.0 GiB", false}));
}

/// A simulated machine whose table is filled, to be verified against a scratch table.
struct VerifyBench : Bench {
  explicit VerifyBench(int relus = 6, int denses = 3) : Bench(relus, denses) {
    world.block_noise = 0.01;
    run();
    auto opened = table::Table::open(folder.path() / "scratch.oplat", table::Mode::Create);
    EXPECT_TRUE(opened.has_value());
    scratch = std::make_unique<table::Table>(std::move(*opened));
    world.blocks.clear();
    world.blocks_of.clear();
    world.seed = 2;
    again.campaign = request;
    again.here = request.device;
  }
  std::vector<VerifyRow> choose(std::size_t most, std::uint64_t seed = 1) const {
    auto rows =
        choose_rows(*table, 1, std::vector<table::SettingId>{1}, most, seed, ir::Catalogue::own());
    EXPECT_TRUE(rows.has_value());
    return *rows;
  }
  Verification check(const std::vector<VerifyRow>& rows) {
    auto result = verify(again, rows, *scratch, factory, progress);
    EXPECT_TRUE(result.has_value()) << (result ? "" : result.error().message);
    EXPECT_EQ(world.open_handles, 0);
    return result ? *result : Verification{};
  }
  std::unique_ptr<table::Table> scratch;
  VerifyRequest again;
};

std::set<std::string> names(const std::vector<VerifyRow>& rows) {
  std::set<std::string> all;
  for (const VerifyRow& row : rows) all.insert(row.state + " " + row.key);
  return all;
}

TEST(ChooseRows, SpreadsOverOperatorsDecadesAndStates) {
  const VerifyBench bench(30, 3);  // 30 Relu of two decades, three MatMul in several states
  const auto rows = bench.choose(6);
  ASSERT_EQ(rows.size(), 6U);
  std::map<std::string, int> ops, states;
  for (const auto& row : rows) {
    ++ops[row.op];
    ++states[row.state];
  }
  EXPECT_GE(ops["MatMul"], 2);
  EXPECT_GE(ops["Relu"], 2);
  EXPECT_GE(states["hot"], 2);
  EXPECT_GE(states["cold"], 1);
}

TEST(ChooseRows, SeedDecidesAndNoRowComesTwice) {
  const VerifyBench bench(30, 3);
  EXPECT_EQ(names(bench.choose(8, 5)), names(bench.choose(8, 5)));
  EXPECT_NE(names(bench.choose(8, 5)), names(bench.choose(8, 6)));
  const auto all = bench.choose(1000);
  EXPECT_EQ(names(all).size(), all.size());
  EXPECT_EQ(all.size(), bench.rows().size());
}

TEST(ChooseRows, ImportedFailedAndStatelessRowsAreLeftOut) {
  VerifyBench bench(2, 0);
  table::Row foreign{relu_key(7),
                     100.0,
                     "elsewhere",
                     table::Timing{1e3, 0.01, 1e3, 1e3, 0.95, 1e3, 1e3, 1e3, 5, 5},
                     {}};
  table::Row failed{relu_key(8), 100.0, "own", table::Failed{"no"}, {}};
  table::Row stateless{relu_key(9), std::nullopt, "own", foreign.outcome, {}};
  for (const auto& row : {foreign, failed, stateless})
    ASSERT_TRUE(bench.table->put_row(1, 1, std::nullopt, row).has_value());
  EXPECT_EQ(names(bench.choose(100)),
            (std::set<std::string>{"hot " + relu_key(0), "hot " + relu_key(1)}));
}

TEST(ChooseRows, LongKernelsComeLast) {
  VerifyBench bench(3, 0);
  const double bytes = 2 * 4 * 109;
  const table::Row slow{
      relu_key(9), bytes, "own", table::Timing{2e8, 0.01, 2e8, 2e8, 0.95, 2e8, 2e8, 2e8, 5, 5}, {}};
  ASSERT_TRUE(bench.table->put_row(1, 1, std::nullopt, slow).has_value());
  EXPECT_EQ(names(bench.choose(3)).count("hot " + relu_key(9)), 0U);
  EXPECT_EQ(names(bench.choose(4)).count("hot " + relu_key(9)), 1U);
}

TEST(Verify, AnUnchangedMachineIsTheSame) {
  VerifyBench bench;
  const auto rows = bench.choose(8);
  const Verification result = bench.check(rows);
  EXPECT_EQ(result.judgement.verdict, TableVerdict::Same);
  EXPECT_EQ(result.judgement.compared, 8);
  EXPECT_NEAR(*result.judgement.ratio, 1.0, 0.02);
  EXPECT_GE(result.blocks, 40);
  for (const auto& check : result.rows)
    EXPECT_GE(std::get<table::Timing>(*check.after).processes, 5);
}

TEST(Verify, MeasuresTheChosenStatesAlone) {
  VerifyBench bench(5, 3);
  std::vector<VerifyRow> rows;
  for (const auto& row : bench.choose(100)) {
    if (row.key == dense_key(1) ? row.state == "cold" : row.state == "hot") rows.push_back(row);
  }
  const Verification result = bench.check(rows);
  EXPECT_EQ(result.judgement.compared, static_cast<std::int64_t>(rows.size()));
  for (const auto& block : bench.row_blocks()) {
    EXPECT_EQ(block.scrub_bytes > 0, block.key == dense_key(1)) << block.key;
  }
}

TEST(Verify, AMachineThatSlowedDownIsSlower) {
  VerifyBench bench;
  const auto rows = bench.choose(8);
  for (auto& [key, kernel] : bench.world.kernels) {
    kernel.hot_ns *= 1.2;
    kernel.cold_ns *= 1.2;
  }
  const Verification result = bench.check(rows);
  EXPECT_EQ(result.judgement.verdict, TableVerdict::Slower);
  EXPECT_NEAR(*result.judgement.ratio, 1.2, 0.03);
}

TEST(Verify, FailuresAndWhatTheBudgetLeftAreTold) {
  VerifyBench bench;
  const auto rows = bench.choose(8);
  bench.world.kernels[rows[0].key].unsupported = "not any more";
  Verification result = bench.check(rows);
  EXPECT_GE(result.judgement.refused, 1);
  EXPECT_EQ(result.judgement.verdict, TableVerdict::Unclear);
  EXPECT_EQ(std::get<table::Unsupported>(*result.rows[0].after).reason, "not any more");
  EXPECT_FALSE(result.rows[0].comparison);
}

TEST(Verify, ABudgetThatEndsEarlyLeavesRowsUnmeasured) {
  VerifyBench bench;
  const auto rows = bench.choose(8);
  bench.again.campaign.budget_seconds = 0.8;  // a few blocks
  const Verification result = bench.check(rows);
  EXPECT_TRUE(result.budget_ended);
  EXPECT_GE(result.judgement.left, 1);
  EXPECT_LT(result.judgement.compared, 8);
  for (const auto& check : result.rows)
    EXPECT_EQ(check.after.has_value(), check.comparison.has_value());
}

TEST(Verify, AnInterruptionIsTold) {
  VerifyBench bench;
  bench.again.campaign.stop_asked = [] { return true; };
  EXPECT_TRUE(bench.check(bench.choose(8)).interrupted);
}

TEST(Verify, TheFirstBaselineOfTheReferencesIsTheRecordedOne) {
  const VerifyBench bench(2, 0);
  const auto campaigns = bench.table->campaigns();
  const auto recorded = recorded_references(*bench.table, 1, std::vector<table::SettingId>{1});
  ASSERT_TRUE(recorded.has_value());
  EXPECT_EQ(recorded->compute_ns, campaigns->front().campaign.reference_compute_ns);
  EXPECT_FALSE(recorded_references(*bench.table, 2, std::vector<table::SettingId>{1})->compute_ns);
}

}  // namespace
}  // namespace oplat::measure
