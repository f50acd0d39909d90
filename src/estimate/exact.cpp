// SPDX-License-Identifier: Apache-2.0
/// Exact look-up: the rows of one key, whatever their cache states, made into one estimate.
#include "oplat/estimate/exact.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "oplat/base/units.hpp"
#include "oplat/ir/key.hpp"
#include "oplat/ir/work.hpp"

namespace oplat::estimate {
namespace {

/// The measuring protocol leaves the cold state out where it cannot matter: below this many weight bytes.
constexpr double kWeightsThatMatter = 64.0 * 1024;
/// ... and it counts on this rate from memory for the rest.
constexpr double kMemoryBytesPerNs = 10.0;
/// The largest ratio of cold to hot seen for one kernel bounds what an unmeasured state can hide.
constexpr double kMostStateRatio = 3.6;

struct Usable {
  table::RowId id = 0;
  std::optional<double> reuse_bytes;
  double median_ns = 0;
  double sd_log = 0;
  bool floored = false;
  bool under_load = false;
};

/// z with P(|Z| <= z) = level of the standard normal distribution.
double two_sided_quantile(double level) {
  double low = 0, high = 8;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (std::erf(middle / std::numbers::sqrt2) < level ? low : high) = middle;
  }
  return (low + high) / 2;
}

/// How unsure the row's median is: its confidence interval, where the row has one. The spread of single blocks
/// (Timing::sd_log) is how much the machine varied, which more blocks average out.
double sd_of_median(const table::Timing& timing) {
  const bool has_interval = timing.ci_low_ns > 0 && timing.ci_high_ns > timing.ci_low_ns && std::isfinite(timing.ci_high_ns) &&
                            timing.ci_level > 0 && timing.ci_level < 1;
  const double sd = has_interval ? std::log(timing.ci_high_ns / timing.ci_low_ns) / (2 * two_sided_quantile(timing.ci_level)) : timing.sd_log;
  return std::isfinite(sd) ? std::clamp(sd, 0.0, kMostSd) : kMostSd;
}

std::optional<Usable> usable(const table::StoredRow& stored) {
  const auto* timing = std::get_if<table::Timing>(&stored.row.outcome);
  if (timing == nullptr || !std::isfinite(timing->median_ns) || timing->median_ns <= 0) return std::nullopt;
  Usable row{stored.id, stored.row.reuse_bytes, timing->median_ns, 0, false, false};
  const auto& flags = stored.row.method.flags;
  row.under_load = std::find(flags.begin(), flags.end(), table::kUnderLoad) != flags.end();
  if (row.reuse_bytes && !std::isfinite(*row.reuse_bytes)) row.reuse_bytes.reset();
  row.sd_log = sd_of_median(*timing);
  if (timing->blocks < 2 && row.sd_log < kFewBlocksSd) {
    row.sd_log = kFewBlocksSd;
    row.floored = true;
  }
  return row;
}

/// Whether the text holds "?" or "*" as a value or dimension; a string attribute may hold either as a character.
bool matches_nothing(std::string_view key) {
  if (key.find_first_of("?*") == std::string_view::npos) return false;
  const auto parsed = ir::parse(key);
  return !parsed || ir::has_unknown(*parsed);
}

double weight_bytes(std::string_view key) {
  const auto parsed = ir::parse(key);
  return parsed ? ir::work(*parsed).bytes_weights : 0;
}

/// How wrong one state can be about the other: the weights' way from memory is in one of the two times.
double other_state_sd(std::string_view key, double median_ns, double distance) {
  const double bytes = weight_bytes(key);
  if (bytes < kWeightsThatMatter) return 0;
  return distance * std::log(std::min(1 + bytes / kMemoryBytesPerNs / median_ns, kMostStateRatio));
}

Estimate from_stateless(const std::vector<Usable>& rows) {
  Estimate answer{rows.front().median_ns, rows.front().sd_log, "measured", Source::Measured, "exact", {}};
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
  answer.why =
      fmt::format("geometric mean of {} rows without a cache state, the first is row {}", rows.size(), rows.front().id);
  return answer;
}

Estimate from_states(std::string_view key, const std::vector<Usable>& rows, const std::optional<ReuseCurve>& curve,
                     std::optional<double> reuse_bytes) {
  std::vector<StatePoint> points;
  for (const Usable& row : rows) points.push_back({*row.reuse_bytes, row.median_ns, row.sd_log});
  // Nobody said how large the model is: one use right after the other.
  const double wanted = reuse_bytes.value_or(0);
  const StateAnswer state = at_reuse(points, curve, wanted);
  Estimate answer{state.median_ns, state.sd_log, "measured", Source::Measured, "exact", {}};
  const Usable& below = rows[state.below];
  const Usable& above = rows[state.above];
  if (state.above != state.below) {
    answer.tier = "state";
    answer.why =
        fmt::format("rows {} and {} ({} and {} between uses), {:.0f} % of the way", below.id, above.id,
                    base::bytes_text(*below.reuse_bytes), base::bytes_text(*above.reuse_bytes), 100 * state.share);
    return answer;
  }
  answer.why = fmt::format("row {}", below.id);
  if (rows.size() == 1) {
    const double own = std::max(*below.reuse_bytes, 1.0);
    const double asked = std::max(wanted, 1.0);
    const double distance = curve ? std::abs(curve->last.gone(own) - curve->last.gone(asked)) : (own == asked ? 0 : 1);
    if (distance > 0) {
      answer.sd_log = std::hypot(answer.sd_log, other_state_sd(key, below.median_ns, distance));
      answer.why += fmt::format(", the only cache state measured ({} between uses, the model has {})",
                                base::bytes_text(own), base::bytes_text(asked));
    }
  }
  if (!reuse_bytes) answer.why += ", taken as hot because no footprint was given";
  return answer;
}

Result<std::vector<Usable>> usable_rows(const RowSource& source, std::string_view key, table::SettingId setting) {
  OPLAT_TRY(stored, source.table->rows_of(key, source.device, setting));
  std::vector<Usable> rows;
  for (const table::StoredRow& row : stored)
    if (auto one = usable(row)) rows.push_back(*one);
  return rows;
}

Result<std::optional<Estimate>> answer_one(const RowSource& source, const Query& query) {
  if (matches_nothing(query.key)) return std::optional<Estimate>();
  for (const table::SettingId setting : source.settings) {
    OPLAT_TRY(rows, usable_rows(source, query.key, setting));
    if (rows.empty()) continue;
    const bool floored = std::any_of(rows.begin(), rows.end(), [](const Usable& row) { return row.floored; });
    std::vector<Usable> states;
    for (const Usable& row : rows)
      if (row.reuse_bytes) states.push_back(row);
    Estimate answer =
        states.empty() ? from_stateless(rows) : from_states(query.key, states, source.curve, query.reuse_bytes);
    if (floored) answer.why += fmt::format(", fewer than 2 blocks: spread at least {:.0f} %", 100 * kFewBlocksSd);
    if (std::any_of(rows.begin(), rows.end(), [](const Usable& row) { return row.under_load; })) {
      answer.under_load = true;
      answer.why += ", measured while the machine was busy";
    }
    if (setting != source.settings.front()) answer.why += ", of another build";
    return std::optional<Estimate>(std::move(answer));
  }
  return std::optional<Estimate>();
}

/// Holds no state of its own: the table memoises, so there is nothing to fit or to save.
class Exact final : public Estimator {
 public:
  explicit Exact(RowSource rows) : rows_(std::move(rows)) {}

 private:
  std::string_view do_name() const override { return "exact"; }
  Status do_fit(std::span<const Sample>, const FitOptions&) override { return {}; }
  Status do_estimate(std::span<const Query> queries, std::span<std::optional<Estimate>> answers) const override {
    for (std::size_t i = 0; i < queries.size(); ++i) {
      if (answers[i]) continue;
      OPLAT_TRY(answer, answer_one(rows_, queries[i]));
      answers[i] = std::move(answer);
    }
    return {};
  }
  std::string do_save() const override { return {}; }
  Status do_load(std::string_view bytes) override {
    if (!bytes.empty()) return fail(Code::Input, "exact look-up keeps no fit, but {} bytes were given", bytes.size());
    return {};
  }

  RowSource rows_;
};

}  // namespace

std::unique_ptr<Estimator> make_exact(RowSource rows) { return std::make_unique<Exact>(std::move(rows)); }

Result<std::string> why_missing(const RowSource& source, std::string_view key) {
  if (matches_nothing(key)) return std::string("the key holds \"?\", which matches no row");
  for (const table::SettingId setting : source.settings) {
    OPLAT_TRY(stored, source.table->rows_of(key, source.device, setting));
    for (const table::StoredRow& row : stored) {
      const auto reason = std::visit(
          [](const auto& outcome) -> std::string {
            if constexpr (requires { outcome.reason; })
              return outcome.reason;
            else
              return "its time is not a positive number";
          },
          row.row.outcome);
      return fmt::format("row {} holds no time: {}: {}", row.id, table::outcome_name(row.row.outcome), reason);
    }
  }
  return std::string("no row");
}

Result<std::vector<Sample>> read_samples(const RowSource& source) {
  std::vector<Sample> samples;
  OPLAT_CHECK(source.table->each_row([&](const table::StoredRow& stored) {
    if (stored.device != source.device) return true;
    if (std::find(source.settings.begin(), source.settings.end(), stored.setting) == source.settings.end()) return true;
    if (auto row = usable(stored))
      samples.push_back(
          {{}, stored.row.key, stored.setting, row->reuse_bytes, std::log(row->median_ns), 1, "measured"});
    return true;
  }));
  return samples;
}

}  // namespace oplat::estimate
