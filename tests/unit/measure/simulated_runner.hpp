// SPDX-License-Identifier: Apache-2.0
/// A kernel runner whose truth is known: virtual clock, call cost, noise, and accidents on demand.
/// Tests of measure and profile run against it; nothing in it waits.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/hash.hpp"
#include "base/random.hpp"
#include "measure/kernel_runner.hpp"

namespace oplat::measure {

struct SimulatedKernel {
  double hot_ns = 10e3;
  double cold_ns = 10e3;     ///< of one copy whose weights are cold
  double first_copy_ns = 0;  ///< paid once per call while scrubbed: cold activations
  std::optional<std::string> unsupported = std::nullopt;
  std::int64_t skipped_above_copies = 1 << 20;
  bool duplicated = false;   ///< by the runtime, for each reader of one copy's result
  int crashes = 0;           ///< blocks that end the process before this kernel works
  int crash_from_block = 0;  ///< the first block (counted per kernel) that may crash
  bool hangs = false;
  /// Of the blocks of this kernel, where not that of the world.
  std::optional<double> reference_compute_ns = std::nullopt;
};

/// What one block was asked for.
struct SimulatedBlock {
  std::int64_t process = 0;
  std::string key;  ///< of the last handle
  std::int64_t copies = 1;
  std::int64_t scrub_bytes = 0;
  bool references = false;
};

/// The machine behind all runners of one test.
struct SimulatedWorld {
  std::map<std::string, SimulatedKernel> kernels;  ///< by key or model path
  double call_ns = 1000;
  double tail_ns = 0;            ///< of what reads a kernel's result unless it is an output
  double call_noise = 0.0;       ///< sd of the logarithm, call by call
  double autocorrelation = 0.0;  ///< of that noise
  double block_noise =
      0.0;  ///< sd of the logarithm, one draw per (kernel, state, n-th block): independent of order
  double start_seconds = 0.1;
  double open_seconds = 0.01;
  std::int64_t switches_per_block = 0;
  std::int64_t steal_per_block = 0;  ///< ticks
  std::optional<double> other_load;  ///< CPUs that other programs keep busy
  double reference_compute_ns = 50e3;
  Cores cores;  ///< that a look finds; zeros: none looks
  std::uint64_t seed = 1;
  bool factory_fails = false;
  bool virtual_time = false;  ///< times are replayed ones: single inferences are not kept

  double now_seconds = 0;
  std::int64_t processes = 0;
  std::int64_t open_handles = 0;
  bool fans = false;                ///< copies lie side by side
  std::vector<OpenRequest> opened;  ///< all that was asked to be opened
  std::vector<SimulatedBlock> blocks;
  std::map<std::pair<std::string, bool>, int> blocks_of;  ///< per kernel and (cold)
  std::function<void()> before_block;                     ///< for accidents of the test's own
};

class SimulatedRunner final : public KernelRunner {
 public:
  explicit SimulatedRunner(SimulatedWorld& world)
      : world_(&world),
        process_(++world.processes),
        random_(base::mix_seed(world.seed, static_cast<std::uint64_t>(process_))) {
    world.now_seconds += world.start_seconds;
  }
  ~SimulatedRunner() override { world_->open_handles -= static_cast<std::int64_t>(open_.size()); }

  Result<OpenOutcome> open(const OpenRequest& request) override {
    if (dead_) return fail(Code::Runtime, "the worker is dead");
    world_->now_seconds += world_->open_seconds;
    world_->opened.push_back(request);
    const std::string& name = request.key.empty() ? request.model : request.key;
    const auto kernel = world_->kernels.find(name);
    if (kernel == world_->kernels.end()) return OpenOutcome(table::Unsupported{"no such kernel"});
    if (kernel->second.unsupported)
      return OpenOutcome(table::Unsupported{*kernel->second.unsupported});
    if (request.copies > kernel->second.skipped_above_copies)
      return OpenOutcome(table::Skipped{"needs 99 GiB"});
    const Handle handle = ++last_handle_;
    open_[handle] = {name, request.copies, request.distinct_weights,
                     request.key.empty() || request.results_as_outputs ? 0 : world_->tail_ns,
                     request.copies == 1 && kernel->second.duplicated
                         ? std::max<std::int64_t>(1, request.reads)
                         : request.copies};
    ++world_->open_handles;
    return OpenOutcome(Opened{handle, 1,
                              request.copies == 1 ? "single"
                              : world_->fans      ? "fan"
                                                  : "chain"});
  }

  Result<BlockOutcome> block(const BlockRequest& request) override {
    if (dead_) return fail(Code::Runtime, "the worker is dead");
    if (world_->before_block) world_->before_block();
    const Copies& last = open_.at(request.handles.back());
    SimulatedKernel& kernel = world_->kernels.at(last.name);
    const bool counted = request.references;
    const auto nth = counted ? world_->blocks_of[{last.name, request.scrub_bytes > 0}]++ : 0;
    if (kernel.hangs) {
      world_->now_seconds += 120;
      return die("time limit");
    }
    if (counted && kernel.crashes > 0 && nth >= kernel.crash_from_block) {
      --kernel.crashes;
      return die("worker ended: signal 11");
    }
    world_->blocks.push_back(
        {process_, last.name, last.count, request.scrub_bytes, request.references});
    return BlockOutcome(timed(request, last, nth));
  }

  Status close(Handle handle) override {
    if (dead_) return fail(Code::Runtime, "the worker is dead");
    if (open_.erase(handle) == 1) --world_->open_handles;
    return {};
  }

 private:
  struct Copies {
    std::string name;
    std::int64_t count = 1;
    bool distinct = false;
    double tail_ns = 0;
    std::int64_t executed = 1;
  };

  BlockOutcome die(const char* reason) {
    dead_ = true;
    return table::Failed{reason};
  }

  double true_ns(const Copies& copies, bool scrubbed) const {
    const SimulatedKernel& kernel = world_->kernels.at(copies.name);
    const auto count = static_cast<double>(copies.executed);
    const double call_ns = world_->call_ns + copies.tail_ns;
    if (!scrubbed) return call_ns + count * kernel.hot_ns;
    // One copy's weights, or one weight shared by all copies, are cold once.
    const double cold_copies = copies.distinct ? count : 1;
    return call_ns + kernel.first_copy_ns + cold_copies * kernel.cold_ns +
           (count - cold_copies) * kernel.hot_ns;
  }

  BlockSamples timed(const BlockRequest& request, const Copies& last, int nth) {
    const bool scrubbed = request.scrub_bytes > 0;
    base::Random block_luck(base::mix_seed(base::hash64(last.name, world_->seed),
                                           static_cast<std::uint64_t>(2 * nth + scrubbed)));
    const double luck = std::exp(world_->block_noise * block_luck.normal());
    const double scrub_ns = static_cast<double>(request.scrub_bytes) / 20;
    BlockSamples samples;
    samples.other_load = world_->other_load;
    samples.virtual_time = world_->virtual_time;
    samples.ns.resize(request.handles.size());
    const double rho = world_->autocorrelation;
    double spent_ns = 0;
    for (std::int64_t round = -request.warmup_rounds;; ++round) {
      for (std::size_t i = 0; i < request.handles.size(); ++i) {
        noise_ = rho * noise_ + std::sqrt(1 - rho * rho) * random_.normal();
        const double ns = true_ns(open_.at(request.handles[i]), scrubbed) * luck *
                          std::exp(world_->call_noise * noise_);
        world_->now_seconds += (ns + scrub_ns) * 1e-9;
        if (round < 0) continue;
        spent_ns += ns + scrub_ns;
        samples.ns[i].push_back(ns);
      }
      const auto done = static_cast<std::int64_t>(samples.ns.back().size());
      const bool over = spent_ns >= static_cast<double>(request.duration.count());
      if ((over && done >= request.min_rounds) || done >= request.max_rounds) break;
    }
    if (request.references) {
      samples.reference_compute_ns =
          world_->kernels.at(last.name).reference_compute_ns.value_or(world_->reference_compute_ns);
      samples.reference_memory_ns = 300e3;
    }
    samples.switches = world_->switches_per_block;
    samples.steal_ticks = world_->steal_per_block;
    if (world_->cores.issue_ns > 0) look(request, samples);
    if (world_->steal_per_block > 0) samples.other_load = world_->other_load.value_or(0) + 1;
    return samples;
  }

  /// As oplat_probe_apart, for cores that nobody shares.
  void look(const BlockRequest& request, BlockSamples& samples) const {
    samples.best_cores = request.best_cores;
    Cores& best = samples.best_cores;
    if (best.issue_ns == 0 || world_->cores.issue_ns < best.issue_ns)
      best.issue_ns = world_->cores.issue_ns;
    if (best.handoff_ns == 0 || world_->cores.handoff_ns < best.handoff_ns)
      best.handoff_ns = world_->cores.handoff_ns;
    if (world_->cores.handoff_ns > 2.5 * best.handoff_ns)
      samples.steal_ticks = table::kTicksNotApart;
  }

  SimulatedWorld* world_;
  std::int64_t process_;
  base::Random random_;
  double noise_ = 0;
  bool dead_ = false;
  Handle last_handle_ = 0;
  std::map<Handle, Copies> open_;
};

}  // namespace oplat::measure
