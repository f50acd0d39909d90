// SPDX-License-Identifier: Apache-2.0
/// Calibration of k, T1 and Tk, and the slope of one block.
///
/// The problem: a kernel takes microseconds, a call of a runtime about one more, and a timer has
/// its own cost. Timing single calls would add both to every row, and a sum over the rows of a
/// model would hold them n times. So a block times whole models with 1 and with k copies of the
/// kernel. The slope (Tk - T1) / (k - 1) cancels what both have in common. k is chosen such that Tk
/// - T1 is well above the timer's noise and Tk short enough to be repeated (calibration.hpp). A
/// kernel too long for two copies is one call less the empty call.
///
/// Example: T1 = 21 us and T16 = 321 us give 300 / 15 = 20 us; the remaining 1 us is the call.
#include "measure/kernel_block.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

#include "base/random.hpp"
#include "base/stats.hpp"
#include "base/units.hpp"
#include "ir/catalogue.hpp"
#include "ir/key.hpp"
#include "ir/parameters.hpp"
#include "ir/value_costs.hpp"
#include "ir/work.hpp"
#include "measure/block_reply.hpp"
#include "measure/statistics.hpp"
#include "measure/stopping.hpp"

namespace oplat::measure {
namespace {

using std::chrono::nanoseconds;

constexpr nanoseconds kBlock{50'000'000};
// The scrub of a cold block takes milliseconds a round.
constexpr nanoseconds kColdBlock{100'000'000};
constexpr nanoseconds kCalibration{10'000'000};
/// Of a brief block, next to the others.
constexpr std::int64_t kBriefPart = 2;
constexpr std::int64_t kMinRounds = 5;
constexpr double kWarmupNs = 25e6;
constexpr std::int64_t kMaxWarmupRounds = 5;
constexpr int kEmptyCallBlocks = 2;
constexpr std::int64_t kEmptyCallCopies = 64;
constexpr std::size_t kMaxTopologyText = 32;

/// Why no value came: the three refusals of a kernel, without the value.
using BlockRefusal = std::variant<table::Unsupported, table::Skipped, table::Failed>;

KernelBlockOutcome as_outcome(BlockRefusal refusal) {
  return std::visit([](auto& reason) -> KernelBlockOutcome { return std::move(reason); }, refusal);
}

using Handled = std::variant<OpenHandle, BlockRefusal>;

/// Results that lie around in a model of copies, in bytes: a quarter of a small second level.
constexpr double kResultsAround = 256.0 * 1024;

/// OpenRequest::reads of `copies` copies. Where results are large, they must not all stay: after a
/// scrub each copy would write to a place that is cold, and the row's state is that of its weights.
/// The reads cost the slope nothing (docs/adr/0072).
std::int64_t reads_of(const KernelBlockRequest& request, std::int64_t copies) {
  const auto key = ir::parse(request.key);
  if (copies < 2 || !key) return 0;
  const double bytes = ir::work(*key, ir::Catalogue::own()).bytes_out;
  return bytes * static_cast<double>(copies) > kResultsAround ? copies : 0;
}

Result<Handled> open_copies(KernelRunner& runner, const KernelBlockRequest& request,
                            std::int64_t copies, std::int64_t reads,
                            bool results_as_outputs = false) {
  OpenRequest open;
  open.key = request.key;
  open.setting = request.setting;
  open.copies = copies;
  open.topology = copies == 1 ? Topology::Single : Topology::Auto;
  open.distinct_weights = copies > 1 && request.state.kind != CacheState::Hot;
  open.seed = request.seed;
  open.results_as_outputs = results_as_outputs;
  open.reads = reads;
  OPLAT_TRY(outcome, runner.open(open));
  if (auto* opened = std::get_if<Opened>(&outcome))
    return Handled(OpenHandle(runner, std::move(*opened)));
  if (auto* unsupported = std::get_if<table::Unsupported>(&outcome))
    return Handled(BlockRefusal(std::move(*unsupported)));
  if (auto* skipped = std::get_if<table::Skipped>(&outcome))
    return Handled(BlockRefusal(std::move(*skipped)));
  return Handled(BlockRefusal(std::move(std::get<table::Failed>(outcome))));
}

/// Of the weights of the waking copy: others than those that are to be cold.
constexpr std::uint64_t kWakingSeed = 0x77616b65;

/// A further copy, which stands ready where a scrub would let the pool of a kernel on several
/// threads fall asleep: it wakes as many threads as the kernel itself takes. std::nullopt if there
/// is no such need or no memory.
Result<std::optional<OpenHandle>> open_waker(KernelRunner& runner,
                                             const KernelBlockRequest& request) {
  if (request.setting.threads < 2 || request.state.scrub_bytes == 0)
    return std::optional<OpenHandle>();
  KernelBlockRequest waking = request;
  waking.seed = base::mix_seed(request.seed, kWakingSeed);
  OPLAT_TRY(handled, open_copies(runner, waking, 1, 0));
  if (auto* handle = std::get_if<OpenHandle>(&handled)) return std::optional(std::move(*handle));
  return std::optional<OpenHandle>();
}

std::int64_t part_of(const KernelBlockRequest& request) { return request.brief ? kBriefPart : 1; }

BlockRequest block_of(const KernelBlockRequest& request, std::vector<Handle> handles,
                      double round_ns, const std::optional<OpenHandle>& waker = std::nullopt) {
  const State& state = request.state;
  BlockRequest block;
  block.handles = std::move(handles);
  block.duration = (state.kind == CacheState::Cold ? kColdBlock : kBlock) / part_of(request);
  block.min_rounds = kMinRounds;
  block.scrub_bytes = state.scrub_bytes;
  block.scrub_threads = request.setting.threads;
  block.core_exclusive = request.setting.threads == 1;
  block.cores_distinct = request.setting.threads;
  if (waker) block.wake = waker->id();
  // After a scrub nothing that a warm-up brought near is left, but for code and the runtime's own
  // state.
  const double warmup_ns = kWarmupNs / static_cast<double>(part_of(request));
  const double rounds = state.scrub_bytes > 0 ? 1 : warmup_ns / std::max(round_ns, 1.0);
  block.warmup_rounds =
      static_cast<std::int64_t>(std::clamp(rounds, 1.0, static_cast<double>(kMaxWarmupRounds)));
  return block;
}

/// One block over T1 and, for more than one copy, Tk.
struct Timed {
  BlockSamples samples;
  double one_ns = 0;  ///< lower_quartile_ns() of T1
  double k_ns = 0;    ///< of Tk; T1's where there is one copy
};
using TimedOutcome = std::variant<Timed, table::Failed>;

/// None of `samples` may be empty, as checked_block() sees to.
Timed timed_of(BlockSamples samples) {
  Timed timed;
  timed.one_ns = *lower_quartile_ns(samples.ns.front());
  timed.k_ns = *lower_quartile_ns(samples.ns.back());
  timed.samples = std::move(samples);
  return timed;
}

Result<TimedOutcome> timed_block(KernelRunner& runner, const BlockRequest& block) {
  OPLAT_TRY(outcome, checked_block(runner, block));
  if (auto* failed = std::get_if<table::Failed>(&outcome)) return TimedOutcome(std::move(*failed));
  return TimedOutcome(timed_of(std::move(std::get<BlockSamples>(outcome))));
}

/// Whether the slope depends on which of a few rounds other processes disturbed. Where T1 alone was
/// disturbed, two copies and five rounds gave 1.75 ms for 2.85 (docs/adr/0106).
bool is_scattered(const Timed& timed, std::int64_t copies, double value) {
  constexpr std::size_t kFewRounds = 12;
  constexpr double kMaxScatter = 0.15;
  const auto median_above_min = [](const std::vector<double>& ns) {
    return *base::quantile(ns, 0.5) - *std::min_element(ns.begin(), ns.end());
  };
  const auto& samples = timed.samples;
  if (samples.virtual_time || samples.ns.front().size() >= kFewRounds) return false;
  const double scatter_ns =
      std::hypot(median_above_min(samples.ns.front()), median_above_min(samples.ns.back()));
  return scatter_ns > kMaxScatter * std::abs(value) * static_cast<double>(copies - 1);
}

/// The rounds of two blocks of the same handles as one, with what block_facts() says of both:
/// references are those of the second block if it has any, the load is the larger one.
BlockSamples joined(BlockSamples first, BlockSamples second) {
  for (std::size_t i = 0; i < second.ns.size(); ++i)
    second.ns[i].insert(second.ns[i].end(), first.ns[i].begin(), first.ns[i].end());
  if (!second.reference_compute_ns) second.reference_compute_ns = first.reference_compute_ns;
  if (!second.reference_memory_ns) second.reference_memory_ns = first.reference_memory_ns;
  second.switches += first.switches;
  second.steal_ticks += first.steal_ticks;
  if (first.other_load)
    second.other_load = std::max(second.other_load.value_or(0), *first.other_load);
  return second;
}

KernelBlock finished(const Timed& timed, double value_ns, std::int64_t copies,
                     const std::string& topology) {
  KernelBlock result;
  result.block = block_facts(timed.samples);
  result.block.value_ns = value_ns;
  result.method.copies = copies;
  result.method.topology = topology.substr(0, kMaxTopologyText);
  return result;
}

KernelBlockOutcome single_value(const Timed& timed, const std::optional<double>& empty_call_ns) {
  const double value = timed.one_ns - empty_call_ns.value_or(0);
  if (!(value > 0)) {
    return table::Failed{fmt::format(
        "a call takes {} and an empty call {}, which leaves no time for the kernel",
        base::duration_text(timed.one_ns), base::duration_text(empty_call_ns.value_or(0)))};
  }
  KernelBlock result = finished(timed, value, 1, "single");
  if (!empty_call_ns) result.method.flags.emplace_back("empty_call_unknown");
  return result;
}

/// Time of one call, from a short block, to choose k by.
Result<TimedOutcome> estimate_call(KernelRunner& runner, const KernelBlockRequest& request,
                                   Handle one) {
  BlockRequest block;
  block.handles = {one};
  block.duration = kCalibration / part_of(request);
  block.min_rounds = 1;
  block.warmup_rounds = 1;
  block.scrub_bytes = request.state.scrub_bytes;
  block.scrub_threads = request.setting.threads;
  block.references = false;
  block.core_exclusive = false;
  return timed_block(runner, block);
}

std::string figures(const Timed& timed, std::int64_t copies) {
  return fmt::format("one copy {}, {} copies {}, {} rounds", base::duration_text(timed.one_ns),
                     copies, base::duration_text(timed.k_ns), timed.samples.ns.front().size());
}

/// The number of copies to try instead, where a slope is not positive or rests on too small a
/// difference.
std::optional<std::int64_t> next_copies(const KernelBlockRequest& request, const Timed& timed,
                                        std::int64_t copies, double value, const CopyRule& rule) {
  const CacheState kind = request.state.kind;
  if (!(value > 0)) return more_copies(copies, kind, rule);
  // T1 held more fixed cost than was known when k was chosen; the slope, unlike T1, does not
  // contain it.
  const bool small =
      kind == CacheState::Hot && timed.k_ns - timed.one_ns < rule.min_difference_ns / 2;
  if (request.copies || !small) return std::nullopt;
  const std::int64_t wanted = choose_copies(value, kind, rule);
  return wanted > copies ? std::optional(wanted) : std::nullopt;
}

/// What T1 and Tk have in common is a call, reads of results and what a first copy takes longer. In
/// 1,145 blocks on a Zen 5 that was up to half of Tk, a read 0.12 of an empty call in the median
/// and 0.35 at most. Where it is nearly all of Tk, and as long as many calls, one copy holds the
/// work of k, as where a runtime duplicates nodes, and the slope is none of a kernel.
constexpr double kMaxShareInCommon = 0.75;
constexpr double kMaxCallsInCommon = 50;
constexpr double kMaxCallsOfRead = 0.4;
constexpr double kMinCallNs = 1000;

std::optional<std::string> too_much_in_common(const KernelBlockRequest& request, const Timed& timed,
                                              std::int64_t copies, std::int64_t reads,
                                              double value) {
  const double common_ns = timed.one_ns - value;
  const double calls = kMaxCallsInCommon + kMaxCallsOfRead * static_cast<double>(reads);
  if (common_ns < kMaxShareInCommon * timed.k_ns ||
      common_ns < calls * std::max(request.empty_call_ns.value_or(0), kMinCallNs))
    return std::nullopt;
  return fmt::format(
      "{}: they have {} in common, so that one copy does more than its own work, or was disturbed",
      figures(timed, copies), base::duration_text(common_ns));
}

/// Copies for a slope. A hot chain gets more than were asked for where its kernel is long, unless
/// memory forbids it.
Result<Handled> open_many(KernelRunner& runner, const KernelBlockRequest& request,
                          std::int64_t& copies, double kernel_ns, const CopyRule& rule) {
  OPLAT_TRY(handled, open_copies(runner, request, copies, reads_of(request, copies)));
  const auto* opened = std::get_if<OpenHandle>(&handled);
  const bool is_free = !request.copies && request.state.kind == CacheState::Hot;
  if (!is_free || opened == nullptr || opened->topology() != "chain") return std::move(handled);
  const std::int64_t wanted = choose_chain_copies(kernel_ns, rule);
  if (wanted <= copies) return std::move(handled);
  OPLAT_TRY(longer, open_copies(runner, request, wanted, reads_of(request, wanted)));
  if (!std::holds_alternative<OpenHandle>(longer)) return std::move(handled);
  copies = wanted;
  return std::move(longer);
}

/// Of longer kernels, what is not known of the slope is too much of a call.
constexpr double kMaxForACallNs = 1000;

/// Whether the next copy takes all that a copy gives: then reads add nothing.
bool hands_all_on(const KernelBlockRequest& request, const OpenHandle& many) {
  const auto key = ir::parse(request.key);
  return key && many.topology() == "chain" && key->results.size() == 1;
}

/// One copy, with as many reads of results as its k copies have.
struct One {
  OpenHandle handle;
  std::int64_t reads = 0;
};

/// Tk next to T1, a second time with more copies where the first gave no usable slope.
Result<KernelBlockOutcome> slope_block(KernelRunner& runner, const KernelBlockRequest& request,
                                       One one, double one_ns,
                                       const std::optional<OpenHandle>& waker, std::int64_t copies,
                                       const CopyRule& rule) {
  std::string before;
  const double kernel_ns = request.expected_ns.value_or(one_ns);
  for (int attempt = 0;; ++attempt) {
    OPLAT_TRY(handled, open_many(runner, request, copies, kernel_ns, rule));
    if (auto* refusal = std::get_if<BlockRefusal>(&handled)) {
      // Copies may need more memory than the worker grants; fewer give a noisier slope instead of
      // none.
      if (std::holds_alternative<table::Skipped>(*refusal) && attempt == 0 && copies > 2) {
        copies = std::max<std::int64_t>(2, copies / 4);
        continue;
      }
      return as_outcome(std::move(*refusal));
    }
    const auto& many = std::get<OpenHandle>(handled);
    const std::int64_t reads = reads_of(request, copies);
    if (reads != one.reads && !hands_all_on(request, many)) {
      // Not both at a time: a kernel may hold much memory.
      { const OpenHandle closed = std::move(one.handle); }
      OPLAT_TRY(balanced, open_copies(runner, request, 1, reads));
      if (auto* refusal = std::get_if<BlockRefusal>(&balanced))
        return as_outcome(std::move(*refusal));
      one = {std::move(std::get<OpenHandle>(balanced)), reads};
    }
    const double round_ns = one_ns + kernel_ns * static_cast<double>(copies);
    const BlockRequest timing = block_of(request, {one.handle.id(), many.id()}, round_ns, waker);
    OPLAT_TRY(outcome, timed_block(runner, timing));
    if (auto* failed = std::get_if<table::Failed>(&outcome))
      return KernelBlockOutcome(std::move(*failed));
    Timed& timed = std::get<Timed>(outcome);
    double value = slope(timed.one_ns, timed.k_ns, copies);
    if (is_scattered(timed, copies, value)) {
      // If the second block fails, the first one still has a value.
      OPLAT_TRY(again, timed_block(runner, timing));
      if (auto* second = std::get_if<Timed>(&again)) {
        timed = timed_of(joined(std::move(timed.samples), std::move(second->samples)));
        value = slope(timed.one_ns, timed.k_ns, copies);
      }
    }
    const std::optional<std::int64_t> next =
        attempt == 0 ? next_copies(request, timed, copies, value, rule) : std::nullopt;
    if (next) {
      before = figures(timed, copies);
      copies = *next;
      continue;
    }
    if (auto reason = too_much_in_common(request, timed, copies, one.reads, value))
      return KernelBlockOutcome(table::Failed{std::move(*reason)});
    if (value > 0) {
      KernelBlock result = finished(timed, value, copies, many.topology());
      if (value <= kMaxForACallNs && one.reads == 0) result.call_ns = timed.one_ns - value;
      return KernelBlockOutcome(std::move(result));
    }
    return KernelBlockOutcome(
        table::Failed{fmt::format("no positive slope: {}{}{}", figures(timed, copies),
                                  before.empty() ? "" : "; before that ", before)});
  }
}

/// Bytes of the results that a copy of a chain does not hand on, which stay until the end of a run.
double bytes_left_over(ir::Key key) {
  if (key.results.empty()) return 0;
  key.results.erase(key.results.begin());
  return ir::work(key, ir::Catalogue::own()).bytes_out;
}

/// What is every copy's own must fit into a second-level cache together, or a hot kernel would be
/// timed cold: parameters in attributes, while weights in operands are shared; and of a chain, for
/// which more copies than the slope needs are only better, all results but the one handed on (a
/// GroupQueryAttention with caches of 1 MiB took 1.5 times as long in sixteen copies as in one).
///
/// A kernel that is quicker on repeated data (docs/adr/0050) is one call less the empty call: each
/// call has other data, while copies in one call would see the same ones in every call. A short one
/// drowns in the call. It gets copies that have operands of their own, and many.
CopyRule rule_for(const KernelBlockRequest& request, double kernel_ns, const CopyRule& rule) {
  constexpr double kHotBytes = 768.0 * 1024;
  constexpr double kLongForACallNs = 20e3;
  constexpr std::int64_t kVariedCopies = 64;
  if (request.state.kind != CacheState::Hot) return rule;
  const auto key = ir::parse(request.key);
  if (!key) return rule;
  const auto max_of = [](double bytes) {
    return static_cast<std::int64_t>(bytes > 0 ? std::clamp(kHotBytes / bytes, 2.0, 1048576.0)
                                               : 1048576.0);
  };
  const double parameters = ir::parameter_bytes(key->attributes);
  CopyRule limited = rule;
  limited.max_copies = std::min(limited.max_copies, max_of(parameters));
  limited.chain_copies = std::min(limited.chain_copies, max_of(parameters + bytes_left_over(*key)));
  if (!ir::is_quicker_on_repeated_data(*key)) return limited;
  if (kernel_ns > kLongForACallNs) {
    limited.max_copies = 1;
    return limited;
  }
  const double own = parameters + ir::work(*key, ir::Catalogue::own()).bytes_in;
  limited.max_copies = std::min(limited.max_copies, max_of(own));
  limited.min_copies = std::min(kVariedCopies, limited.max_copies);
  return limited;
}

}  // namespace

Result<KernelBlockOutcome> measure_kernel_block(KernelRunner& runner,
                                                const KernelBlockRequest& request,
                                                const CopyRule& general_rule) {
  std::int64_t copies = request.copies.value_or(0);
  if (copies < 1) copies = request.state.copies;
  // What is not known yet is opened anew when it is.
  const std::int64_t reads = reads_of(request, copies);
  OPLAT_TRY(first, open_copies(runner, request, 1, reads));
  if (auto* refusal = std::get_if<BlockRefusal>(&first)) return as_outcome(std::move(*refusal));
  One one{std::move(std::get<OpenHandle>(first)), reads};
  OPLAT_TRY(waker, open_waker(runner, request));
  const double empty_ns = request.empty_call_ns.value_or(0);

  double one_ns = empty_ns + request.expected_ns.value_or(0);
  if (copies < 1) {
    OPLAT_TRY(estimate, estimate_call(runner, request, one.handle.id()));
    if (auto* failed = std::get_if<table::Failed>(&estimate))
      return KernelBlockOutcome(std::move(*failed));
    one_ns = std::get<Timed>(estimate).one_ns;
  }
  const double kernel_ns = std::max(one_ns - empty_ns, 0.0);
  const CopyRule rule = rule_for(request, kernel_ns, general_rule);
  if (copies < 1) copies = choose_copies(kernel_ns, request.state.kind, rule);
  if (copies > 1) return slope_block(runner, request, std::move(one), one_ns, waker, copies, rule);

  OPLAT_TRY(outcome, timed_block(runner, block_of(request, {one.handle.id()}, one_ns, waker)));
  if (auto* failed = std::get_if<table::Failed>(&outcome))
    return KernelBlockOutcome(std::move(*failed));
  return single_value(std::get<Timed>(outcome), request.empty_call_ns);
}

Result<EmptyCall> measure_empty_call(KernelRunner& runner, const std::string& key,
                                     const table::Setting& setting, const EmptyCall& before) {
  KernelBlockRequest request;
  request.key = key;
  request.setting = setting;
  // A node that reads the kernel's result would be taken for a part of every model's call.
  OPLAT_TRY(first, open_copies(runner, request, 1, 0, true));
  OPLAT_TRY(second, open_copies(runner, request, kEmptyCallCopies, 0, true));
  const auto* one = std::get_if<OpenHandle>(&first);
  const auto* many = std::get_if<OpenHandle>(&second);
  if (one == nullptr || many == nullptr) return EmptyCall();
  // Every prediction of the campaign holds it, and a block that something disturbs gives twice the
  // time: the fastest block counts, of each handle by itself, or a slope could be off either way.
  EmptyCall empty = before;
  double fastest_ns = std::numeric_limits<double>::infinity();  // of this timing
  for (int block = 0; block < kEmptyCallBlocks; ++block) {
    OPLAT_TRY(outcome, timed_block(runner, block_of(request, {one->id(), many->id()}, 0)));
    const auto* timed = std::get_if<Timed>(&outcome);
    if (timed == nullptr) return EmptyCall();
    if (timed->one_ns < fastest_ns) {
      fastest_ns = timed->one_ns;
      empty.reference_compute_ns = timed->samples.reference_compute_ns;
      empty.reference_memory_ns = timed->samples.reference_memory_ns;
    }
    const BlockSamples& samples = timed->samples;
    if (!table::is_heavily_disturbed(samples.steal_ticks, samples.other_load)) {
      const auto& reference_ns = samples.reference_compute_ns;
      empty.alone = true;
      if (reference_ns)
        empty.alone_compute_ns =
            std::min(*reference_ns, empty.alone_compute_ns.value_or(*reference_ns));
    }
    empty.one_ns = std::min(empty.one_ns, timed->one_ns);
    empty.many_ns = std::min(empty.many_ns, timed->k_ns);
  }
  const double kernel_ns = slope(empty.one_ns, empty.many_ns, kEmptyCallCopies);
  const double call_ns = empty.one_ns - std::max(kernel_ns, 0.0);
  empty.ns = call_ns > 0 ? std::optional(call_ns) : std::nullopt;
  return empty;
}

}  // namespace oplat::measure
