// SPDX-License-Identifier: Apache-2.0
/// The timed block: rounds [T1, Tk] of one call with 1 copy and one with k copies of a kernel.
///
/// The problem: on a shared machine a call takes longer whenever another tenant uses the core, the
/// memory or the caches, and most of that is invisible to counters. A plain loop over calls
/// measures the neighbours, too. So one block is short (0.05 s, docs/adr/0022), and the campaign
/// takes several of them, in different passes and processes. Before and after each call a probe of
/// 10 us tests whether the core is exclusive. Rounds of a shared core do not count, and the block
/// is prolonged until enough others do (docs/adr/0016). Settings that use all cores wait until the
/// cores are distinct (docs/adr/0021). Reference kernels run in each block, to follow slow drift.
/// Cold blocks read a scrub buffer before each call, outside the timer.
///
/// The loop returns all times that count. The client takes their lower quartile (docs/adr/0017) and
/// the slope (Tk - T1) / (k - 1), which cancels the cost of a call.
#include "runtimes/block_loop.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <optional>
#include <thread>

#include "runtimes/messages.hpp"
#include "runtimes/probe.h"
#include "runtimes/rounds_alone.hpp"

namespace oplat::runtimes {
namespace {

using measure::BlockOutcome;
using measure::BlockRequest;
using measure::BlockSamples;

/// The references are there to follow slow drift, for which a few are enough.
constexpr std::int32_t kComputeRepeats = 5;
constexpr std::int32_t kMemoryRepeats = 3;
// Several times what a sleeping thread takes to be on its CPU again.
constexpr std::int64_t kWakeNs = 200'000;
constexpr std::int64_t kMinLoadNs = 50'000'000;
// Between two looks whether the cores are apart; each takes some 0.3 ms.
constexpr std::chrono::milliseconds kApartEvery{20};
// Of the counters' ticks, where the system does not say: 100 a second.
constexpr double kTickNs = 1e7;
// Looks within a call take half a percent of it.
constexpr double kWatchedNs = 3e6;

std::optional<table::Failed> time_references(BlockSamples& samples) {
  double compute_ns = 0;
  double memory_ns = 0;
  int error = oplat_probe_reference_compute(kComputeRepeats, &compute_ns);
  if (error == 0) error = oplat_probe_reference_memory(kMemoryRepeats, &memory_ns);
  if (error != 0) return table::Failed{fmt::format("reference kernels: {}", std::strerror(error))};
  samples.reference_compute_ns = compute_ns;
  samples.reference_memory_ns = memory_ns;
  return std::nullopt;
}

/// One call of one handle, as a number that can be a time.
Result<double> run_once(Worker& worker, measure::Handle handle) {
  OPLAT_TRY(ns, worker.run(handle));
  if (!std::isfinite(ns) || ns < 0)
    return fail(Code::Runtime, "the runtime gave a time of {} ns", ns);
  return ns;
}

/// Looks at the core in a round.
struct Looks {
  std::int64_t count = 0;
  std::int64_t shared = 0;

  void add(bool is_shared) {
    ++count;
    shared += is_shared ? 1 : 0;
  }
  [[nodiscard]] double share() const {
    return count == 0 ? 0 : static_cast<double>(shared) / static_cast<double>(count);
  }
};

class BlockLoop {
 public:
  BlockLoop(Worker& worker, const BlockRequest& request)
      : worker_(worker), request_(request), rounds_(request) {
    samples_.ns.resize(request.handles.size());
    const auto handles = static_cast<std::int64_t>(request.handles.size());
    max_rounds_ = std::min(request.max_rounds, kMaxSamples / handles);
    if (worker.virtual_time())
      max_rounds_ = std::min(max_rounds_, std::max(kVirtualRounds, request.min_rounds));
  }

  BlockOutcome run() {
    const bool real = !worker_.virtual_time();
    if (real) wait_until_apart();
    // A neighbour may stay for longer than this process lasts, which then never sees its core
    // alone.
    if (real && request_.core_exclusive) oplat_probe_alone_best(request_.best_cores.issue_ns);
    if (request_.references && real) {
      if (auto failed = time_references(samples_)) return *failed;
    }
    for (std::int64_t round = 0; round < request_.warmup_rounds; ++round) {
      for (const auto handle : request_.handles) {
        if (auto ns = run_once(worker_, handle); !ns) return table::Failed{ns.error().message};
      }
    }
    // The first scrub allocates its buffer, which is not part of the block.
    if (real && !scrub()) return table::Failed{scrub_error_};
    // Recorded times carry none of what happens to the machine while they are replayed.
    samples_.virtual_time = !real;
    if (auto failed = real ? timed_and_counted() : timed_rounds(false)) return *failed;
    return std::move(samples_);
  }

 private:
  std::optional<table::Failed> timed_and_counted() {
    oplat_probe_counters before{};
    oplat_probe_counters after{};
    oplat_probe_read_counters(&before);
    const std::int64_t begin_ns = oplat_probe_now_ns();
    if (auto failed = timed_rounds(true)) return failed;
    if (request_.core_exclusive)
      samples_.best_cores.issue_ns = oplat_probe_alone_best(request_.best_cores.issue_ns);
    oplat_probe_read_counters(&after);
    const std::int64_t elapsed_ns = oplat_probe_now_ns() - begin_ns;
    const auto rounds = std::max(1.0, static_cast<double>(samples_.ns.front().size()));
    const double shared = rounds_.keep(samples_);
    samples_.faults = after.faults - before.faults;
    // Of the rounds that count: the others are not held against the block.
    const auto switches =
        static_cast<double>(after.involuntary_switches - before.involuntary_switches);
    samples_.switches =
        std::llround(switches * static_cast<double>(samples_.ns.front().size()) / rounds);
    apart_ = apart_ && is_apart();
    samples_.steal_ticks =
        static_cast<std::int64_t>(std::ceil(shared * static_cast<double>(elapsed_ns) / kTickNs));
    if (!apart_) samples_.steal_ticks = std::max(samples_.steal_ticks, table::kTicksNotApart);
    if (before.steal_known == 0 || after.steal_known == 0) return std::nullopt;
    samples_.steal_ticks += std::max<std::int64_t>(0, after.steal_ticks - before.steal_ticks);
    // The system counts in ticks of some milliseconds: over a shorter time the difference says
    // nothing.
    if (elapsed_ns < kMinLoadNs) return std::nullopt;
    const std::int64_t others_ns =
        (after.busy_ns - before.busy_ns) - (after.own_cpu_ns - before.own_cpu_ns);
    samples_.other_load =
        shared + std::max(0.0, static_cast<double>(others_ns) / static_cast<double>(elapsed_ns));
    return std::nullopt;
  }

  bool is_apart() {
    if (request_.cores_distinct < 2) return true;
    oplat_probe_cores best{samples_.best_cores.issue_ns, samples_.best_cores.handoff_ns};
    const bool apart =
        oplat_probe_apart(static_cast<std::int32_t>(request_.cores_distinct), &best) == 1;
    samples_.best_cores = {best.issue_ns, best.handoff_ns};
    return apart;
  }

  void wait_until_apart() {
    samples_.best_cores = request_.best_cores;
    const std::int64_t begin_ns = oplat_probe_now_ns();
    apart_ = is_apart();
    while (!apart_ && samples_.waited_ns < request_.max_wait.count()) {
      std::this_thread::sleep_for(kApartEvery);
      samples_.waited_ns = oplat_probe_now_ns() - begin_ns;
      apart_ = is_apart();
    }
  }

  std::optional<table::Failed> timed_rounds(bool real) {
    const bool look = real && request_.core_exclusive;
    std::vector<double> usual_ns(request_.handles.size());
    const std::int64_t begin_ns = oplat_probe_now_ns();
    double elapsed_ns = 0;
    for (std::int64_t round = 0; round < max_rounds_ && !rounds_.enough(elapsed_ns); ++round) {
      Looks looks;
      for (std::size_t i = 0; i < request_.handles.size(); ++i) {
        if (real && !scrub()) return table::Failed{scrub_error_};
        if (auto failed = real ? wake() : std::nullopt) return failed;
        auto ns = look ? watched_run(request_.handles[i], usual_ns[i], looks)
                       : run_once(worker_, request_.handles[i]);
        if (!ns) return table::Failed{ns.error().message};
        samples_.ns[i].push_back(*ns);
        usual_ns[i] = *ns;
        if (!real) elapsed_ns += *ns;
      }
      rounds_.add(looks.share());
      if (real) elapsed_ns = static_cast<double>(oplat_probe_now_ns() - begin_ns);
    }
    return std::nullopt;
  }

  /// A call with looks at the core before and after it and, where the last one was long, within.
  Result<double> watched_run(measure::Handle handle, double usual_ns, Looks& looks) {
    looks.add(oplat_probe_alone() == 0);
    const bool within = usual_ns >= kWatchedNs && oplat_probe_watch_begin() == 0;
    auto ns = run_once(worker_, handle);
    if (within) {
      oplat_probe_watch watch{};
      oplat_probe_watch_end(&watch);
      looks.count += watch.looks;
      looks.shared += watch.shared;
      if (ns) *ns = std::max(0.0, *ns - static_cast<double>(watch.own_ns));
    }
    looks.add(oplat_probe_alone() == 0);
    return ns;
  }

  std::optional<table::Failed> wake() {
    if (!request_.wake || request_.scrub_bytes == 0) return std::nullopt;
    const std::int64_t begin_ns = oplat_probe_now_ns();
    do {
      if (auto ns = run_once(worker_, *request_.wake); !ns)
        return table::Failed{ns.error().message};
    } while (oplat_probe_now_ns() - begin_ns < kWakeNs);
    return std::nullopt;
  }

  bool scrub() {
    if (request_.scrub_bytes == 0) return true;
    const int error =
        oplat_probe_scrub(request_.scrub_bytes, static_cast<std::int32_t>(request_.scrub_threads));
    if (error != 0)
      scrub_error_ =
          fmt::format("scrub of {} bytes: {}", request_.scrub_bytes, std::strerror(error));
    return error == 0;
  }

  Worker& worker_;
  const BlockRequest& request_;
  BlockSamples samples_;
  std::int64_t max_rounds_ = 0;
  RoundsAlone rounds_;
  std::string scrub_error_;
  bool apart_ = true;  // as far as was looked
};

}  // namespace

Result<BlockOutcome> run_block(Worker& worker, const BlockRequest& request) {
  if (request.handles.empty()) return fail(Code::Usage, "block: no handles");
  return BlockLoop(worker, request).run();
}

}  // namespace oplat::runtimes
