// SPDX-License-Identifier: Apache-2.0
#include "measure/kernel_block.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <variant>
#include <vector>

#include "measure/block_reply.hpp"
#include "measure/model_block.hpp"
#include "unit/measure/simulated_runner.hpp"

namespace oplat::measure {
namespace {

using ::testing::HasSubstr;

class KernelBlockTest : public ::testing::Test {
 protected:
  KernelBlockOutcome measure(const std::string& key, const State& state,
                             std::optional<double> empty_call = 1000.0) {
    SimulatedRunner runner(world_);
    KernelBlockRequest request;
    request.key = key;
    request.state = state;
    request.empty_call_ns = empty_call;
    auto outcome = measure_kernel_block(runner, request);
    EXPECT_TRUE(outcome.has_value());
    EXPECT_EQ(world_.open_handles, 0) << "handles left open";
    return *outcome;
  }

  SimulatedWorld world_;
  const State hot_{CacheState::Hot, 4096, 0};
  const State cold_{CacheState::Cold, 96e6, 96'000'000};
};

TEST_F(KernelBlockTest, SlopeRecoversTheTrueTimeUnderNoise) {
  world_.call_noise = 0.05;
  world_.autocorrelation = 0.8;
  for (double truth : {500.0, 3e3, 47e3, 900e3, 8e6}) {
    world_.kernels["k"] = {.hot_ns = truth};
    std::vector<double> values;
    for (int i = 0; i < 9; ++i) {
      const auto outcome = measure("k", hot_);
      const auto* block = std::get_if<KernelBlock>(&outcome);
      ASSERT_NE(block, nullptr) << truth;
      values.push_back(block->block.value_ns);
      EXPECT_NEAR(values.back(), truth, 0.15 * truth);
      EXPECT_GE(block->method.copies, 2);
      EXPECT_EQ(block->method.topology, "chain");
    }
    // Long kernels have five rounds a block, which such noise moves together.
    std::sort(values.begin(), values.end());
    EXPECT_NEAR(values[4], truth, 0.06 * truth);
  }
}

TEST_F(KernelBlockTest, IsExactWithoutNoise) {
  world_.kernels["k"] = {.hot_ns = 1234.5};
  const auto outcome = measure("k", hot_);
  EXPECT_NEAR(std::get<KernelBlock>(outcome).block.value_ns, 1234.5, 1e-6);
  EXPECT_EQ(std::get<KernelBlock>(outcome).block.reference_compute_ns, 50e3);
}

TEST_F(KernelBlockTest, TakesMoreCopiesWhereTheCallCostHidTheKernel) {
  world_.call_ns = 40e3;  // unknown to the harness: T1 looks like a 40-us kernel and five or six
                          // copies seem enough
  world_.kernels["k"] = {.hot_ns = 1000};
  const auto outcome = measure("k", hot_, std::nullopt);
  EXPECT_NEAR(std::get<KernelBlock>(outcome).block.value_ns, 1000, 1e-6);
  EXPECT_GE(std::get<KernelBlock>(outcome).method.copies, 200);
}

// One and two copies have nearly all in common, but with more of them there is a slope.
TEST_F(KernelBlockTest, ALongCallIsNoReasonToRefuseBeforeMoreCopies) {
  world_.call_ns = 300e3;
  world_.kernels["k"] = {.hot_ns = 1000};
  const auto outcome = measure("k", hot_, std::nullopt);
  ASSERT_TRUE(std::holds_alternative<KernelBlock>(outcome));
  EXPECT_NEAR(std::get<KernelBlock>(outcome).block.value_ns, 1000, 1e-6);
}

// Else each copy behind a scrub writes to a cold place: a product of 197x192 by 192x768 took 288 us
// in place of 268.
TEST_F(KernelBlockTest, LargeResultsOfCopiesSideBySideAreReadInBothModels) {
  const std::string large = "MatMul/13{}(f32[64,256],f32c[256,512])->(f32[64,512])";
  const std::string small = "MatMul/13{}(f32[1,256],f32c[256,512])->(f32[1,512])";
  world_.fans = true;
  for (const std::string& key : {large, small}) {
    for (const State& state : {hot_, cold_}) {
      world_.kernels[key] = {.hot_ns = 50e3, .cold_ns = 60e3};
      world_.opened.clear();
      const auto outcome = measure(key, state);
      const std::int64_t copies = std::get<KernelBlock>(outcome).method.copies;
      ASSERT_GE(world_.opened.size(), 2U);
      // The two that were timed last: one copy is opened anew once k is known.
      std::int64_t one = -1;
      std::int64_t many = -1;
      for (const OpenRequest& open : world_.opened) (open.copies == 1 ? one : many) = open.reads;
      EXPECT_EQ(many, key == large ? copies : 0) << key;
      EXPECT_EQ(one, many) << key;
    }
  }
}

// A DequantizeLinear of 16 MB had 80 ns in place of 250 us: of one copy whose result 16 nodes read,
// ONNX Runtime made 16.
TEST_F(KernelBlockTest, OneCopyThatDoesTheWorkOfAllHasNoSlope) {
  const std::string key = "MatMul/13{}(f32[64,256],f32c[256,1024])->(f32[64,1024])";
  world_.fans = true;
  for (const double noise : {0.0, 0.02}) {
    world_.call_noise = noise;
    for (const double truth : {5e3, 50e3, 2e6}) {
      world_.kernels[key] = {.hot_ns = truth, .cold_ns = truth, .duplicated = true};
      const auto outcome = measure(key, hot_);
      const auto* failed = std::get_if<table::Failed>(&outcome);
      ASSERT_NE(failed, nullptr) << truth;
      EXPECT_THAT(failed->reason, HasSubstr("one copy does more than its own work"));
    }
  }
}

TEST_F(KernelBlockTest, ReadsFollowTheNumberOfCopies) {
  const std::string key = "MatMul/13{}(f32[64,256],f32c[256,512])->(f32[64,512])";
  world_.fans = true;
  world_.call_ns = 40e3;  // hides the kernel, so that a second k is tried
  world_.kernels[key] = {.hot_ns = 5000};
  const auto outcome = measure(key, hot_, std::nullopt);
  std::int64_t one = -1;
  std::int64_t many = -1;
  for (const OpenRequest& open : world_.opened) (open.copies == 1 ? one : many) = open.reads;
  EXPECT_EQ(many, std::get<KernelBlock>(outcome).method.copies);
  EXPECT_EQ(one, many);
}

TEST_F(KernelBlockTest, AChainThatHandsAllOnNeedsNoReads) {
  const std::string key = "MatMul/13{}(f32[64,256],f32c[256,256])->(f32[64,256])";
  world_.kernels[key] = {.hot_ns = 50e3};
  measure(key, hot_);
  const auto ones = std::count_if(world_.opened.begin(), world_.opened.end(),
                                  [](const OpenRequest& open) { return open.copies == 1; });
  EXPECT_EQ(ones, 1);
}

// Results that a chain does not hand on lie around side by side, and many would not stay hot.
TEST_F(KernelBlockTest, AChainIsAsLongAsItsOtherResultsStayHot) {
  const auto copies_of = [&](const std::string& key, double ns) {
    world_.kernels[key] = {.hot_ns = ns};
    const auto outcome = measure(key, hot_);
    return std::get<KernelBlock>(outcome).method.copies;
  };
  EXPECT_EQ(copies_of("Exp/13{}(f32[512,512])->(f32[512,512])", 250e3), 16);
  EXPECT_EQ(copies_of("Pair/1{}(f32[512,512])->(f32[512,512],f32[64,32])", 250e3), 16);
  EXPECT_EQ(copies_of("Pair/1{}(f32[512,512])->(f32[512,512],f32[192,256])", 250e3), 4);
  EXPECT_EQ(copies_of("Pair/1{}(f32[512,512])->(f32[512,512],f32[512,512])", 250e3), 2);
  EXPECT_EQ(copies_of("Pair/1{}(f32[512,512])->(f32[512,512],f32[512,512])", 20e3), 11)
      << "a short one has what the slope needs";
}

// Copies in one call would see the same data in every call.
TEST_F(KernelBlockTest, AKernelThatLearnsItsDataIsASingleCallUnlessItIsShort) {
  const auto block_of = [&](const std::string& key, double ns) {
    world_.kernels[key] = {.hot_ns = ns};
    const auto outcome = measure(key, hot_);
    EXPECT_NEAR(std::get<KernelBlock>(outcome).block.value_ns, ns, 1e-6);
    return std::get<KernelBlock>(outcome).method;
  };
  const char* top = "TopK/11{}(f32[1,8000],i64c[1]=[5])->(f32[1,5],i64[1,5])";
  EXPECT_EQ(block_of(top, 300e3).copies, 1);
  EXPECT_EQ(block_of(top, 300e3).topology, "single");
  EXPECT_EQ(block_of(top, 15e3).copies, 24) << "whose operands stay hot";
  EXPECT_EQ(block_of("TopK/11{}(f32[1,80],i64c[1]=[5])->(f32[1,5],i64[1,5])", 15e3).copies, 64);
  EXPECT_EQ(block_of("Exp/13{}(f32[1,80])->(f32[1,80])", 15e3).copies, 16);
}

TEST_F(KernelBlockTest, KeepsTheCopiesOfEarlierBlocks) {
  world_.kernels["k"] = {.hot_ns = 3000};
  SimulatedRunner runner(world_);
  KernelBlockRequest request;
  request.key = "k";
  request.state = hot_;
  request.copies = 17;
  request.expected_ns = 3000;
  const auto outcome = measure_kernel_block(runner, request);
  ASSERT_TRUE(outcome.has_value());
  EXPECT_EQ(std::get<KernelBlock>(*outcome).method.copies, 17);
  EXPECT_EQ(world_.blocks.size(), 1U) << "no calibration again";
}

TEST_F(KernelBlockTest, AHotChainOfLongKernelsAveragesOverPlacesInMemory) {
  const std::map<double, std::int64_t> copies = {{159e3, 16}, {1e6, 9}, {8e6, 2}};
  for (const auto& [ns, most] : copies) {
    world_.kernels["k"] = {.hot_ns = ns};
    EXPECT_EQ(std::get<KernelBlock>(measure("k", hot_)).method.copies, most) << ns;
  }
  world_.kernels["k"] = {.hot_ns = 159e3, .skipped_above_copies = 10};
  EXPECT_EQ(std::get<KernelBlock>(measure("k", hot_)).method.copies, 3) << "memory is short";
}

TEST_F(KernelBlockTest, ColdCopiesHaveWeightsOfTheirOwnAndAreScrubbed) {
  world_.kernels["k"] = {.hot_ns = 61e3, .cold_ns = 222e3, .first_copy_ns = 30e3};
  const auto outcome = measure("k", cold_);
  const auto& block = std::get<KernelBlock>(outcome);
  EXPECT_NEAR(block.block.value_ns, 222e3, 1)
      << "cold weights, but not the first copy's cold activations";
  EXPECT_GE(block.method.copies, 4);
  EXPECT_LE(block.method.copies, 8);
  for (const SimulatedBlock& b : world_.blocks) EXPECT_EQ(b.scrub_bytes, 96'000'000);
}

TEST_F(KernelBlockTest, LongKernelIsOneCallLessTheEmptyOne) {
  world_.kernels["k"] = {.hot_ns = 80e6};
  const auto outcome = measure("k", hot_);
  const auto& block = std::get<KernelBlock>(outcome);
  EXPECT_NEAR(block.block.value_ns, 80e6, 1e-3);
  EXPECT_EQ(block.method.copies, 1);
  EXPECT_EQ(block.method.topology, "single");
  EXPECT_TRUE(block.method.flags.empty());
  EXPECT_GE(block.block.rounds, 5);

  const auto unknown = measure("k", hot_, std::nullopt);
  EXPECT_NEAR(std::get<KernelBlock>(unknown).block.value_ns, 80e6 + 1000, 1e-3);
  EXPECT_THAT(std::get<KernelBlock>(unknown).method.flags,
              ::testing::ElementsAre("empty_call_unknown"));
}

TEST_F(KernelBlockTest, SaysSoWhereThereIsNoSlope) {
  world_.kernels["k"] = {.hot_ns = 0};
  const auto outcome = measure("k", hot_);
  const auto* failed = std::get_if<table::Failed>(&outcome);
  ASSERT_NE(failed, nullptr);
  EXPECT_THAT(failed->reason, HasSubstr("no positive slope: one copy 1.00 us, 256 copies 1.00 us"));
}

TEST_F(KernelBlockTest, TriesMoreCopiesBeforeItGivesUp) {
  world_.kernels["k"] = {.hot_ns = 0};
  SimulatedRunner runner(world_);
  KernelBlockRequest request;
  request.key = "k";
  request.state = hot_;
  request.copies = 16;
  const auto outcome = measure_kernel_block(runner, request);
  ASSERT_TRUE(outcome.has_value());
  EXPECT_THAT(std::get<table::Failed>(*outcome).reason, HasSubstr("64 copies"));
  EXPECT_THAT(std::get<table::Failed>(*outcome).reason,
              HasSubstr("before that one copy 1.00 us, 16 copies"));
}

TEST_F(KernelBlockTest, FewerCopiesWhereMemoryIsShort) {
  world_.kernels["k"] = {.hot_ns = 2000, .skipped_above_copies = 40};
  const auto outcome = measure("k", hot_);
  const auto& block = std::get<KernelBlock>(outcome);
  EXPECT_NEAR(block.block.value_ns, 2000, 1e-6);
  EXPECT_LE(block.method.copies, 40);
}

TEST_F(KernelBlockTest, RefusalsAndAccidentsAreData) {
  world_.kernels["no"] = {.unsupported = "no kernel for bf16"};
  world_.kernels["crash"] = {.crashes = 1};
  world_.kernels["hang"] = {.hangs = true};
  EXPECT_EQ(std::get<table::Unsupported>(measure("no", hot_)).reason, "no kernel for bf16");
  for (const char* key : {"crash", "hang"}) {
    SimulatedRunner runner(world_);
    KernelBlockRequest request;
    request.key = key;
    request.state = hot_;
    const auto outcome = measure_kernel_block(runner, request);
    ASSERT_TRUE(outcome.has_value());
    EXPECT_TRUE(std::holds_alternative<table::Failed>(*outcome)) << key;
    EXPECT_FALSE(measure_kernel_block(runner, request).has_value()) << "a dead runner is an error";
  }
}

/// Answers one block after the other as the test says; the last one again and again.
class ScriptedRunner final : public KernelRunner {
 public:
  explicit ScriptedRunner(std::vector<BlockOutcome> blocks) : blocks_(std::move(blocks)) {}
  Result<OpenOutcome> open(const OpenRequest&) override {
    return OpenOutcome(Opened{1, 0, "chain"});
  }
  Result<BlockOutcome> block(const BlockRequest&) override {
    return blocks_[std::min(blocks_asked_++, blocks_.size() - 1)];
  }
  Status close(Handle) override { return {}; }
  [[nodiscard]] std::size_t blocks_asked() const { return blocks_asked_; }

 private:
  std::vector<BlockOutcome> blocks_;
  std::size_t blocks_asked_ = 0;
};

TEST(KernelBlockRubbish, IsNeverTakenForATime) {
  KernelBlockRequest request;
  request.key = "k";
  const auto measured = [&](std::vector<std::vector<double>> ns) {
    BlockSamples samples;
    samples.ns = std::move(ns);
    ScriptedRunner runner({std::move(samples)});
    return measure_kernel_block(runner, request);
  };
  EXPECT_FALSE(measured({}).has_value());
  EXPECT_FALSE(measured({{1}, {1}, {1}}).has_value());
  EXPECT_TRUE(std::holds_alternative<table::Failed>(*measured({{}})));
  EXPECT_TRUE(std::holds_alternative<table::Failed>(*measured({{-5}})));
  EXPECT_TRUE(std::holds_alternative<table::Failed>(*measured({{std::nan("")}})));
}

struct Slope {
  double ns = 0;
  std::size_t blocks = 0;
  table::Block block;
};

/// Of two copies, from blocks of T1 and T2 in ms. A block without times fails.
Slope slope_of_two(std::vector<std::vector<std::vector<double>>> blocks_ms, bool replayed = false) {
  std::vector<BlockOutcome> blocks;
  for (auto& of_handles : blocks_ms) {
    if (of_handles.empty()) {
      blocks.emplace_back(table::Failed{"the time is over"});
      continue;
    }
    for (auto& rounds : of_handles)
      for (double& ns : rounds) ns *= 1e6;
    BlockSamples samples;
    samples.ns = std::move(of_handles);
    samples.switches = 20;
    samples.steal_ticks = 1;
    samples.other_load = blocks.empty() ? 0.4 : 0.1;
    samples.virtual_time = replayed;
    blocks.emplace_back(std::move(samples));
  }
  ScriptedRunner runner(std::move(blocks));
  KernelBlockRequest request;
  request.key = "k";
  request.copies = 2;
  request.empty_call_ns = 1000;
  const auto outcome = measure_kernel_block(runner, request);
  const auto* measured = outcome ? std::get_if<KernelBlock>(&*outcome) : nullptr;
  if (measured == nullptr) return {};
  return {measured->block.value_ns, runner.blocks_asked(), measured->block};
}

TEST(ScatteredSlope, IsTimedOnceMoreAndItsRoundsCountTogether) {
  const std::vector<double> two = {5.8, 5.74, 5.71, 5.9, 5.76};
  // T1 alone was disturbed: this block by itself gives 1.7 ms.
  const std::vector<std::vector<double>> disturbed = {{4.6, 4.0, 2.85, 4.4, 4.9}, two};
  const std::vector<std::vector<double>> quiet = {{2.86, 2.88, 2.85, 2.9, 2.87}, two};
  const Slope slope = slope_of_two({disturbed, quiet});
  EXPECT_NEAR(slope.ns, 2.87e6, 0.03e6);
  EXPECT_EQ(slope.blocks, 2U);
  // The facts of the block are those of both.
  EXPECT_EQ(slope.block.rounds, 10);
  EXPECT_EQ(slope.block.switches, 40);
  EXPECT_EQ(slope.block.steal_ticks, 2);
  EXPECT_EQ(slope.block.other_load, 0.4);
  // The other direction: T2 alone.
  const Slope longer =
      slope_of_two({{{2.86, 2.88, 2.85, 2.9, 2.87}, {8.9, 5.74, 8.1, 7.9, 9.3}}, quiet});
  EXPECT_NEAR(longer.ns, 2.88e6, 0.03e6);
  EXPECT_EQ(longer.blocks, 2U);
  const Slope alone = slope_of_two({disturbed, {}});
  EXPECT_NEAR(alone.ns, 1.74e6, 0.03e6);
  EXPECT_EQ(alone.blocks, 2U);
  EXPECT_EQ(alone.block.rounds, 5);
}

TEST(ScatteredSlope, IsNoneWhereRoundsAgreeOrAreManyOrReplayed) {
  // The first copy takes longer, by right: in every round.
  const Slope first = slope_of_two({{{4.1, 4.0, 4.05, 4.02, 4.1}, {5.6, 5.55, 5.5, 5.52, 5.6}}});
  EXPECT_NEAR(first.ns, 1.5e6, 0.05e6);
  EXPECT_EQ(first.blocks, 1U);
  const std::vector<double> scattered = {4.6, 4.0, 2.85, 4.4, 4.9, 2.9, 2.86, 4.1, 3.3, 2.9, 3, 5};
  EXPECT_EQ(slope_of_two({{scattered, std::vector<double>(12, 5.8)}}).blocks, 1U);
  EXPECT_EQ(slope_of_two({{{4.6, 4.0, 2.85, 4.4, 4.9}, {5.8, 5.74, 5.71, 5.9, 5.76}}}, true).blocks,
            1U);
}

TEST(EmptyCall, IsTheCallWithoutItsKernel) {
  SimulatedWorld world;
  world.kernels["tiny"] = {.hot_ns = 50};
  SimulatedRunner runner(world);
  const auto empty = measure_empty_call(runner, "tiny", {});
  ASSERT_TRUE(empty.has_value());
  EXPECT_NEAR(*empty->ns, 1000, 1e-6);
  EXPECT_EQ(empty->reference_memory_ns, 300e3);
  const auto none = measure_empty_call(runner, "absent", {});
  ASSERT_TRUE(none.has_value());
  EXPECT_FALSE(none->ns.has_value());
}

TEST(EmptyCall, HoldsNothingThatReadsTheResult) {
  SimulatedWorld world;
  world.kernels["tiny"] = {.hot_ns = 50};
  world.tail_ns = 300;
  SimulatedRunner runner(world);
  const auto empty = measure_empty_call(runner, "tiny", {});
  ASSERT_TRUE(empty.has_value());
  EXPECT_NEAR(*empty->ns, 1000, 1e-6);
}

TEST(EmptyCall, BlocksThatAreDisturbedDoNotCount) {
  SimulatedWorld world;
  world.kernels["tiny"] = {.hot_ns = 50};
  int blocks = 0;
  world.before_block = [&] {
    // Another program is on the core for the first three blocks.
    world.call_ns = blocks < 3 ? 2500 : 1000;
    ++blocks;
  };
  SimulatedRunner runner(world);
  const auto first = measure_empty_call(runner, "tiny", {});
  ASSERT_TRUE(first.has_value());
  EXPECT_NEAR(*first->ns, 2500, 1e-6) << "nothing tells";
  const auto second = measure_empty_call(runner, "tiny", {}, *first);
  ASSERT_TRUE(second.has_value());
  EXPECT_NEAR(*second->ns, 1000, 1e-6);
  const auto third = measure_empty_call(runner, "tiny", {}, *second);
  ASSERT_TRUE(third.has_value());
  EXPECT_EQ(blocks, 6);
  EXPECT_NEAR(*third->ns, 1000, 1e-6);
}

TEST(ModelBlock, IsTheMedianCallWithTheFirstApart) {
  SimulatedWorld world;
  world.kernels["net.onnx"] = {.hot_ns = 7e6};
  SimulatedRunner runner(world);
  ModelBlockRequest request;
  request.model = "net.onnx";
  const auto outcome = measure_model_block(runner, request);
  ASSERT_TRUE(outcome.has_value());
  const auto& block = std::get<ModelBlock>(*outcome);
  EXPECT_NEAR(block.block.value_ns, 7e6 + 1000, 1e-3);
  EXPECT_EQ(block.block.rounds, 43) << "0.3 s of 7 ms";
  world.kernels["big.onnx"] = {.hot_ns = 2e9};
  request.model = "big.onnx";
  const auto big = measure_model_block(runner, request);
  EXPECT_EQ(std::get<ModelBlock>(*big).block.rounds, 5);
  EXPECT_EQ(world.open_handles, 0);
}

/// Answers every block with one time.
class OneTimeRunner final : public KernelRunner {
 public:
  explicit OneTimeRunner(double ns) : ns_(ns) {}
  Result<OpenOutcome> open(const OpenRequest&) override { return OpenOutcome(Opened{}); }
  Result<BlockOutcome> block(const BlockRequest&) override {
    BlockSamples samples;
    samples.ns = {{ns_}};
    return BlockOutcome(std::move(samples));
  }
  Status close(Handle) override { return {}; }

 private:
  double ns_;
};

TEST(CheckedBlock, TimesThatCannotBeAreFailures) {
  BlockRequest request;
  request.handles = {1};
  const auto failed = [&](double ns) {
    OneTimeRunner runner(ns);
    const auto outcome = checked_block(runner, request);
    return std::holds_alternative<table::Failed>(outcome.value());
  };
  EXPECT_FALSE(failed(0));
  EXPECT_FALSE(failed(1e18));
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double ns : {1.1e18, 1e308, infinity, std::nan(""), -1.0}) EXPECT_TRUE(failed(ns));
}

}  // namespace
}  // namespace oplat::measure
