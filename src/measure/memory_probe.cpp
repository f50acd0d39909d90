// SPDX-License-Identifier: Apache-2.0
/// Pools, passes and quartiles.
///
/// Another tenant of the machine takes cache, bandwidth or the core for seconds. So every pool is
/// looked at in every pass, and its cost is the lower quartile over passes: a disturbed moment
/// bends no part of the curve alone. The upper quartile shows what the disturbance does.
///
/// The first pool lies inside the core's own cache, and the last one far outside any cache. The
/// reported sizes only say where that is. Where the curve rises, pools of half the distance are
/// added after some passes, since a capacity is only as sure as the distance of its pools.
///
/// Then a pool that the last level holds is left alone for a while, again and again: what others
/// bring in meanwhile shows in what its loads cost (docs/adr/0095). Others come and go, and a model
/// meets them on average, so that these costs are means, of logarithms as all along the ramps.
#include "measure/memory_probe.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "base/stats.hpp"
#include "base/units.hpp"
#include "measure/memory_levels.hpp"

namespace oplat::measure {
namespace {

constexpr std::int64_t kMib = std::int64_t{1} << 20;
constexpr std::int64_t kMinFirstPool = std::int64_t{64} << 10;
constexpr std::int64_t kAssumedFirstPool = std::int64_t{128} << 10;
constexpr std::int64_t kMaxFirstPool = 4 * kMib;
constexpr std::int64_t kLastLevels = 4;
constexpr std::int64_t kMinLastPool = 256 * kMib;
constexpr std::int64_t kMaxLastPool = 2048 * kMib;
/// Below this ratio of the last to the first pool no curve has levels.
constexpr std::int64_t kMinRange = 16;
constexpr double kStep = 1.4142135623730951;
constexpr std::int64_t kPageBytes = 4096;
/// Some 12 s on a virtual machine: other tenants' use of a cache comes and goes within 3 s
/// (docs/results/experiments-measuring.md#the-curve-that-does-not-repeat-adr-0051).
constexpr std::int64_t kMaxPasses = 48;
/// Passes after which pools are added where the curve rises.
constexpr std::int64_t kPassesBeforeFiner = 3;
/// After which the pool is mapped anew: in the core's own cache some pages collide, and where they
/// are does not change otherwise.
constexpr std::int64_t kPassesOfPlacement = 8;
constexpr double kQuartile = 0.25;
/// Of the time, for waits; pools have it too where there are none.
constexpr double kShareOfWaits = 0.15;
constexpr std::int64_t kMaxWaitPasses = 16;
/// A pass over waits takes a tenth of a second: with less left there is no use in beginning.
constexpr double kMinSecondsOfWaits = 0.6;
/// Fewer say little of a mean.
constexpr std::int64_t kMinWaitPasses = 4;
/// A use of a weight lies so far back in models of up to some ten ms; later ones have lost what
/// there was.
constexpr std::array<std::int64_t, 7> kWaitsNs = {0,         1'000'000,  2'000'000, 4'000'000,
                                                  8'000'000, 16'000'000, 32'000'000};
/// The pool of waits is out of the core's own cache and within the last level by this factor.
constexpr double kWellInside = 1.2;

/// Costs of one pool, one of each look.
struct Looks {
  std::vector<double> stream_ns, chase_ns;
};

double steady_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::int64_t whole_pages(double bytes) {
  return static_cast<std::int64_t>(bytes / static_cast<double>(kPageBytes)) * kPageBytes;
}

class MemoryProbe {
 public:
  MemoryProbe(const MemoryProbeRequest& request, const MemoryLooker& look)
      : request_(request), look_(look), started_(now()) {}

  Result<MeasuredMemoryOutcome> run();

 private:
  [[nodiscard]] double now() const { return request_.seconds ? request_.seconds() : steady_now(); }
  [[nodiscard]] double left_s() const { return request_.max_seconds - (now() - started_); }
  [[nodiscard]] bool time_over() const { return left_s() <= kept_share_ * request_.max_seconds; }
  /// The first pools, and how large the last one should be.
  void choose_pools(std::int64_t max_pool_bytes);
  /// nothing: go on.
  Result<std::optional<MeasuredMemoryOutcome>> pass();
  Result<std::optional<MeasuredMemoryOutcome>> look_at(std::int64_t pool_bytes);
  void add_pools();
  /// Passes until most of the time is over, and the hierarchy of them.
  Result<std::optional<MeasuredMemoryOutcome>> passes();
  /// false: the worker does not know waits, or could not.
  Result<bool> wait_pass(std::int64_t pool_bytes);
  /// Puts waits into the hierarchy, if it has a last level that holds a pool, and there is time.
  Status look_after_waits();
  void tell(std::int64_t pool_bytes, std::size_t done_in_pass) const;
  void tell_share(double share, std::int64_t pool_bytes) const;
  [[nodiscard]] table::MemoryHierarchy levels() const;

  const MemoryProbeRequest& request_;
  const MemoryLooker& look_;
  double started_;
  double kept_share_ = kShareOfWaits;  ///< of the time, that passes over pools leave
  std::map<std::int64_t, Looks> pools_;
  std::int64_t wait_passes_ = 0;                         ///< whole ones
  std::array<double, kWaitsNs.size()> waited_log_ns_{};  ///< sums of logarithms over them
  MeasuredMemory result_;
};

void MemoryProbe::choose_pools(std::int64_t max_pool_bytes) {
  const table::Device& device = request_.device;
  const std::int64_t first = device.l2_bytes > 0
                                 ? std::clamp(device.l2_bytes / 2, kMinFirstPool, kMaxFirstPool)
                                 : kAssumedFirstPool;
  // A reported size may be any number.
  const std::int64_t reported = std::clamp<std::int64_t>(device.llc_bytes, 0, kMaxLastPool);
  result_.wanted_pool_bytes = std::clamp(kLastLevels * reported, kMinLastPool, kMaxLastPool);
  result_.max_pool_bytes = std::min(result_.wanted_pool_bytes, max_pool_bytes);
  for (double bytes = static_cast<double>(first);
       bytes <= static_cast<double>(result_.max_pool_bytes); bytes *= kStep)
    pools_[whole_pages(bytes)];
}

table::MemoryHierarchy MemoryProbe::levels() const {
  std::vector<table::MemoryPoint> points;
  for (const auto& [bytes, looks] : pools_) {
    if (looks.chase_ns.empty()) continue;
    points.push_back({bytes, *base::quantile(looks.stream_ns, kQuartile),
                      *base::quantile(looks.chase_ns, kQuartile),
                      *base::quantile(looks.stream_ns, 1 - kQuartile),
                      *base::quantile(looks.chase_ns, 1 - kQuartile)});
  }
  return find_levels(points);
}

void MemoryProbe::tell(std::int64_t pool_bytes, std::size_t done_in_pass) const {
  if (!request_.progress) return;
  const double by_passes =
      (static_cast<double>(result_.passes) +
       static_cast<double>(done_in_pass) / static_cast<double>(pools_.size())) /
      static_cast<double>(kMaxPasses);
  tell_share((1 - kept_share_) * by_passes, pool_bytes);
}

void MemoryProbe::tell_share(double share, std::int64_t pool_bytes) const {
  if (!request_.progress) return;
  const double seconds = now() - started_;
  const double by_time = request_.max_seconds > 0 ? seconds / request_.max_seconds : 1;
  MemoryProgress progress{std::clamp(std::max(by_time, share), 0.0, 1.0), pool_bytes};
  // The first pass, in which memory is allocated, says little of the others.
  if (result_.passes > 0)
    progress.left_s =
        std::max(0.0, std::min(request_.max_seconds - seconds, seconds / share - seconds));
  request_.progress(progress);
}

Result<std::optional<MeasuredMemoryOutcome>> MemoryProbe::look_at(std::int64_t pool_bytes) {
  OPLAT_TRY(outcome, look_({pool_bytes}));
  if (auto* unsupported = std::get_if<table::Unsupported>(&outcome))
    return std::optional<MeasuredMemoryOutcome>(std::move(*unsupported));
  auto* answer = std::get_if<MemoryAnswer>(&outcome);
  if (answer != nullptr && answer->look) {
    Looks& looks = pools_[pool_bytes];
    looks.stream_ns.push_back(answer->look->stream_ns);
    looks.chase_ns.push_back(answer->look->chase_ns);
    return std::optional<MeasuredMemoryOutcome>();
  }
  // Others took the memory meanwhile, or the process may not have so much: smaller pools do.
  std::int64_t left = 0;
  std::erase_if(pools_, [&](const auto& pool) {
    const bool smaller = pool.first < pool_bytes;
    if (smaller) left = pool.first;
    return !smaller;
  });
  result_.max_pool_bytes = left;
  if (left >= kMinRange * pools_.begin()->first) return std::optional<MeasuredMemoryOutcome>();
  const std::string why =
      answer != nullptr ? "too little memory is free" : std::get<table::Failed>(outcome).reason;
  return std::optional<MeasuredMemoryOutcome>(
      table::Failed{fmt::format("a pool of {} could not be read: {}",
                                base::bytes_text(static_cast<double>(pool_bytes)), why)});
}

Result<std::optional<MeasuredMemoryOutcome>> MemoryProbe::pass() {
  std::vector<std::int64_t> order;
  for (const auto& [bytes, looks] : pools_) order.push_back(bytes);
  // The largest first: it is allocated once.
  if (result_.passes % 2 == 0) std::reverse(order.begin(), order.end());
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (!pools_.contains(order[i])) continue;
    if (request_.stop_asked && request_.stop_asked())
      return fail(Code::Interrupted, "interrupted while memory was measured");
    // A pass that is cut short would leave some pools with a look fewer, which does no harm; the
    // first one must be whole.
    if (result_.passes > 0 && time_over()) break;
    tell(order[i], i);
    OPLAT_TRY(ended, look_at(order[i]));
    if (ended) return ended;
  }
  ++result_.passes;
  return std::optional<MeasuredMemoryOutcome>();
}

void MemoryProbe::add_pools() {
  const table::MemoryHierarchy found = levels();
  std::vector<table::MemoryRamp> ramps;
  if (found.own) ramps.push_back(*found.own);
  if (found.last) {
    ramps.push_back(found.last->chase);
    if (found.last->stream) ramps.push_back(*found.last->stream);
  }
  for (std::size_t i = 0; i + 1 < found.points.size(); ++i) {
    const auto low = static_cast<double>(found.points[i].pool_bytes);
    const auto high = static_cast<double>(found.points[i + 1].pool_bytes);
    // Of a ramp, with a pool more on both sides.
    const bool rises = std::any_of(ramps.begin(), ramps.end(), [&](const table::MemoryRamp& ramp) {
      return high > ramp.lo_bytes / kStep && low < ramp.hi_bytes;
    });
    if (rises) pools_[whole_pages(std::sqrt(low * high))];
  }
}

/// A pool that lies in the last level and not in the core's own cache; nothing: there is no room.
std::optional<std::int64_t> pool_of_waits(const table::MemoryHierarchy& found) {
  if (!found.has_last_level() || !found.last) return std::nullopt;
  // Not where the ramp out of the own cache ends: it is nearly flat there, and its end moves from
  // run to run.
  const double low = table::kOwnCachesThatLoseWeights * *found.levels.front().capacity_bytes;
  const double high = std::min(found.last->middle.lo_bytes, found.last->chase.lo_bytes);
  if (!(high >= kWellInside * kWellInside * low)) return std::nullopt;
  return whole_pages(std::sqrt(low * high));
}

Result<bool> MemoryProbe::wait_pass(std::int64_t pool_bytes) {
  // What takes longer than a load from memory in its worst moments was not the cache: the core was
  // taken away meanwhile.
  const double most_ns = result_.hierarchy.points.back().chase_high_ns;
  std::array<double, kWaitsNs.size()> costs{};
  for (std::size_t i = 0; i < kWaitsNs.size(); ++i) {
    if (request_.stop_asked && request_.stop_asked())
      return fail(Code::Interrupted, "interrupted while memory was measured");
    const double done = static_cast<double>(wait_passes_) +
                        static_cast<double>(i) / static_cast<double>(kWaitsNs.size());
    tell_share(1 - kShareOfWaits + kShareOfWaits * done / kMaxWaitPasses, pool_bytes);
    const std::size_t at = wait_passes_ % 2 == 0 ? i : kWaitsNs.size() - 1 - i;
    OPLAT_TRY(outcome, look_({pool_bytes, kWaitsNs[at]}));
    const auto* answer = std::get_if<MemoryAnswer>(&outcome);
    if (answer == nullptr || !answer->waited_chase_ns) return false;
    costs[at] = std::min(*answer->waited_chase_ns, most_ns);
  }
  for (std::size_t i = 0; i < costs.size(); ++i) waited_log_ns_[i] += std::log(costs[i]);
  ++wait_passes_;
  return true;
}

Status MemoryProbe::look_after_waits() {
  const auto pool = pool_of_waits(result_.hierarchy);
  if (!pool || left_s() < kMinSecondsOfWaits) return {};
  while (wait_passes_ < kMaxWaitPasses && left_s() > 0) {
    OPLAT_TRY(whole, wait_pass(*pool));
    if (!whole) break;
  }
  if (wait_passes_ < kMinWaitPasses) return {};
  for (std::size_t i = 0; i < kWaitsNs.size(); ++i)
    result_.hierarchy.waits.push_back(
        {*pool, static_cast<double>(kWaitsNs[i]),
         std::exp(waited_log_ns_[i] / static_cast<double>(wait_passes_))});
  return {};
}

Result<std::optional<MeasuredMemoryOutcome>> MemoryProbe::passes() {
  while (result_.passes < kMaxPasses && (result_.passes == 0 || !time_over())) {
    OPLAT_TRY(ended, pass());
    if (ended) return ended;
    if (result_.passes == kPassesBeforeFiner) add_pools();
    if (result_.passes % kPassesOfPlacement == 0 && result_.passes < kMaxPasses)
      OPLAT_CHECK(look_({0}).map([](const MemoryOutcome&) {}));
  }
  result_.hierarchy = levels();
  return std::optional<MeasuredMemoryOutcome>();
}

Result<MeasuredMemoryOutcome> MemoryProbe::run() {
  OPLAT_TRY(first, look_({0}));
  if (auto* unsupported = std::get_if<table::Unsupported>(&first))
    return MeasuredMemoryOutcome(std::move(*unsupported));
  if (auto* failed = std::get_if<table::Failed>(&first))
    return MeasuredMemoryOutcome(std::move(*failed));
  const std::int64_t max_pool_bytes = std::get<MemoryAnswer>(first).max_pool_bytes;
  choose_pools(max_pool_bytes);
  if (pools_.empty() || pools_.rbegin()->first < kMinRange * pools_.begin()->first)
    return MeasuredMemoryOutcome(
        table::Failed{fmt::format("only {} of memory can be used for it",
                                  base::bytes_text(static_cast<double>(max_pool_bytes)))});
  OPLAT_TRY(ended, passes());
  if (ended) return std::move(*ended);
  OPLAT_CHECK(look_after_waits());
  if (result_.hierarchy.waits.empty()) {
    kept_share_ = 0;
    OPLAT_TRY(ended_later, passes());
    if (ended_later) return std::move(*ended_later);
  }
  result_.seconds = now() - started_;
  return MeasuredMemoryOutcome(std::move(result_));
}

}  // namespace

Result<MeasuredMemoryOutcome> measure_memory(const MemoryProbeRequest& request,
                                             const MemoryLooker& look) {
  return MemoryProbe(request, look).run();
}

}  // namespace oplat::measure
