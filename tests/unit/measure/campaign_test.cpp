// SPDX-License-Identifier: Apache-2.0
#include "measure/campaign.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "measure/priority.hpp"
#include "unit/measure/campaign_fixture.hpp"

namespace oplat::measure {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(Campaign, MeasuresEveryRowToItsTarget) {
  Bench bench;
  bench.world.block_noise = 0.01;
  const Summary summary = bench.run();
  EXPECT_EQ(summary.kernels.total, 12);
  EXPECT_EQ(summary.kernels.precise, 12);
  EXPECT_EQ(summary.kernels.left, 0);
  EXPECT_GE(summary.passes, 5);
  EXPECT_FALSE(summary.budget_ended);
  EXPECT_TRUE(summary.campaign.has_value());

  const auto rows = bench.rows();
  ASSERT_EQ(rows.size(), 12U);
  for (const auto& [name, row] : rows) {
    const auto& truth = bench.world.kernels.at(name.first);
    const double ns = name.second ? truth.cold_ns : truth.hot_ns;
    EXPECT_NEAR(timing(row).median_ns, ns, 0.03 * ns) << name.first;
    EXPECT_GE(timing(row).blocks, 5);
    EXPECT_EQ(timing(row).processes, timing(row).blocks) << "every pass has processes of its own";
    EXPECT_THAT(row.row.method.flags, IsEmpty());
    const auto blocks = bench.table->blocks_of(row.id);
    ASSERT_TRUE(blocks.has_value());
    EXPECT_EQ(static_cast<std::int64_t>(blocks->size()), timing(row).blocks);
    for (std::size_t i = 0; i < blocks->size(); ++i)
      EXPECT_EQ((*blocks)[i].pass, static_cast<std::int64_t>(i) + 1);
  }
}

TEST(Campaign, StoresReuseBytesCopiesAndTopology) {
  Bench bench;
  bench.run();
  const auto rows = bench.rows();
  // 1 * 512 operands, 512 * 512 weights, 512 results of four bytes.
  const auto& hot = rows.at({dense_key(1), false});
  EXPECT_EQ(hot.row.reuse_bytes, 4.0 * (512 + 512 * 512 + 512));
  EXPECT_EQ(hot.row.method.topology, "chain");
  EXPECT_GE(hot.row.method.copies, 4);
  EXPECT_LE(rows.at({dense_key(1), true}).row.method.copies, 8);
  EXPECT_FALSE(rows.contains({relu_key(0), true})) << "no weights, no cold row";
}

TEST(Campaign, MeasuresColdOnlyWhereItMatters) {
  Bench bench(0, 1);
  bench.world.kernels.at(dense_key(1)).hot_ns = 6e6;  // 1 MiB at 10 GB/s is 1.7 % of that
  bench.run();
  EXPECT_EQ(bench.rows().size(), 1U);
}

TEST(Campaign, TimesTheEmptyCallAndKeepsTheFirstBaseline) {
  Bench bench;
  bench.run();
  bench.request.keys.push_back(relu_key(50));
  bench.world.kernels[relu_key(50)].hot_ns = 5e3;
  bench.run();
  const auto campaigns = bench.table->campaigns();
  ASSERT_TRUE(campaigns.has_value());
  ASSERT_EQ(campaigns->size(), 2U);
  EXPECT_NEAR(*campaigns->front().campaign.empty_call_ns, 1000, 1e-6);
  EXPECT_EQ(campaigns->front().campaign.reference_compute_ns, 50e3);
  EXPECT_EQ(campaigns->back().campaign.reference_memory_ns, 300e3);
  EXPECT_EQ(campaigns->front().campaign.seed, 7U);
  EXPECT_FALSE(campaigns->front().environment.facts.empty());
}

TEST(Campaign, MeasuresWholeModelsInProcessesOfTheirOwn) {
  Bench bench(3, 0);
  const ModelTarget model = bench.add_model();
  const Summary summary = bench.run();
  EXPECT_EQ(summary.models.precise, 1);
  const auto models = bench.table->model_rows();
  ASSERT_TRUE(models.has_value());
  ASSERT_EQ(models->size(), 1U);
  const auto& measured = std::get<table::Timing>(models->front().row.outcome);
  EXPECT_NEAR(measured.median_ns, 3e6 + 1000, 1);
  EXPECT_EQ(measured.blocks, 5);
  EXPECT_EQ(measured.processes, 5);
  std::set<std::int64_t> model_processes;
  std::set<std::int64_t> kernel_processes;
  for (const auto& block : bench.row_blocks()) {
    (block.key == model.path ? model_processes : kernel_processes).insert(block.process);
  }
  EXPECT_EQ(model_processes.size(), 5U);
  for (std::int64_t process : model_processes) EXPECT_FALSE(kernel_processes.contains(process));
  EXPECT_FALSE(bench.run().campaign.has_value()) << "model rows are resumed too";
}

TEST(Campaign, InferencesOfAnOlderTableAreMeasuredInFullThoughItIsStoppedOnTheWay) {
  Bench bench(0, 0);
  const ModelTarget model = bench.add_model();
  const auto blocks = [&] {
    std::pair<int, int> all_and_with_inferences{0, 0};
    const auto models = bench.table->model_rows();
    if (!models || models->size() != 1) return all_and_with_inferences;
    const auto stored = bench.table->blocks_of_model(models->front().id);
    EXPECT_TRUE(stored.has_value());
    for (const table::Block& block : *stored) {
      ++all_and_with_inferences.first;
      if (block.inferences) ++all_and_with_inferences.second;
    }
    return all_and_with_inferences;
  };
  bench.world.virtual_time = true;  // its blocks are as those of schema 3
  bench.run();
  EXPECT_EQ(blocks(), std::pair(5, 0));
  bench.world.virtual_time = false;
  bench.request.need_inferences = true;
  bench.stop_after = 6;
  EXPECT_TRUE(bench.run().interrupted);
  EXPECT_EQ(blocks(), std::pair(6, 1));
  bench.stop_after.reset();
  EXPECT_FALSE(bench.run().interrupted);
  EXPECT_EQ(blocks(), std::pair(10, 5)) << "one block with inferences is not enough";
  EXPECT_FALSE(bench.run().campaign.has_value()) << "five are";
}

TEST(Campaign, AWholeModelHasItsRowThoughTheBudgetEndsEarly) {
  Bench bench(20, 4);
  const ModelTarget model = bench.add_model();
  bench.request.budget_seconds = 15;
  const Summary summary = bench.run();
  EXPECT_TRUE(summary.budget_ended);
  EXPECT_LT(summary.passes, 5) << "the kernels' passes would not have sufficed";
  const auto models = bench.table->model_rows();
  ASSERT_TRUE(models.has_value());
  ASSERT_EQ(models->size(), 1U);
  EXPECT_EQ(std::get<table::Timing>(models->front().row.outcome).blocks, 5);
  EXPECT_LT(summary.seconds, 17) << "at most one block over";
}

TEST(Campaign, ABudgetIsSharedByTheWholeModels) {
  Bench bench(20, 4);
  for (int i = 0; i < 6; ++i) {
    ModelTarget model;
    model.path = fmt::format("/models/net{}.onnx", i);
    model.name = fmt::format("net{}.onnx", i);
    model.plan_identity = fmt::format("{:032}", i);
    bench.world.kernels[model.path].hot_ns = 3e6;
    bench.request.models.push_back(model);
  }
  bench.request.budget_seconds = 15;
  const Summary summary = bench.run();
  EXPECT_TRUE(summary.budget_ended);
  std::map<std::string, int> blocks;
  for (const auto& block : bench.row_blocks()) {
    if (block.key.starts_with("/models/")) ++blocks[block.key];
  }
  ASSERT_EQ(blocks.size(), 6U) << "every model has a time";
  const auto [least, most] =
      std::minmax_element(blocks.begin(), blocks.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; });
  EXPECT_LE(most->second - least->second, 2);
}

TEST(Campaign, AShortBudgetGoesToTheRowsThatMakeTheModelUnsure) {
  // Blocks scatter by 20 %, so that no row is precise soon; of the model's time the largest kernel
  // is nearly all.
  Bench bench(30, 0);
  bench.world.block_noise = 0.2;
  ModelTarget& model = bench.add_model();
  for (int i = 0; i < 30; ++i) model.calls[relu_key(i)] = i == 29 ? 1000 : 1;
  bench.request.budget_seconds = 25;
  const Summary summary = bench.run();
  EXPECT_TRUE(summary.budget_ended);
  std::map<std::string, int> blocks;
  for (const auto& block : bench.row_blocks()) ++blocks[block.key];
  for (int i = 0; i < 30; ++i) EXPECT_GE(blocks[relu_key(i)], 1) << "each has a time";
  EXPECT_GE(blocks[relu_key(29)], 20);
  EXPECT_LE(blocks[relu_key(0)], 8);
}

TEST(Priority, WhatFitsGoesFirstByVarianceForASecond) {
  std::vector<CampaignRow> rows(4);
  const std::vector<double> times = {1e6, 1e5, 1e3, 1e6};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].name = fmt::format("k{}", i);
    table::Timing timing;
    timing.median_ns = times[i];
    timing.ci_low_ns = 0.95 * times[i];
    timing.ci_high_ns = 1.05 * times[i];
    rows[i].stored = timing;
    rows[i].blocks.resize(1);
    rows[i].expected_blocks = 11;  // ten more, of 1 s each
    rows[i].cost_seconds = 1;
    rows[i].cost_blocks = 1;
  }
  ModelTarget model;
  // The last one belongs to no model.
  model.calls = {{"k0", 1}, {"k1", 1}, {"k2", 1}};
  const std::vector<ModelTarget> models = {model};
  const Priority priority(models);
  const Forecast forecast(5);
  const auto waiting = [&](double seconds) {
    priority.sort_out(rows, forecast, seconds);
    std::vector<bool> found;
    for (const CampaignRow& row : rows) found.push_back(row.can_wait);
    return found;
  };
  EXPECT_EQ(waiting(1000), std::vector<bool>({false, false, false, false}));
  EXPECT_EQ(waiting(25), std::vector<bool>({false, false, true, true}));
  EXPECT_EQ(waiting(1), std::vector<bool>({false, true, true, true})) << "one at least";
  rows[0].finished = true;
  EXPECT_EQ(waiting(15), std::vector<bool>({false, false, true, true}));
  rows[2].blocks.clear();
  EXPECT_EQ(waiting(15), std::vector<bool>({false, false, false, false}))
      << "each row gets a block before any gets more";
  // Networks that are not measured count as models do.
  const std::vector<std::map<std::string, double>> networks = {model.calls};
  const Priority by_networks({}, networks);
  rows[2].blocks.resize(1);
  by_networks.sort_out(rows, forecast, 15);
  EXPECT_FALSE(rows[1].can_wait);
  EXPECT_TRUE(rows[2].can_wait);
  rows[2].blocks.clear();
  const Priority without({});
  rows[2].blocks.resize(1);
  without.sort_out(rows, forecast, 1);
  EXPECT_FALSE(rows[1].can_wait);
}

TEST(Campaign, StartsAFreshProcessAfterSoManyKeys) {
  Bench bench(10, 0);
  bench.request.keys_per_process = 4;
  bench.run();
  std::map<std::int64_t, int> uses;
  for (const auto& block : bench.row_blocks()) ++uses[block.process];
  EXPECT_EQ(uses.size(), 15U) << "three processes in each of five passes";
  for (const auto& [process, count] : uses) EXPECT_LE(count, 4);
}

TEST(Campaign, OrderIsRandomPerPassAndTheSameForOneSeed) {
  const auto order_of = [](std::uint64_t seed) {
    Bench bench(12, 0);
    bench.request.seed = seed;
    bench.run();
    std::vector<std::string> keys;
    for (const auto& block : bench.row_blocks()) keys.push_back(block.key);
    return keys;
  };
  const auto first = order_of(1);
  ASSERT_EQ(first.size(), 60U);
  EXPECT_EQ(first, order_of(1));
  EXPECT_NE(first, order_of(2));
  const std::vector<std::string> pass1(first.begin(), first.begin() + 12);
  const std::vector<std::string> pass2(first.begin() + 12, first.begin() + 24);
  EXPECT_NE(pass1, pass2);
  EXPECT_TRUE(std::is_permutation(pass1.begin(), pass1.end(), pass2.begin()));
}

TEST(Campaign, NoRowGetsItsNextBlockBeforeAllHaveTheLast) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    Bench bench;
    bench.request.seed = seed;
    bench.world.seed = seed;
    bench.world.block_noise = 0.03;
    bench.world.kernels[relu_key(1)].crashes = 1;
    bench.run();
    std::map<RowName, std::vector<std::size_t>> times;
    const auto blocks = bench.row_blocks();
    for (std::size_t t = 0; t < blocks.size(); ++t)
      times[{blocks[t].key, blocks[t].scrub_bytes > 0}].push_back(t);
    for (const auto& [a, times_a] : times) {
      for (const auto& [b, times_b] : times) {
        for (std::size_t n = 0; n < times_a.size() && n + 1 < times_b.size(); ++n) {
          EXPECT_LT(times_a[n], times_b[n + 1]) << a.first << " " << b.first << " block " << n;
        }
      }
    }
  }
}

TEST(Campaign, ResumedEndsWithTheRowsOfAnUninterruptedOne) {
  const auto prepare = [](Bench& bench) {
    bench.world.block_noise = 0.03;
    bench.world.kernels[relu_key(2)].unsupported = "not here";
  };
  Bench whole;
  prepare(whole);
  EXPECT_FALSE(whole.run().interrupted);
  const auto expected = whole.rows();
  ASSERT_GT(whole.rows_blocks(), 60U);
  for (std::size_t stop : {1U, 12U, 30U, 58U}) {
    Bench parts;
    prepare(parts);
    parts.stop_after = stop;
    const Summary cut = parts.run();
    EXPECT_TRUE(cut.interrupted);
    EXPECT_EQ(parts.rows_blocks(), stop) << "stops after the block at hand";
    parts.stop_after.reset();
    EXPECT_FALSE(parts.run().interrupted);
    const auto rows = parts.rows();
    ASSERT_EQ(rows.size(), expected.size());
    for (const auto& [name, row] : expected) {
      EXPECT_EQ(rows.at(name).row.outcome, row.row.outcome) << name.first << " stopped at " << stop;
      EXPECT_EQ(rows.at(name).row.method, row.row.method) << name.first;
    }
    EXPECT_EQ(parts.rows_blocks(), whole.rows_blocks()) << "nothing was measured twice";
  }
}

TEST(Campaign, LeavesFinishedRowsAlone) {
  Bench bench;
  bench.run();
  const std::size_t blocks = bench.rows_blocks();
  const std::int64_t processes = bench.world.processes;
  const Summary again = bench.run();
  EXPECT_EQ(bench.rows_blocks(), blocks);
  EXPECT_EQ(bench.world.processes, processes);
  EXPECT_FALSE(again.campaign.has_value());
  EXPECT_EQ(again.kernels.precise, 12);
}

// The simulated runner chains whatever it is given, as oplat did with squares before docs/adr/0099.
TEST(Campaign, RowsOfAChainThatIsAnotherKernelAreMeasuredAfresh) {
  Bench bench(1, 1);
  const std::string square = "Pow/15{}(f32[64],f32c[]=2.0)->(f32[64])";
  bench.world.kernels[square].hot_ns = 9e3;
  bench.request.keys.push_back(square);
  bench.request.setting.runtime = "onnxruntime";
  bench.run();
  const auto blocks_of = [&](const std::string& key) {
    return *bench.table->blocks_of(bench.rows().at({key, false}).id);
  };
  const std::size_t first = blocks_of(square).size();
  const std::size_t others = blocks_of(relu_key(0)).size() + blocks_of(dense_key(1)).size();
  bench.world.kernels[square].hot_ns = 6e3;
  const std::size_t before = bench.rows_blocks();
  bench.run();
  EXPECT_EQ(blocks_of(square).size(), bench.rows_blocks() - before) << "none of the first ones";
  EXPECT_LT(blocks_of(square).size(), 2 * first);
  EXPECT_NEAR(timing(bench.rows().at({square, false})).median_ns, 6e3, 300);
  EXPECT_EQ(blocks_of(relu_key(0)).size() + blocks_of(dense_key(1)).size(), others);
  // One that cannot be measured any more has no time of before, either.
  bench.world.kernels[square].unsupported = "gone";
  bench.run();
  EXPECT_TRUE(blocks_of(square).empty());
}

TEST(Campaign, CountsAsPreciseWhatThisCampaignAsksFor) {
  Bench bench;
  bench.request.stop.min_blocks = 20;
  bench.stop_after = 12 * 6;
  EXPECT_EQ(bench.run().kernels.precise, 0);
  bench.stop_after.reset();
  bench.request.stop.min_blocks = 5;
  const Summary again = bench.run();
  EXPECT_EQ(again.blocks, 0);
  EXPECT_EQ(again.kernels.precise, 12) << "the flag of the campaign before is not this one's";
}

TEST(Campaign, ABaselineIsOfMoreThanAReadingOrTwo) {
  Bench bench;
  bench.stop_after = 1;
  EXPECT_TRUE(bench.run().interrupted);
  bench.stop_after.reset();
  EXPECT_FALSE(bench.run().interrupted);
  const auto campaigns = bench.table->campaigns();
  ASSERT_TRUE(campaigns.has_value());
  ASSERT_EQ(campaigns->size(), 2U);
  EXPECT_EQ(campaigns->front().campaign.reference_compute_ns, std::nullopt);
  EXPECT_EQ(campaigns->back().campaign.reference_compute_ns, 50e3);
}

TEST(Campaign, SurvivesCrashesAndHangsAndKeepsEverything) {
  Bench bench;
  auto& kernels = bench.world.kernels;
  kernels[relu_key(0)].crashes = 1;  // works in a fresh process
  kernels[relu_key(1)].crashes = 2;  // fails for good on its third block
  kernels[relu_key(1)].crash_from_block = 2;
  kernels[relu_key(2)].hangs = true;
  kernels[relu_key(3)].unsupported = "no kernel";
  kernels[relu_key(4)].skipped_above_copies = 0;
  kernels[dense_key(1)].crashes = 2;  // fails at once: no cold row either
  const Summary summary = bench.run();

  const auto rows = bench.rows();
  EXPECT_EQ(timing(rows.at({relu_key(0), false})).blocks, 5);
  const auto& later = rows.at({relu_key(1), false});
  EXPECT_EQ(timing(later).blocks, 2);
  EXPECT_THAT(later.row.method.flags, Contains("failed_later"));
  EXPECT_EQ(std::get<table::Failed>(rows.at({relu_key(2), false}).row.outcome).reason,
            "time limit");
  EXPECT_EQ(std::get<table::Unsupported>(rows.at({relu_key(3), false}).row.outcome).reason,
            "no kernel");
  EXPECT_TRUE(std::holds_alternative<table::Skipped>(rows.at({relu_key(4), false}).row.outcome));
  EXPECT_EQ(std::get<table::Failed>(rows.at({dense_key(1), false}).row.outcome).reason,
            "worker ended: signal 11");
  EXPECT_FALSE(rows.contains({dense_key(1), true}));
  for (const RowName& name :
       {RowName{relu_key(5), false}, RowName{dense_key(2), false}, RowName{dense_key(3), true}}) {
    EXPECT_EQ(timing(rows.at(name)).blocks, 5) << name.first;
  }
  EXPECT_EQ(summary.kernels.failed, 2);
  EXPECT_EQ(summary.kernels.unsupported, 1);
  EXPECT_EQ(summary.kernels.skipped, 1);
  EXPECT_EQ(summary.kernels.few, 1);
  EXPECT_EQ(summary.refusals.size(), 4U);

  const std::size_t blocks = bench.rows_blocks();
  bench.run();
  EXPECT_EQ(bench.rows_blocks(), blocks) << "refused rows are not tried again";
  kernels[relu_key(2)].hangs = false;
  bench.request.retry_refused = true;
  bench.run();
  EXPECT_EQ(timing(bench.rows().at({relu_key(2), false})).blocks, 5);
  EXPECT_EQ(timing(bench.rows().at({relu_key(1), false})).blocks, 5);
  EXPECT_THAT(bench.rows().at({relu_key(1), false}).row.method.flags, IsEmpty());
}

TEST(Campaign, DoesNotBlameAKernelForCtrlC) {
  Bench bench(3, 0);
  bool stop = false;
  bench.request.stop_asked = [&] { return stop; };
  bench.world.before_block = [&] {
    if (bench.rows_blocks() != 4) return;
    stop = true;  // the signal also ends the worker
    for (auto& [name, kernel] : bench.world.kernels) kernel.crashes = 1;
  };
  const Summary summary = bench.run();
  EXPECT_TRUE(summary.interrupted);
  EXPECT_EQ(summary.kernels.failed, 0);
  EXPECT_EQ(summary.kernels.measured(), 3);
}

TEST(Campaign, BudgetLeavesACompleteTable) {
  Bench bench(20, 4);
  bench.world.block_noise = 0.02;
  bench.request.budget_seconds = 8;
  const Summary summary = bench.run();
  EXPECT_TRUE(summary.budget_ended);
  EXPECT_GE(summary.passes, 1);
  EXPECT_LT(summary.passes, 5);
  EXPECT_EQ(summary.kernels.left, 0);
  EXPECT_GT(summary.kernels.few, 0);
  EXPECT_GE(summary.seconds, 8);
  EXPECT_LT(summary.seconds, 10) << "at most one block over";
  std::int64_t fewest = 99;
  std::int64_t most = 0;
  for (const auto& [name, row] : bench.rows()) {
    fewest = std::min(fewest, timing(row).blocks);
    most = std::max(most, timing(row).blocks);
    EXPECT_LT(timing(row).ci_low_ns, timing(row).ci_high_ns);
    EXPECT_THAT(row.row.method.flags, Contains("ci_not_reached"));
  }
  EXPECT_GE(fewest, 1);
  EXPECT_LE(most - fewest, 1);
  for (const ProgressState& state : bench.progress.states) EXPECT_LE(*state.eta_seconds, 8);
}

bool any_under_load(const Bench& bench) {
  const auto rows = bench.rows();
  return std::any_of(rows.begin(), rows.end(), [](const auto& row) {
    const auto& flags = row.second.row.method.flags;
    return std::find(flags.begin(), flags.end(), table::kUnderLoad) != flags.end();
  });
}

TEST(Campaign, QuietBlocksClearRowsOfTheLoadUnderWhichTheyWereMeasured) {
  Bench bench(3, 0);
  bench.world.other_load = 0.5;
  bench.run();
  const std::size_t loaded = bench.rows_blocks();
  EXPECT_EQ(loaded, 15U);
  for (const auto& [name, row] : bench.rows())
    EXPECT_THAT(row.row.method.flags, Contains(table::kUnderLoad)) << name.first;
  // They are precise: without being asked nothing is measured again.
  bench.world.other_load.reset();
  bench.run();
  EXPECT_EQ(bench.rows_blocks(), loaded);
  EXPECT_TRUE(any_under_load(bench));
  bench.request.retry_loaded = true;
  bench.run();
  EXPECT_EQ(bench.rows_blocks(), 3 * loaded) << "a third of them loaded";
  EXPECT_FALSE(any_under_load(bench));
  bench.run();
  EXPECT_EQ(bench.rows_blocks(), 3 * loaded) << "rows that are cleared are left alone";
}

TEST(Campaign, RowsThatNeverHadTheirCoreAloneAreMeasuredAgainWhereAsked) {
  Bench bench(2, 0);
  bench.world.steal_per_block = 20;
  bench.run();
  const std::size_t shared = bench.rows_blocks();
  for (const auto& [name, row] : bench.rows())
    EXPECT_THAT(row.row.method.flags, Contains(table::kNeverQuiet)) << name.first;
  bench.world.steal_per_block = 0;
  bench.run();
  EXPECT_EQ(bench.rows_blocks(), shared) << "they are precise: nobody asked";
  bench.request.retry_loaded = true;
  bench.run();
  EXPECT_GE(bench.rows_blocks(), shared + 4);
  for (const auto& [name, row] : bench.rows())
    EXPECT_THAT(row.row.method.flags, Not(Contains(table::kNeverQuiet))) << name.first;
}

TEST(Campaign, AMachineThatStaysBusyIsNotMeasuredForEver) {
  Bench bench(3, 0);
  bench.world.other_load = 0.5;
  bench.run();
  bench.request.retry_loaded = true;
  EXPECT_EQ(bench.run().blocks, 30);
  EXPECT_TRUE(any_under_load(bench));
}

TEST(Campaign, TheLoadOfAnInterruptedCampaignDoesNotOutweighTheRest) {
  // Each row's first block is loaded, the other four are not: less than a third, whether the
  // campaign is cut or not.
  for (const bool cut : {false, true}) {
    Bench bench(3, 0);
    bench.world.other_load = 0.5;
    bench.world.before_block = [&] {
      if (bench.rows_blocks() >= 3) bench.world.other_load.reset();
    };
    if (cut) bench.stop_after = 3;
    bench.run();
    EXPECT_EQ(any_under_load(bench), cut);
    bench.stop_after.reset();
    bench.run();
    EXPECT_EQ(bench.rows_blocks(), 15U);
    EXPECT_FALSE(any_under_load(bench)) << "cut: " << cut;
  }
}

TEST(Campaign, ABlockOfAProcessThatCannotBeIsACorruptTable) {
  Bench bench(1, 0);
  bench.run();
  table::Block block;
  block.pass = 9;
  block.process = std::numeric_limits<std::int64_t>::max();
  block.value_ns = 2000;
  block.rounds = 32;
  ASSERT_TRUE(bench.table->add_block(bench.rows().at({relu_key(0), false}).id, block));
  const auto summary = measure::run(bench.request, *bench.table, bench.factory, bench.progress);
  ASSERT_FALSE(summary);
  EXPECT_EQ(summary.error().code, Code::Input);
  EXPECT_THAT(summary.error().message, HasSubstr("t.oplat: corrupt: a block of Relu"));
}

TEST(Campaign, SaysNothingOfKernelsLeftOutOnceEachHasABlock) {
  // The budget ends inside the second pass, and blocks take longer and longer.
  Bench bench(4, 0);
  bench.request.budget_seconds = 4;
  bench.world.before_block = [&] { bench.world.now_seconds += 0.1; };
  EXPECT_TRUE(bench.run().budget_ended);
  EXPECT_EQ(bench.run().kernels.left, 0);
  EXPECT_THAT(bench.progress.notices, IsEmpty());
}

TEST(Campaign, SaysWhenTheBudgetIsTooSmallForOnePass) {
  Bench bench(20, 0);
  bench.request.budget_seconds = 1;
  const Summary summary = bench.run();
  EXPECT_TRUE(summary.budget_ended);
  EXPECT_GT(summary.kernels.left, 0);
  EXPECT_EQ(summary.passes, 0);
  EXPECT_THAT(bench.progress.notices, Contains(HasSubstr("the budget is 0:01")));
  bench.request.budget_seconds.reset();
  EXPECT_EQ(bench.run().kernels.precise, 20);
}

TEST(Campaign, AWorkerThatHangsIsNotAskedAgainOnceTheBudgetIsOver) {
  Bench bench(2, 0);
  bench.world.kernels[relu_key(0)].hangs = true;  // for 120 s
  bench.request.budget_seconds = 60;
  const double before = bench.world.now_seconds;
  const Summary summary = bench.run();
  EXPECT_TRUE(summary.budget_ended);
  EXPECT_FALSE(summary.interrupted);
  EXPECT_LT(bench.world.now_seconds - before, 130);
  // It was tried once: the other run tries it twice and says so.
  EXPECT_EQ(summary.kernels.failed, 0);
  EXPECT_THAT(bench.progress.notices, Contains(HasSubstr("time limit; the budget is used up")));
  bench.request.budget_seconds.reset();
  EXPECT_EQ(bench.run().kernels.failed, 1);
}

TEST(Campaign, GivesUpOnNoisyRowsAtTheCap) {
  Bench bench(2, 0);
  bench.world.block_noise = 0.5;
  bench.request.stop.max_blocks = 12;
  const Summary summary = bench.run();
  EXPECT_EQ(summary.kernels.wide, 2);
  for (const auto& [name, row] : bench.rows()) {
    EXPECT_EQ(timing(row).blocks, 12);
    EXPECT_THAT(row.row.method.flags, Contains("ci_not_reached"));
  }
}

// The first process cannot know that its core is shared, and every prediction holds the empty call.
TEST(Campaign, TimesTheEmptyCallAgainAtItsEnd) {
  Bench bench(2, 0);
  int blocks = 0;
  bench.world.before_block = [&] { bench.world.call_ns = ++blocks <= 2 ? 2500 : 1000; };
  bench.run();
  const auto campaigns = bench.table->campaigns();
  ASSERT_TRUE(campaigns.has_value() && campaigns->size() == 1);
  EXPECT_NEAR(*campaigns->front().campaign.empty_call_ns, 1000, 1e-6);
  EXPECT_THAT(bench.progress.notices, IsEmpty());
}

// A neighbour on the core's other thread takes no time away: it shows in the clock alone.
TEST(Campaign, TimesTheEmptyCallUntilItIsAtFullClock) {
  Bench bench(2, 0);
  int blocks = 0;
  int last_blocks = 0;
  bench.world.before_block = [&] {
    const bool is_first_call = ++blocks <= 2;
    if (bench.rows_blocks() >= 10) ++last_blocks;
    const bool has_neighbour = is_first_call || last_blocks == 1 || last_blocks == 2;
    bench.world.call_ns = last_blocks > 2 ? 1000 : 2500;
    bench.world.reference_compute_ns = has_neighbour ? 54e3 : 50e3;
  };
  bench.run();
  EXPECT_EQ(last_blocks, 4) << "timed twice at the end";
  const auto campaigns = bench.table->campaigns();
  ASSERT_TRUE(campaigns.has_value() && campaigns->size() == 1);
  EXPECT_NEAR(*campaigns->front().campaign.empty_call_ns, 1000, 1e-6);
  EXPECT_EQ(campaigns->front().environment.facts.at(table::kEmptyCallAlone), "yes");
  EXPECT_THAT(bench.progress.notices, IsEmpty());
}

TEST(Campaign, TakesACallFromShortKernelsWhereTheEmptyOneWasNeverAlone) {
  Bench bench(2, 0);
  bench.world.kernels.at(relu_key(0)).hot_ns = 200;
  int blocks = 0;
  bench.world.before_block = [&] {
    const bool of_the_empty_call = ++blocks <= 2 || bench.rows_blocks() >= 10;
    bench.world.call_ns = of_the_empty_call ? 3200 : 1000;
    bench.world.steal_per_block = of_the_empty_call ? 20 : 0;
  };
  bench.run();
  const auto campaigns = bench.table->campaigns();
  ASSERT_TRUE(campaigns.has_value() && campaigns->size() == 1);
  EXPECT_NEAR(*campaigns->front().campaign.empty_call_ns, 1000, 20);
  EXPECT_EQ(campaigns->front().environment.facts.at(table::kEmptyCallAlone), "no");
}

// Nothing shows whether a neighbour slowed such a row, however well its blocks agree.
TEST(Campaign, DoesNotTrustARowOfWhichAllBlocksAreAtALowerClock) {
  Bench bench(2, 0);
  bench.world.kernels.at(relu_key(1)).reference_compute_ns = 54e3;
  bench.run();
  const auto rows = bench.rows();
  const auto width = [&](int kernel) {
    const table::Timing& known = timing(rows.at({relu_key(kernel), false}));
    return known.ci_high_ns / known.ci_low_ns;
  };
  EXPECT_LT(width(0), 1.1);
  EXPECT_GT(width(1), std::exp(2 * 1.96 * kAssumedLowerClockSdLog));
  EXPECT_THAT(rows.at({relu_key(1), false}).row.method.flags, ElementsAre("ci_not_reached"));
}

// Its budget is not over, and the neighbour may leave.
TEST(Campaign, GoesOnWithSuchARowWhileTheNeighbourMayLeave) {
  Bench bench(2, 0);
  auto& kernel = bench.world.kernels.at(relu_key(1));
  const double alone_ns = kernel.hot_ns;
  bench.world.before_block = [&] {
    const auto rows = bench.rows();
    const auto row = rows.find({relu_key(1), false});
    const bool has_neighbour =
        row == rows.end() || bench.table->blocks_of(row->second.id)->size() < 6;
    kernel.reference_compute_ns = has_neighbour ? 54e3 : 50e3;
    kernel.hot_ns = (has_neighbour ? 1.5 : 1) * alone_ns;
  };
  const Summary summary = bench.run();
  const auto rows = bench.rows();
  const auto& row = rows.at({relu_key(1), false});
  EXPECT_EQ(bench.table->blocks_of(row.id)->size(), 11);
  EXPECT_EQ(timing(row).blocks, 5) << "those at full clock";
  EXPECT_NEAR(timing(row).median_ns, alone_ns, 0.05 * alone_ns);
  EXPECT_EQ(timing(rows.at({relu_key(0), false})).blocks, 5) << "nothing was wrong with it";
  EXPECT_EQ(summary.kernels.wide, 0);
}

TEST(Campaign, GivesSuchARowUpAfterTwiceTheBlocks) {
  Bench bench(2, 0);
  bench.world.kernels.at(relu_key(1)).reference_compute_ns = 54e3;
  EXPECT_EQ(bench.run().kernels.wide, 1);
  EXPECT_EQ(timing(bench.rows().at({relu_key(1), false})).blocks, 10);
  EXPECT_EQ(bench.run().blocks, 0) << "another run has nothing to do";
}

TEST(Campaign, SaysThatTheEmptyCallNeverHadItsCoreAlone) {
  Bench bench(2, 0);
  bench.world.steal_per_block = 20;
  bench.run();
  EXPECT_THAT(bench.progress.notices,
              ElementsAre(HasSubstr("the empty call, 1.00 us, was always")));
  EXPECT_EQ(bench.table->campaigns()->front().environment.facts.at(table::kEmptyCallAlone), "no");
}

/// A machine whose two cores are far from each other until `blocks` blocks of rows are measured;
/// what runs there takes 1.8 times as long.
void make_cores_far_until(Bench& bench, std::size_t blocks) {
  bench.request.setting.threads = 2;
  bench.world.cores = {3000, 390};
  const auto usual = bench.world.kernels;
  for (auto& [key, kernel] : bench.world.kernels) kernel.hot_ns *= 1.8;
  bench.world.before_block = [&bench, usual, blocks] {
    if (bench.world.cores.handoff_ns < 390 || bench.rows_blocks() < blocks) return;
    bench.world.cores.handoff_ns = 90;
    for (const auto& [key, kernel] : usual) bench.world.kernels[key].hot_ns = kernel.hot_ns;
  };
}

std::int64_t far_blocks(const Bench& bench, table::RowId row) {
  const auto blocks = bench.table->blocks_of(row);
  EXPECT_TRUE(blocks.has_value());
  return std::count_if(blocks->begin(), blocks->end(), table::is_not_apart);
}

TEST(Campaign, MeasuresAgainWhatItTookForMeasuredOnTheBestCores) {
  // The first campaign of a table knows no better cores than those that it finds (docs/adr/0083).
  Bench bench(6, 0);
  bench.request.stop.max_blocks = 1;
  make_cores_far_until(bench, 4);
  const Summary summary = bench.run();
  const auto rows = bench.rows();
  ASSERT_EQ(rows.size(), 6U);
  std::int64_t far = 0;
  for (const auto& [name, row] : rows) {
    const double truth_ns = bench.world.kernels.at(name.first).hot_ns;
    EXPECT_NEAR(timing(row).median_ns / truth_ns, 1, 0.05) << name.first;
    EXPECT_FALSE(row.row.method.has(table::kNeverQuiet)) << name.first;
    far += far_blocks(bench, row.id);
  }
  EXPECT_GE(far, 4);
  EXPECT_LE(far, 5) << "in one block the cores became near";
  EXPECT_EQ(summary.kernels.left, 0);
  EXPECT_THAT(bench.progress.notices,
              Contains(HasSubstr("what was measured before counts as disturbed: 4 blocks")));
}

TEST(Campaign, ManyBlocksOnFarCoresDoNotOutweighOthers) {
  // Alike and far, until the rows had their five: two that were not decide.
  Bench bench(2, 0);
  const ModelTarget model = bench.add_model();
  make_cores_far_until(bench, 14);
  (void)bench.run();
  for (const auto& [name, row] : bench.rows()) {
    EXPECT_NEAR(timing(row).median_ns / bench.world.kernels.at(name.first).hot_ns, 1, 0.05);
    EXPECT_GE(far_blocks(bench, row.id), 4) << name.first;
    EXPECT_FALSE(row.row.method.has(table::kNeverQuiet)) << name.first;
  }
  const auto models = bench.table->model_rows();
  ASSERT_TRUE(models.has_value());
  ASSERT_EQ(models->size(), 1U);
  EXPECT_NEAR(std::get<table::Timing>(models->front().row.outcome).median_ns, 3e6, 1e4);
}

TEST(Campaign, FlagsRowsOfACampaignWhoseCoresWereFarThroughout) {
  Bench bench(6, 0);
  bench.request.stop.max_blocks = 1;
  const ModelTarget model = bench.add_model();
  make_cores_far_until(bench, 100);
  const std::vector<std::string> keys = bench.request.keys;
  bench.request.keys = {keys.begin(), keys.begin() + 3};
  (void)bench.run();
  const auto has_flag = [&](const std::string& key) {
    return bench.rows().at({key, false}).row.method.has(table::kNeverQuiet);
  };
  const auto model_has_flag = [&] {
    const auto models = bench.table->model_rows();
    return models && models->size() == 1 && models->front().row.method.has(table::kNeverQuiet);
  };
  for (std::size_t i = 0; i < 3; ++i) EXPECT_FALSE(has_flag(keys[i])) << "nothing better is known";
  EXPECT_FALSE(model_has_flag());
  bench.world.before_block = nullptr;
  bench.world.cores.handoff_ns = 90;
  for (auto& [key, kernel] : bench.world.kernels) kernel.hot_ns /= 1.8;
  // A row that the next campaign does not ask for is told of, too, and so is the model.
  bench.request.keys = {keys.begin() + 1, keys.end()};
  bench.request.models.clear();
  (void)bench.run();
  const auto rows = bench.rows();
  for (std::size_t i = 0; i < keys.size(); ++i) {
    EXPECT_EQ(has_flag(keys[i]), i == 0) << i;
    EXPECT_EQ(far_blocks(bench, rows.at({keys[i], false}).id), i < 3 ? 1 : 0) << i;
  }
  EXPECT_TRUE(model_has_flag());
  bench.request.keys = keys;
  bench.request.models = {model};
  (void)bench.run();
  for (const auto& [name, row] : bench.rows()) {
    EXPECT_FALSE(row.row.method.has(table::kNeverQuiet)) << name.first;
    EXPECT_NEAR(timing(row).median_ns / bench.world.kernels.at(name.first).hot_ns, 1, 0.05);
  }
  EXPECT_FALSE(model_has_flag());
}

TEST(Campaign, KeepsDisturbedBlocks) {
  Bench bench(2, 0);
  bench.world.switches_per_block = 100'000;
  bench.run();
  for (const auto& [name, row] : bench.rows()) {
    EXPECT_THAT(row.row.method.flags, ElementsAre("disturbed"));
    EXPECT_EQ(timing(row).blocks, 5);
  }
}

TEST(Campaign, LeavesOutWhatCannotBeMeasured) {
  Bench bench(1, 0);
  bench.request.keys.push_back(relu_key(0));  // twice
  bench.request.keys.emplace_back("Reshape/14{allowzero=0}(f32[2,3],i64c[1]=[6])->(f32[6])");
  bench.request.keys.emplace_back("Relu/14{}(f32[?,3])->(f32[?,3])");
  bench.request.keys.emplace_back("this is no key");
  const Summary summary = bench.run();
  EXPECT_EQ(summary.views, 1);
  // The view brings in the kernel that computes next to nothing.
  EXPECT_EQ(summary.kernels.total, 4);
  EXPECT_EQ(summary.kernels.precise, 2);
  EXPECT_EQ(summary.kernels.skipped, 1);
  EXPECT_EQ(summary.kernels.failed, 1);
  EXPECT_EQ(bench.rows().size(), 3U);
}

TEST(Campaign, FailsWhereNoRunnerCanBeMade) {
  Bench bench;
  bench.world.factory_fails = true;
  const auto none = run(bench.request, *bench.table, bench.factory, bench.progress);
  ASSERT_FALSE(none.has_value());
  EXPECT_EQ(none.error().code, Code::Runtime);

  bench.world.factory_fails = false;
  bench.world.before_block = [&] { bench.world.factory_fails = bench.rows_blocks() >= 20; };
  EXPECT_FALSE(run(bench.request, *bench.table, bench.factory, bench.progress).has_value());
  std::int64_t kept = 0;
  for (const auto& [name, row] : bench.rows()) kept += timing(row).blocks;
  EXPECT_EQ(static_cast<std::size_t>(kept), bench.rows_blocks())
      << "what was measured before is kept";
}

TEST(Campaign, TellsHowFarItIs) {
  Bench bench;
  bench.run();
  const auto& states = bench.progress.states;
  ASSERT_GT(states.size(), 60U);
  EXPECT_EQ(states.front().phase, Phase::Preparing);
  EXPECT_EQ(states.back().phase, Phase::Finishing);
  EXPECT_EQ(states.back().done, states.back().total);
  EXPECT_EQ(*states.back().eta_seconds, 0);
  for (std::size_t i = 1; i < states.size(); ++i) EXPECT_GE(states[i].done, states[i - 1].done);
  // Half way the forecast rests on measured costs: the truth is what the simulated clock did
  // afterwards.
  const std::size_t half = states.size() / 2;
  const double per_block = bench.world.now_seconds / static_cast<double>(states.size());
  EXPECT_NEAR(*states[half].eta_seconds, per_block * static_cast<double>(states.size() - half), 4);
  EXPECT_FALSE(states[half].current.empty());
}

TEST(KeysOf, AreDistinctInOrderOfAppearance) {
  std::vector<table::Plan> plans(2);
  plans[0].kernels = {{"a", "K1", 1}, {"b", "K2", 1}, {"c", "K1", 3}};
  plans[1].kernels = {{"d", "K0", 1}, {"e", "K2", 1}};
  EXPECT_THAT(keys_of(plans), ElementsAre("K1", "K2", "K0"));
}

}  // namespace
}  // namespace oplat::measure
