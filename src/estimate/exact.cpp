// SPDX-License-Identifier: Apache-2.0
/// Exact look-up: the rows of one key, in all their cache states, turned into one estimate.
///
/// The problem: a kernel may have a row for each cache state, rows of other builds or of an alias
/// of its key, rows that failed, and rows that say nothing of their state. A model has one
/// footprint, which usually lies between two states. So the best rows are chosen in a fixed order
/// of preference, and the time is interpolated between the two states around the footprint
/// (reuse.cpp). The spread is that of the row's median, not of its blocks (docs/adr/0003).
#include "estimate/exact.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <mutex>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/hash.hpp"
#include "base/stats.hpp"
#include "base/units.hpp"
#include "estimate/foreign.hpp"
#include "estimate/learned/states.hpp"
#include "estimate/load_spread.hpp"
#include "estimate/row_spread.hpp"
#include "estimate/sanity.hpp"
#include "ir/key.hpp"
#include "ir/moved_work.hpp"
#include "plan/blocked_layout.hpp"
#include "table/in_model.hpp"
#include "table/memory_hierarchy.hpp"
#include "table/memory_text.hpp"

namespace oplat::estimate {
namespace {

/// The largest ratio of cold to hot seen for one kernel bounds what an unmeasured state can hide.
constexpr double kMaxStateRatio = 3.6;

/// How far the logarithms of times lie apart that differ in whether the key says the batch: 0.06 to
/// 0.18 by operator in a published table of an RK3288, rows left aside that cannot be true.
constexpr double kOpenBatchSd = 0.13;

/// Of a row that never had its core alone: such blocks take 1.3 to 2.2 times as long, and a
/// network may have its core alone.
constexpr double kNeverQuietSd = 0.5;

struct Usable {
  table::RowId id = 0;
  std::optional<double> reuse_bytes;
  double median_ns = 0;
  double sd_log = 0;
  bool says_little = false;  ///< of its spread: too few blocks for so small a one
  bool under_load = false;
  bool never_quiet = false;
  std::optional<base::Interval> in_model_ns = std::nullopt;
  double cycle_ns = 0;  ///< see Sample
};

/// Copies of a kernel that a row may say it was measured with.
constexpr std::int64_t kMostCopies = 1'000;
/// A cycle of eleven days is an untrusted table's.
constexpr double kLongestCycleNs = 1e15;

/// How unsure the row's median is: its confidence interval, where the row has one. The spread of
/// single blocks (Timing::sd_log) is how much the machine varied, which more blocks average out.
double sd_of_median(const table::Timing& timing) {
  const bool has_interval = timing.ci_low_ns > 0 && timing.ci_high_ns > timing.ci_low_ns &&
                            std::isfinite(timing.ci_high_ns) && timing.ci_level > 0 &&
                            timing.ci_level < 1;
  const double sd = has_interval ? std::log(timing.ci_high_ns / timing.ci_low_ns) /
                                       (2 * base::two_sided_normal_quantile(timing.ci_level))
                                 : timing.sd_log;
  return std::isfinite(sd) ? std::clamp(sd, 0.0, kMaxSd) : kMaxSd;
}

std::optional<Usable> usable(const table::StoredRow& stored) {
  const auto* timing = std::get_if<table::Timing>(&stored.row.outcome);
  if (timing == nullptr || !std::isfinite(timing->median_ns) || timing->median_ns <= 0)
    return std::nullopt;
  Usable row{stored.id, stored.row.reuse_bytes, timing->median_ns};
  row.in_model_ns = table::in_model_ns(stored.row.method);
  const auto copies = std::clamp<std::int64_t>(stored.row.method.copies, 1, kMostCopies);
  row.cycle_ns = std::min(row.median_ns * static_cast<double>(copies), kLongestCycleNs);
  row.under_load = stored.row.method.has(table::kUnderLoad);
  if (row.reuse_bytes && !std::isfinite(*row.reuse_bytes)) row.reuse_bytes.reset();
  row.sd_log = sd_of_median(*timing);
  row.says_little = timing->blocks < 2 && row.sd_log < kFewBlocksSd;
  row.never_quiet = stored.row.method.has(table::kNeverQuiet);
  if (row.never_quiet) row.sd_log = std::hypot(row.sd_log, kNeverQuietSd);
  return row;
}

/// Whether the text holds "?" or "*" as a value or dimension; a string attribute may hold either as
/// a character.
bool matches_nothing(std::string_view key) {
  // find_first_of() would search the set once for each byte of the key.
  if (key.find('?') == std::string_view::npos && key.find('*') == std::string_view::npos)
    return false;
  const auto parsed = ir::parse(key);
  return !parsed || ir::has_unknown(*parsed);
}

std::optional<ir::Key> parsed_key(std::string_view text) {
  auto key = ir::parse(text);
  return key ? std::optional(*std::move(key)) : std::nullopt;
}

/// Of constants, as far as they are read.
double weight_bytes(std::string_view key, const ir::Catalogue& catalogue) {
  const auto parsed = ir::parse(key);
  return parsed ? ir::moved_work(*parsed, catalogue).bytes_weights : 0;
}

/// How wrong one state can be about the other: the weights' way from memory is in one of the two
/// times.
double other_state_sd(double bytes, double median_ns, double distance) {
  if (bytes < kWeightsThatMatter) return 0;
  const double ratio = 1 + bytes / table::kModestMemoryBytesPerNs / median_ns;
  return distance * std::log(std::min(ratio, kMaxStateRatio));
}

Estimate from_stateless(const std::vector<Usable>& rows) {
  Estimate answer{
      rows.front().median_ns, rows.front().sd_log, "measured", Source::Measured, "exact", {}};
  if (rows.size() == 1) {
    answer.why = fmt::format("row {}", rows.front().id);
    return answer;
  }
  double sum = 0, widest = 0;
  for (const Usable& row : rows) {
    sum += std::log(row.median_ns);
    widest = std::max(widest, row.sd_log);
  }
  const double mean = sum / static_cast<double>(rows.size());
  double squares = 0;
  for (const Usable& row : rows) squares += std::pow(std::log(row.median_ns) - mean, 2);
  answer.median_ns = std::exp(mean);
  answer.sd_log = std::max(widest, std::sqrt(squares / static_cast<double>(rows.size() - 1)));
  answer.why = fmt::format("geometric mean of {} rows without a cache state, from row {} on",
                           rows.size(), rows.front().id);
  return answer;
}

std::optional<base::Interval> all_in_model(const std::vector<Usable>& rows) {
  std::optional<base::Interval> all;
  for (const Usable& row : rows) {
    if (!row.in_model_ns) continue;
    if (!all) all = row.in_model_ns;
    all->low = std::min(all->low, row.in_model_ns->low);
    all->high = std::max(all->high, row.in_model_ns->high);
  }
  return all;
}

/// Spreads the answer so far that its 90 % interval holds what was seen inside a model.
void reach(const base::Interval& in_model_ns, Estimate& answer) {
  constexpr double kQuantile = 1.6448536269514722;  // of the normal distribution, two-sided 90 %
  constexpr double kMinNs = 1;
  const double up = in_model_ns.high / answer.median_ns;
  // Below some microseconds a profiler says nothing, and what was seen begins at 0. That far a
  // prediction reaches by itself (predict/compose.cpp); as a spread it would stretch the other end.
  const double down =
      answer.median_ns / std::max({in_model_ns.low, 0.5 * in_model_ns.high, kMinNs});
  const double sd = std::log(std::max({1.0, up, down})) / kQuantile;
  answer.in_model_ns = in_model_ns;
  answer.sd_log = std::min(std::hypot(answer.sd_log, sd), kMaxSd);
}

/// What the rows of one key come to, kept since a search asks for the same kernels again and again.
struct Known {
  bool found = false;                 ///< a row with a time is there
  std::optional<Estimate> stateless;  ///< the answer where no row has a cache state
  std::vector<Usable> states;         ///< rows with one
  std::vector<StatePoint> points;     ///< of them
  double weight_bytes = 0;            ///< of the kernel; known where one state is all there is
  std::string
      floor;  ///< for people: how sure rows are taken that say nothing of it; empty: none is such
  bool under_load = false;
  bool never_quiet = false;
  bool other_build = false;
  std::optional<base::Interval> in_model_ns;  ///< all that rows of the kernel say
  std::string difference;   ///< of the row's key from the asked one; see ir::KeyAlias
  bool open_batch = false;  ///< likewise
};

/// Whether a row of one state is all there is, which says less about another state.
void widen_for_lone_state(const Known& known, const std::optional<ReuseCurve>& curve, double wanted,
                          bool explain, Estimate& answer) {
  const Usable& row = known.states.front();
  const double own = std::max(*row.reuse_bytes, 1.0);
  const double asked = std::max(wanted, 1.0);
  const double distance = curve ? curve->max_distance(own, asked) : (own == asked ? 0 : 1);
  if (distance <= 0) return;
  answer.sd_log =
      std::hypot(answer.sd_log, other_state_sd(known.weight_bytes, row.median_ns, distance));
  if (!explain) return;
  answer.why += fmt::format(", the only measured cache state ({} between uses, the model has {})",
                            base::bytes_text(own), base::bytes_text(asked));
}

Estimate from_states(const Known& known, const std::optional<ReuseCurve>& curve,
                     const Query& query) {
  const std::vector<Usable>& rows = known.states;
  const bool explain = query.explain;
  // Nobody said how large the model is: one use right after the other.
  const double wanted = query.reuse_bytes.value_or(0);
  const StateAnswer state = at_reuse(known.points, curve, wanted, query.foreign);
  Estimate answer{state.median_ns, state.sd_log, "measured", Source::Measured, "exact", {}};
  answer.common_sd_log = state.common_sd_log;
  const Usable& below = rows[state.below];
  const Usable& above = rows[state.above];
  if (state.above != state.below) {
    answer.tier = "state";
    if (explain) {
      answer.why = fmt::format("rows {} and {} ({} and {} between uses), {:.0f} % of the way",
                               below.id, above.id, base::bytes_text(state.below_bytes),
                               base::bytes_text(state.above_bytes), 100 * state.share);
    }
    return answer;
  }
  if (explain) {
    answer.why = fmt::format("row {}", below.id);
    if (state.median_ns != below.median_ns) answer.why += ", less what others took of its weights";
  }
  if (rows.size() == 1) widen_for_lone_state(known, curve, wanted, explain, answer);
  if (explain && !query.reuse_bytes) answer.why += ", assumed hot because no footprint was given";
  return answer;
}

Result<std::vector<Usable>> usable_rows(const RowSource& source, std::string_view key,
                                        table::SettingId setting) {
  OPLAT_TRY(stored, source.table->rows_of(key, source.device, setting));
  std::vector<Usable> rows;
  for (const table::StoredRow& row : stored)
    if (auto one = usable(row)) rows.push_back(*one);
  return rows;
}

Estimate answer_from(const Known& known, const std::optional<ReuseCurve>& curve,
                     const Query& query) {
  Estimate answer = known.stateless ? *known.stateless : from_states(known, curve, query);
  answer.under_load = known.under_load;
  if (known.under_load) answer.group = kUnderLoadGroup;
  if (known.never_quiet) answer.group = kNeverQuietGroup;
  if (known.in_model_ns) reach(*known.in_model_ns, answer);
  if (known.open_batch) {
    answer.sd_log = std::hypot(answer.sd_log, kOpenBatchSd);
    answer.tier = kOpenBatchTier;
  }
  if (!query.explain) {
    answer.why.clear();
    return answer;
  }
  if (!known.difference.empty())
    answer.why += fmt::format(", from the table's key with {}", known.difference);
  answer.why += known.floor;
  if (known.never_quiet) {
    answer.why += ", measured on a core that was always shared";
  } else if (known.under_load) {
    answer.why += ", measured on a busy machine";
  }
  if (known.other_build) answer.why += ", of another build";
  if (known.in_model_ns)
    answer.why += fmt::format(", but {} to {} inside a profiled model",
                              base::duration_text(known.in_model_ns->low),
                              base::duration_text(known.in_model_ns->high));
  return answer;
}

/// Keys are long and alike at their beginnings: a fast hash of all of it.
struct KeyHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view key) const {
    return static_cast<std::size_t>(base::hash64(key));
  }
};

constexpr std::size_t kMaxKnown = 1'000'000;
constexpr std::size_t kLookupsBeforeReading = 500;

/// What was looked up is kept.
class Exact final : public Estimator {
 public:
  explicit Exact(RowSource rows) : rows_(std::move(rows)) { assert(rows_.catalogue != nullptr); }

 private:
  std::string_view do_name() const override { return "exact"; }
  Status do_estimate(std::span<const Query> queries,
                     std::span<std::optional<Estimate>> answers) const override {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < queries.size(); ++i) {
      if (answers[i]) continue;
      auto at = known_.find(queries[i].key);
      if (at == known_.end()) {
        OPLAT_TRY(known, look_up(queries[i].key));
        if (!known.found && hashes_ &&
            rows_.catalogue->aliasing_domain_of(queries[i].key) == nullptr)
          continue;  // as quick to find out once more
        if (known_.size() >= kMaxKnown) known_.clear();
        at = known_.emplace(std::string(queries[i].key), std::move(known)).first;
      }
      if (at->second.found) answers[i] = answer_from(at->second, rows_.curve, queries[i]);
    }
    return {};
  }

  Result<Known> look_up(std::string_view key) const {
    Known known;
    OPLAT_TRY(absent, is_absent(key));
    if (!absent && !matches_nothing(key)) {
      OPLAT_TRY(own, rows_under(key));
      known = std::move(own);
    }
    if (known.found) return known;
    const ir::KeyDomain* domain = rows_.catalogue->aliasing_domain_of(key);
    const auto parsed = domain == nullptr ? std::nullopt : parsed_key(key);
    if (!parsed) return known;
    for (ir::KeyAlias& alias : domain->aliases(*parsed)) {
      const std::string text = ir::print(alias.key);
      OPLAT_TRY(not_there, is_absent(text));
      if (not_there) continue;
      OPLAT_TRY(other, rows_under(text));
      if (!other.found) continue;
      if (alias.open_batch) {
        OPLAT_TRY(cannot_be, is_suspect(text));
        if (cannot_be) continue;
      }
      known = std::move(other);
      known.difference = std::move(alias.difference);
      known.open_batch = alias.open_batch;
      break;
    }
    return known;
  }

  /// Rows of a key that the table itself may have, "?" in it or not.
  Result<Known> rows_under(std::string_view key) const {
    Known known;
    for (const table::SettingId setting : rows_.settings) {
      OPLAT_TRY(rows, usable_rows(rows_, key, setting));
      if (rows.empty()) continue;
      known.found = true;
      OPLAT_CHECK(put_load(rows));
      OPLAT_TRY(floor, put_floor(rows));
      known.floor = std::move(floor);
      known.under_load =
          std::any_of(rows.begin(), rows.end(), [](const Usable& row) { return row.under_load; });
      known.never_quiet =
          std::any_of(rows.begin(), rows.end(), [](const Usable& row) { return row.never_quiet; });
      known.other_build = setting != rows_.settings.front();
      known.in_model_ns = all_in_model(rows);
      for (const Usable& row : rows) {
        if (!row.reuse_bytes) continue;
        known.states.push_back(row);
        known.points.push_back({*row.reuse_bytes, row.median_ns, row.sd_log});
      }
      undo_losses_of(known);
      if (known.states.empty()) known.stateless = from_stateless(rows);
      if (known.states.size() == 1) known.weight_bytes = weight_bytes(key, *rows_.catalogue);
      break;
    }
    return known;
  }

  /// Rows of the last level as if others had taken nothing of it (foreign.hpp). One that lost most
  /// of its weights to them says nothing of that state and is left out.
  void undo_losses_of(Known& known) const {
    if (!rows_.foreign || !(rows_.foreign->bytes_per_ns > 0) || known.points.size() < 3) return;
    const Ramp& last = rows_.foreign->last;
    const double cold_from = std::sqrt(last.lo_bytes * last.hi_bytes);
    const auto [hot, cold] = std::minmax_element(
        known.points.begin(), known.points.end(),
        [](const StatePoint& a, const StatePoint& b) { return a.reuse_bytes < b.reuse_bytes; });
    if (!(cold->reuse_bytes > cold_from)) return;
    const StatePoint hottest = *hot;
    const double cold_log_ns = std::log(cold->median_ns);
    std::vector<Usable> states;
    std::vector<StatePoint> points;
    for (std::size_t i = 0; i < known.points.size(); ++i) {
      StatePoint point = known.points[i];
      if (point.reuse_bytes > hottest.reuse_bytes && point.reuse_bytes <= cold_from) {
        const double foreign = rows_.foreign->bytes_per_ns * known.states[i].cycle_ns;
        const double lost = lost_among_others(last, point.reuse_bytes, foreign);
        if (lost > kMostLost) continue;
        point.median_ns = std::exp(without_loss(std::log(point.median_ns),
                                                std::log(hottest.median_ns), cold_log_ns, lost));
      }
      points.push_back(point);
      states.push_back(known.states[i]);
    }
    known.points = std::move(points);
    known.states = std::move(states);
  }

  /// Widens rows of a busy machine. All blocks are read the first time.
  Status put_load(std::vector<Usable>& rows) const {
    for (Usable& row : rows) {
      if (!row.under_load || row.never_quiet) continue;
      if (!load_sd_) {
        OPLAT_TRY(sd, load_sd_of_rows(*rows_.table, rows_.device, rows_.settings));
        load_sd_ = sd;
      }
      row.sd_log = std::hypot(row.sd_log, *load_sd_);
    }
    return {};
  }

  /// The spread of rows of too few blocks: as large as single rows of the table err at most, where
  /// a fit has learned that, else a cautious guess.
  Result<std::string> put_floor(std::vector<Usable>& rows) const {
    if (std::none_of(rows.begin(), rows.end(), [](const Usable& row) { return row.says_little; }))
      return std::string();
    if (!row_spread_) {
      row_spread_.emplace();
      OPLAT_TRY(found,
                rows_.table->find_fit(kRowSpreadFormat, rows_.device, rows_.settings.front()));
      if (found && found->current) *row_spread_ = RowSpread::load(found->fit.blob);
    }
    double widest = 0;
    for (Usable& row : rows) {
      if (!row.says_little) continue;
      const double seen = *row_spread_ ? (*row_spread_)->at(std::log(row.median_ns)) : kFewBlocksSd;
      row.sd_log = std::max(row.sd_log, std::min(seen, kFewBlocksSd));
      widest = std::max(widest, row.sd_log);
    }
    if (widest == kFewBlocksSd)
      return fmt::format(", fewer than 2 blocks: spread at least {:.0f} %", 100 * widest);
    return fmt::format(
        ", fewer than 2 blocks: spread of {:.1f} %, from cross-validation of the fit",
        100 * widest);
  }

  /// A search asks for thousands of kernels that the table lacks: then its keys are read once,
  /// instead of asking the file for each.
  Result<bool> is_absent(std::string_view key) const {
    if (lookups_ < kLookupsBeforeReading) {
      ++lookups_;
      return false;
    }
    if (!hashes_) {
      OPLAT_TRY(hashes, rows_.table->kernel_hashes());
      hashes_.emplace(hashes.begin(), hashes.end());
    }
    return !hashes_->contains(base::hash128(key));
  }

  /// A row of the very key is returned verbatim, whatever it says; one that only represents it
  /// has to be believable. All rows are read the first time.
  Result<bool> is_suspect(std::string_view key) const {
    if (!suspects_) {
      OPLAT_TRY(samples, read_samples(rows_));
      std::vector<CheckedRow> checked;
      checked.reserve(samples.size());
      for (const Sample& sample : samples) checked.push_back({sample.key, std::exp(sample.log_ns)});
      suspects_.emplace();
      for (const SuspectRow& suspect : check_rows(checked, *rows_.catalogue).suspects)
        suspects_->emplace(checked[suspect.row].key);
    }
    return suspects_->contains(std::string(key));
  }

  RowSource rows_;
  mutable std::optional<std::unordered_set<std::string>> suspects_;  ///< keys of implausible rows
  mutable std::optional<std::optional<RowSpread>>
      row_spread_;                         ///< once looked for: that of the table's fit
  mutable std::optional<double> load_sd_;  ///< once asked for
  mutable std::mutex mutex_;               ///< of the memory, and of the table behind it
  mutable std::size_t lookups_ = 0;
  mutable std::optional<std::unordered_set<base::Hash128>> hashes_;  ///< of all keys of the table
  mutable std::unordered_map<std::string, Known, KeyHash, std::equal_to<>> known_;
};

/// The source's device; one of which nothing is known where the table lacks it.
Result<table::Device> device_of(const RowSource& rows) {
  OPLAT_TRY(devices, rows.table->devices());
  for (auto& [id, device] : devices) {
    if (id == rows.device) return std::move(device);
  }
  return table::Device();
}

}  // namespace

Result<ir::Host> host_of(const RowSource& rows) {
  OPLAT_TRY(device, device_of(rows));
  std::int64_t threads = 1;
  OPLAT_TRY(settings, rows.table->settings());
  for (const auto& [id, setting] : settings) {
    if (id == rows.settings.front()) threads = setting.threads;
  }
  return plan::host_of(device, threads);
}

Result<StateLimits> state_limits(const RowSource& rows) {
  StateLimits limits;
  OPLAT_TRY(device, device_of(rows));
  if (device.l2_bytes > 0)
    limits.own_bytes = table::kOwnCachesThatLoseWeights * static_cast<double>(device.l2_bytes);
  if (device.llc_bytes > 0) limits.all_bytes = static_cast<double>(device.llc_bytes);
  if (!rows.settings.empty()) {
    OPLAT_TRY(sizes, table::sizes_of_states(*rows.table, rows.device, rows.settings.front()));
    if (sizes.memory && sizes.memory->last) {
      const table::MemoryRamp& ramp = sizes.memory->last->middle;
      limits.all_bytes = std::sqrt(ramp.lo_bytes * ramp.hi_bytes);
    }
  }
  return limits;
}

std::unique_ptr<Estimator> make_exact(RowSource rows) {
  return std::make_unique<Exact>(std::move(rows));
}

Result<std::optional<std::string>> row_without_time(const RowSource& source, std::string_view key) {
  for (const table::SettingId setting : source.settings) {
    OPLAT_TRY(stored, source.table->rows_of(key, source.device, setting));
    for (const table::StoredRow& row : stored) {
      // A time does not answer for such a key, whatever it is.
      if (matches_nothing(key) && std::holds_alternative<table::Timing>(row.row.outcome)) continue;
      const auto reason = std::visit(
          [](const auto& outcome) -> std::string {
            if constexpr (requires { outcome.reason; })
              return outcome.reason;
            else
              return "its time is not a positive number";
          },
          row.row.outcome);
      return fmt::format("row {} holds no time: {}: {}", row.id,
                         table::outcome_name(row.row.outcome), reason);
    }
  }
  return std::optional<std::string>();
}

Result<std::string> why_missing(const RowSource& source, std::string_view key) {
  const ir::KeyDomain* domain = source.catalogue->aliasing_domain_of(key);
  OPLAT_TRY(failed, row_without_time(source, key));
  if (failed) return *std::move(failed);
  if (domain == nullptr && matches_nothing(key))
    return std::string("the key contains \"?\", which matches no row");
  if (domain == nullptr) return std::string("no row");
  const auto parsed = parsed_key(key);
  const auto text = parsed ? domain->native_text(*parsed) : std::nullopt;
  return text ? fmt::format("no row of '{}'", *text) : std::string("no row");
}

std::string_view operator_of(std::string_view key) {
  return key.substr(0, key.find_first_of("/@{("));
}

Result<std::set<std::string, std::less<>>> timed_operators(const RowSource& source) {
  OPLAT_TRY(samples, read_samples(source));
  std::set<std::string, std::less<>> operators;
  for (const Sample& sample : samples) operators.emplace(operator_of(sample.key));
  return operators;
}

Result<std::vector<Sample>> read_samples(const RowSource& source) {
  std::vector<Sample> samples;
  const table::RowFilter timed{source.device, source.settings, true};
  OPLAT_CHECK(source.table->each_row(timed, [&](const table::StoredRow& stored) {
    if (auto row = usable(stored))
      samples.push_back({stored.row.key, std::log(row->median_ns), row->reuse_bytes, 0,
                         row->never_quiet, 0, row->cycle_ns});
    return true;
  }));
  return samples;
}

Result<std::vector<Sample>> read_samples_in_states(const RowSource& source) {
  OPLAT_TRY(samples, read_samples(source));
  // By all rows of a key: without its hot one, a cold row would be the hot one.
  OPLAT_TRY(limits, state_limits(source));
  put_states(samples, limits);
  // Times that are up to twice as long teach that kernels are slower than they are. Where most are
  // such, nobody knows which are not.
  const auto never_quiet = std::count_if(samples.begin(), samples.end(),
                                         [](const Sample& sample) { return sample.never_quiet; });
  if (2 * never_quiet < static_cast<std::ptrdiff_t>(samples.size()))
    std::erase_if(samples, [](const Sample& sample) { return sample.never_quiet; });
  return samples;
}

}  // namespace oplat::estimate
