// SPDX-License-Identifier: Apache-2.0
/// Rows against the runtime's own profile of the whole model.
///
/// The problem: a row is right about the kernel that was built from its key, and the key may not
/// say everything that decides the work (values, sparsity, what a result is used for). Such a row
/// looks like any other, and a prediction made of it is wrong without a word. The one witness is
/// the model itself. So once a campaign is over, each kernel that matters is compared with the time
/// that the runtime's profiler saw for it inside the model. Caches and what the profiler cannot
/// tell explain a factor of two of a short kernel, of 1.3 of a long one, either way; in the
/// model the way of all its bytes from memory, and by itself that of its weights, whose state a row
/// has. What they do not explain is flagged, in the table and in the reports, and predictions reach
/// as far as what was seen.
///
/// Profiled times are good for this and for no more: the profiler adds microseconds to every node,
/// which is why workers give a range (docs/reference/worker-protocol.md, "times").
#include "measure/in_model.hpp"

#include <algorithm>
#include <unordered_map>

#include "ir/key.hpp"
#include "ir/moved_work.hpp"
#include "ir/view.hpp"
#include "ir/work.hpp"
#include "plan/records.hpp"
#include "table/in_model.hpp"
#include "table/memory_hierarchy.hpp"

namespace oplat::measure {
namespace {

/// What a profiler that counts microseconds cannot tell from its own part (ADR 0043).
constexpr double kUnresolvedNs = 5'000;
/// Of a model, that a kernel must have to be looked at.
constexpr double kMinShareOfModel = 0.05;
constexpr double kFactor = 2;
/// Of a kernel so long that what the profiler adds is little. Its cache states and the way of its
/// bytes from memory are looked at, and more than that caches do not do.
constexpr double kFactorOfLong = 1.3;

/// All that is known of one key of the model.
struct SeenKey {
  const KernelInModel* first = nullptr;
  double count = 0;
  base::Interval sum_ns;  ///< of all executions
  std::optional<base::Interval> by_itself_ns;
  bool has_row = false;

  [[nodiscard]] base::Interval in_model_ns() const {
    return {sum_ns.low / count, sum_ns.high / count};
  }
  [[nodiscard]] double middle_ns() const { return 0.5 * (sum_ns.low + sum_ns.high); }
  [[nodiscard]] double rows_ns() const { return by_itself_ns ? count * by_itself_ns->high : 0; }
};

std::vector<SeenKey> distinct_keys(std::span<const KernelInModel> kernels) {
  std::vector<SeenKey> seen;
  std::unordered_map<std::string_view, std::size_t> place;
  for (const KernelInModel& kernel : kernels) {
    if (kernel.count < 1) continue;
    const auto [at, added] = place.emplace(kernel.key, seen.size());
    if (added) seen.push_back({&kernel, 0, {}, std::nullopt, false});
    SeenKey& key = seen[at->second];
    const auto count = static_cast<double>(kernel.count);
    key.count += count;
    key.sum_ns.low += count * kernel.ns.low;
    key.sum_ns.high += count * kernel.ns.high;
  }
  return seen;
}

bool is_timed(const table::StoredRow& stored) {
  return stored.row.origin == "own" && std::holds_alternative<table::Timing>(stored.row.outcome);
}

/// The times of the rows of all cache states, fastest to slowest.
std::optional<base::Interval> range_of(std::span<const table::StoredRow> rows) {
  std::optional<base::Interval> range;
  for (const table::StoredRow& stored : rows) {
    if (!is_timed(stored)) continue;
    const double ns = std::get<table::Timing>(stored.row.outcome).median_ns;
    range = range ? base::Interval{std::min(range->low, ns), std::max(range->high, ns)}
                  : base::Interval{ns, ns};
  }
  return range;
}

base::Interval hull(const base::Interval& a, const base::Interval& b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

/// The lower end of a recorded range. Where the profiler could not tell a short time from its own,
/// the range begins near 0, and its end is anywhere below what the profiler resolves.
base::Interval lower_end(const base::Interval& range) {
  return {range.low, std::max(range.low, std::min(range.high, kUnresolvedNs))};
}

/// Flags all rows of the key, or clears them where `seen` is nothing and what was seen earlier is
/// explained too.
Status update_flags(table::Table& table, std::span<const table::StoredRow> rows,
                    const std::optional<base::Interval>& seen, const base::Interval& by_itself_ns,
                    const ir::Work& work) {
  for (const table::StoredRow& stored : rows) {
    if (!is_timed(stored)) continue;
    const auto earlier = table::in_model_ns(stored.row.method);
    std::optional<base::Interval> now = seen;
    const bool still_unlike =
        earlier && (!explains(by_itself_ns, lower_end(*earlier), work) ||
                    !explains(by_itself_ns, {earlier->high, earlier->high}, work));
    if (still_unlike) now = now ? hull(*now, *earlier) : *earlier;
    table::Row row = stored.row;
    table::set_in_model_ns(row.method, now);
    if (row.method.flags == stored.row.method.flags) continue;
    OPLAT_CHECK(
        table.put_row(stored.device, stored.setting, stored.campaign, row).map([](table::RowId) {
        }));
  }
  return {};
}

}  // namespace

bool explains(const base::Interval& by_itself_ns, const base::Interval& in_model_ns,
              const ir::Work& work) {
  // The slower the one, the slower the other may be.
  const auto at_most_ns = [](double ns, double bytes) {
    return std::max(std::min(kFactor * ns, kFactorOfLong * ns + kUnresolvedNs),
                    ns + bytes / table::kModestMemoryBytesPerNs);
  };
  return in_model_ns.low <= at_most_ns(by_itself_ns.high, work.bytes()) &&
         by_itself_ns.low <= at_most_ns(in_model_ns.high, work.bytes_weights);
}

Result<std::vector<UnlikeKernel>> flag_unlike_kernels(table::Table& table, table::DeviceId device,
                                                      table::SettingId setting,
                                                      const ir::Catalogue& catalogue,
                                                      const std::string& model,
                                                      std::span<const KernelInModel> kernels) {
  std::vector<SeenKey> seen = distinct_keys(kernels);
  OPLAT_TRY(dispatch_rows, table.rows_of(plan::kDispatchKey, device, setting));
  const auto dispatch_ns = range_of(dispatch_rows);
  double in_model = 0;
  double by_rows = 0;
  for (SeenKey& key : seen) {
    OPLAT_TRY(rows, table.rows_of(key.first->key, device, setting));
    key.by_itself_ns = range_of(rows);
    key.has_row = key.by_itself_ns.has_value();
    if (!key.has_row && ir::names_view(key.first->key, catalogue)) key.by_itself_ns = dispatch_ns;
    in_model += key.middle_ns();
    by_rows += key.rows_ns();
  }
  std::vector<UnlikeKernel> unlike;
  for (const SeenKey& key : seen) {
    if (!key.by_itself_ns) continue;
    const auto parsed = ir::parse(key.first->key);
    if (!parsed) continue;
    // A view that does what it should moves nothing.
    const ir::Work work = key.has_row ? ir::moved_work(*parsed, catalogue) : ir::Work{};
    const double share = std::max(in_model > 0 ? key.middle_ns() / in_model : 0,
                                  by_rows > 0 ? key.rows_ns() / by_rows : 0);
    const bool is_unlike =
        share > kMinShareOfModel && !explains(*key.by_itself_ns, key.in_model_ns(), work);
    if (is_unlike)
      unlike.push_back({model, key.first->name, key.first->key, share, key.in_model_ns(),
                        *key.by_itself_ns, key.has_row});
    if (!key.has_row) continue;
    OPLAT_TRY(rows, table.rows_of(key.first->key, device, setting));
    OPLAT_CHECK(update_flags(table, rows,
                             is_unlike ? std::optional(key.in_model_ns()) : std::nullopt,
                             *key.by_itself_ns, work));
  }
  return unlike;
}

}  // namespace oplat::measure
