// SPDX-License-Identifier: Apache-2.0
/// The estimator over a fit record of the table.
#include "estimate/learned.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <mutex>
#include <unordered_map>

#include "base/bytes.hpp"
#include "base/hash.hpp"
#include "base/stats.hpp"
#include "estimate/foreign.hpp"
#include "estimate/learned/fitted_model.hpp"
#include "estimate/learned/relatives.hpp"
#include "estimate/learned/states.hpp"
#include "estimate/row_spread.hpp"
#include "estimate/sanity.hpp"

namespace oplat::estimate {
namespace {

Result<std::int64_t> rows_under_load(const RowSource& rows) {
  std::int64_t sum = 0;
  for (const table::SettingId setting : rows.settings) {
    OPLAT_TRY(load, rows.table->load_of_rows(rows.device, setting));
    sum += load.under_load;
  }
  return sum;
}

/// Before the model: footprints of the states, and where states begin.
constexpr std::size_t kHeadBytes = 8 * (kStates + 2);

/// A model with the footprints at which its states were measured.
struct Fitted {
  std::array<std::optional<double>, kStates> reuse_bytes;
  StateLimits limits;
  FittedModel model;
};

/// Code::Refused if a newer oplat made it.
Result<Fitted> read(std::string_view bytes) {
  base::ByteReader reader(bytes);
  std::array<std::optional<double>, kStates> reuse_bytes;
  for (auto& each : reuse_bytes) {
    const double value = reader.f64();
    if (value > 0 && std::isfinite(value)) each = value;
  }
  StateLimits limits;
  for (double* const each : {&limits.own_bytes, &limits.all_bytes}) {
    const double value = reader.f64();
    if (value > 0) *each = value;
  }
  if (!reader.ok()) return fail(Code::Input, "learned fit: is too short; run oplat fit again");
  OPLAT_TRY(model, FittedModel::load(bytes.substr(kHeadBytes)));
  return Fitted{reuse_bytes, limits, std::move(model)};
}

Estimate estimate_of(const LearnedAnswer& answer) {
  Estimate estimate;
  estimate.median_ns = std::exp(answer.log_ns);
  estimate.sd_log = std::min(answer.sd_log, kMaxSd);
  const bool far = answer.pattern.kind >= PatternKind::Extrapolated || answer.outside > 0;
  estimate.source = far ? Source::Learned : Source::Interpolated;
  // What no row says of one such kernel it says of none: they err together.
  estimate.group = answer.strange ? std::string(kExtrapolatedGroup)
                   : far          ? "learned"
                                  : "interpolated";
  estimate.tier = name(answer.pattern.kind);
  estimate.floor_ns = answer.floor_ns;
  return estimate;
}

/// What a model says of a kernel in one cache state.
struct InState {
  Estimate estimate;
  double outside = 0;  ///< LearnedAnswer::outside
  std::size_t state = 0;
};

/// What models say of a kernel in each of its states. Without points: nothing.
struct OfKernel {
  std::vector<StatePoint> points;
  std::vector<InState> answers = {};  ///< of each point, where no relatives answer
  std::optional<Relatives::Answer> kin = std::nullopt;  ///< relatives answer; in the first state
  bool new_type = false;  ///< rows of the operator have other element types
};

/// Kernels kept; beyond, they are asked anew.
constexpr std::size_t kMaxKnown = 100'000;

/// A damaged or hostile fit may say anything.
bool is_usable(const Estimate& estimate) {
  return estimate.median_ns > 0 && std::isfinite(estimate.median_ns) && estimate.sd_log >= 0 &&
         std::isfinite(estimate.sd_log) && std::isfinite(estimate.floor_ns.value_or(0));
}

/// Whether rows of other kinds may stand for a kernel: its domain is ONNX's or ONNX Runtime's. Rows
/// of other systems say too little of their kernels, and a whole module is like no other.
bool has_relatives(std::string_view key) {
  const std::string_view op = operator_of(key);
  return op.find(':') == std::string_view::npos || op.starts_with("com.microsoft") ||
         op.starts_with("ai.onnx");
}

/// What the pattern means, for people.
std::string_view evidence(PatternKind kind) {
  switch (kind) {
    case PatternKind::Grid:
      return "between measured neighbours along several axes";
    case PatternKind::FlagUnseen:
      return "between measured neighbours along several axes, but not with the same fused sum";
    case PatternKind::Level:
      return "between measured neighbours along one axis";
    case PatternKind::TwoAxes:
      return "between measured levels of two axes";
    case PatternKind::Extrapolated:
      return "outside the range measured";
    case PatternKind::Shape:
      return "from its shape alone: no measured neighbour";
    case PatternKind::Sparse:
      return "from rows of similar shapes";
  }
  return "";
}

/// Why names so many of them.
constexpr std::size_t kMaxNamed = 3;

/// "groups 4 where all rows of its kind have 1, batch 256 where they reach 128": the numbers that
/// lie beyond the rows of its slice, where they have names.
std::string beyond_text(const std::vector<Beyond>& beyond, const ir::Description& description) {
  std::string text;
  std::size_t named = 0;
  for (const Beyond& each : beyond) {
    const std::string_view name = ir::number_name(description, each.number);
    if (name.empty() || named == kMaxNamed) continue;
    const std::string rows =
        each.low == each.high    ? fmt::format("all rows of its kind have {:.4g}", each.low)
        : each.value > each.high ? fmt::format("rows of its kind reach {:.4g}", each.high)
                                 : fmt::format("rows of its kind begin at {:.4g}", each.low);
    text += fmt::format("{}{} {:.4g} where {}", named++ > 0 ? ", " : ": ", name, each.value, rows);
  }
  return text;
}

class Learned final : public Estimator {
 public:
  Learned(RowSource rows, Profile profile) : rows_(std::move(rows)), profile_(profile) {}

 private:
  std::string_view do_name() const override { return "learned"; }
  Status do_estimate(std::span<const Query> queries,
                     std::span<std::optional<Estimate>> answers) const override {
    if (std::all_of(answers.begin(), answers.end(),
                    [](const auto& answer) { return answer.has_value(); }))
      return {};
    const std::lock_guard lock(mutex_);
    if (!asked_) {
      OPLAT_TRY(host, host_of(rows_));
      host_ = host;
      OPLAT_TRY(found, rows_.table->find_fit(kLearnedFormat, rows_.device, rows_.settings.front()));
      if (found && found->current) {
        auto fitted = read(found->fit.blob);
        if (!fitted && fitted.error().code != Code::Refused) return fail(fitted.error());
        if (fitted) fitted_ = std::make_unique<Fitted>(std::move(*fitted));
      }
      if (fitted_) {
        OPLAT_TRY(kin,
                  rows_.table->find_fit(kRelativesFormat, rows_.device, rows_.settings.front()));
        if (kin && kin->current) {
          OPLAT_TRY(relatives, Relatives::load(kin->fit.blob));
          relatives_ = std::move(relatives);
        }
      }
      asked_ = true;
    }
    if (!fitted_) return {};
    for (std::size_t i = 0; i < queries.size(); ++i) {
      if (!answers[i]) answers[i] = answer(queries[i]);
    }
    return {};
  }

  /// The kernel in each state, which no question changes: the models are asked once.
  const OfKernel& of_kernel(std::string_view key) const {
    const base::Hash128 hash = base::hash128(key);
    if (const auto at = known_.find(hash); at != known_.end()) return at->second;
    if (known_.size() >= kMaxKnown) known_.clear();
    return known_.emplace(hash, ask_models(key)).first->second;
  }

  OfKernel ask_models(std::string_view key) const {
    OfKernel kernel;
    const auto parsed = ir::parse(key);
    if (!parsed) return kernel;
    const auto description = ir::describe(*parsed, *rows_.catalogue, host_);
    if (!description) return kernel;
    const bool one_state = !fitted_->reuse_bytes[1] && !fitted_->reuse_bytes[2];
    const std::size_t states =
        one_state || description->stored_weight_bytes < kWeightsThatMatter ? 1 : kStates;
    // A kernel is never hotter than it leaves its weights itself.
    const std::size_t first = states == 1 ? 0 : state_of_its_own(*description, fitted_->limits);
    const double type_sd = spread_of_type(*description);
    kernel.new_type = type_sd > 0;
    for (std::size_t state = first; state < states; ++state) {
      if (state > first && !fitted_->reuse_bytes[state]) continue;
      ir::Description asked = *description;
      append_state(asked, state);
      auto learned = fitted_->model.answer(asked, profile_);
      if (!learned) return of_relatives(key, *description, states);
      if (learned->outside > 0) temper(*learned, key, description->work, state);
      learned->sd_log = std::max(learned->sd_log, type_sd);
      kernel.answers.push_back({estimate_of(*learned), learned->outside, state});
      const Estimate& estimate = kernel.answers.back().estimate;
      const double bytes = state == first && states > 1 ? std::max(1.0, description->stored_bytes)
                                                        : fitted_->reuse_bytes[state].value_or(1);
      kernel.points.push_back({bytes, estimate.median_ns, estimate.sd_log});
    }
    return kernel;
  }

  std::optional<Estimate> answer(const Query& query) const {
    const OfKernel& kernel = of_kernel(query.key);
    if (kernel.points.empty()) return std::nullopt;
    const StateAnswer at =
        at_reuse(kernel.points, rows_.curve, query.reuse_bytes.value_or(0), query.foreign);
    if (kernel.kin) return answer_of_relatives(*kernel.kin, at, query.explain);
    // What lies between two states is known no better than the worse of them.
    const InState& below = kernel.answers[at.below];
    const InState& above = kernel.answers[at.above];
    const InState& basis =
        below.estimate.source == Source::Learned || above.estimate.source != Source::Learned
            ? below
            : above;
    Estimate estimate = basis.estimate;
    estimate.median_ns = at.median_ns;
    // One model says both: what it errs by does not cancel between them.
    estimate.sd_log =
        std::sqrt(at.sd_log * at.sd_log +
                  2 * at.share * (1 - at.share) * below.estimate.sd_log * above.estimate.sd_log);
    estimate.common_sd_log = at.common_sd_log;
    if (!is_usable(estimate)) return std::nullopt;
    if (query.explain) {
      const std::string far = basis.outside > 0 ? far_text(query.key, basis) : std::string();
      const std::size_t related = fitted_->model.related();
      estimate.why = fmt::format(
          "{}{}{} ({} rows{})", evidence_of(estimate.tier), far,
          kernel.new_type ? "; no row of the operator has this element type" : "",
          fitted_->model.sites(),
          related > 0 ? fmt::format(" and {} of another number of threads", related) : "");
    }
    return estimate;
  }

  /// Which numbers of a kernel lie outside the rows, and how far.
  std::string far_text(std::string_view key, const InState& basis) const {
    const auto parsed = ir::parse(key);
    auto asked = parsed ? ir::describe(*parsed, *rows_.catalogue, host_) : std::nullopt;
    if (!asked) return {};
    append_state(*asked, basis.state);
    return fmt::format("; {:.2g} doublings outside the measured range{}", basis.outside,
                       beyond_text(fitted_->model.space().beyond(*asked), *asked));
  }

  /// Of a product in a type that no row of its operator has, but for those in which runtimes have
  /// kernels of products: in nine of ten cases within a factor of 20, of doubles of 4. MatMul of
  /// 128x256x256 took 6.4 times as long in i32 as in f32, 20 times in i64, 2.0 times in f64 (ONNX
  /// Runtime 1.31.1, one core of a Zen 4, 2026-11-30).
  double spread_of_type(const ir::Description& description) const {
    constexpr double kIntegersSd = 1.8, kDoublesSd = 0.85;
    constexpr int kBits = 16;
    if (!description.contraction) return 0;
    const auto type = fitted_->model.space().new_type(description);
    if (type == ir::Dtype::F64) return kDoublesSd;
    return type && ir::is_integer(*type) && *ir::bits(*type) >= kBits ? kIntegersSd : 0;
  }

  /// Far beyond the few rows of its slice a kernel is known no better than one without any: what
  /// relatives say counts then, the more the surer they are.
  void temper(LearnedAnswer& answer, std::string_view key, const ir::Work& work,
              std::size_t state) const {
    if (!relatives_ || !has_relatives(key)) return;
    const auto kin = relatives_->answer(operator_of(key), work, state);
    if (!kin || !(kin->sd_log < answer.sd_log)) return;
    // Their share is 0 where both are as sure, so that a little more or less changes little.
    const double share = 1 - std::pow(kin->sd_log / answer.sd_log, 2);
    answer.log_ns += share * (kin->log_ns - answer.log_ns);
    answer.sd_log = kin->sd_log;
  }

  /// Of a kernel whose slice has no row.
  OfKernel of_relatives(std::string_view key, const ir::Description& description,
                        std::size_t states) const {
    if (!relatives_ || !has_relatives(key)) return {};
    OfKernel kernel;
    for (std::size_t state = 0; state < states; ++state) {
      if (state > 0 && !fitted_->reuse_bytes[state]) continue;
      const auto kin = relatives_->answer(operator_of(key), description.work, state);
      if (!kin) return {};
      if (!kernel.kin) kernel.kin = kin;
      kernel.points.push_back(
          {fitted_->reuse_bytes[state].value_or(1), std::exp(kin->log_ns), kin->sd_log});
    }
    return kernel;
  }

  static std::optional<Estimate> answer_of_relatives(const Relatives::Answer& kin,
                                                     const StateAnswer& at, bool explain) {
    Estimate estimate;
    estimate.source = Source::Learned;
    estimate.group = kExtrapolatedGroup;
    const bool of_operator = kin.kin == Relatives::Kin::Operator;
    estimate.tier = of_operator ? "other form" : "other operator";
    estimate.median_ns = at.median_ns;
    estimate.sd_log = std::min(at.sd_log, kMaxSd);
    estimate.common_sd_log = at.common_sd_log;
    if (!is_usable(estimate)) return std::nullopt;
    if (explain)
      estimate.why = fmt::format("no row is of this {}; from {} rows of {} with work alike",
                                 of_operator ? "form of the operator" : "operator", kin.rows,
                                 of_operator ? "the same operator" : "other operators");
    return estimate;
  }
  static std::string_view evidence_of(std::string_view tier) {
    for (int kind = 0; kind <= static_cast<int>(PatternKind::Sparse); ++kind) {
      if (estimate::name(static_cast<PatternKind>(kind)) == tier)
        return evidence(static_cast<PatternKind>(kind));
    }
    return "";
  }

  RowSource rows_;
  Profile profile_;
  mutable std::mutex mutex_;  ///< of the table, of what is read from it once, and of known_
  mutable bool asked_ = false;
  mutable ir::Host host_;
  mutable std::unique_ptr<Fitted> fitted_;
  mutable std::optional<Relatives> relatives_;
  mutable std::unordered_map<base::Hash128, OfKernel> known_;
};

}  // namespace

std::optional<Profile> parse_profile(std::string_view text) {
  if (text == "accurate") return Profile::Accurate;
  if (text == "fast") return Profile::Fast;
  return std::nullopt;
}

Result<FitAge> age_of_fit(std::string_view blob) {
  if (blob.size() < kHeadBytes)
    return fail(Code::Input, "learned fit: is too short; run oplat fit again");
  return FittedModel::age_of(blob.substr(kHeadBytes));
}

namespace {

/// More would make each answer take long.
constexpr std::int64_t kMaxRelatedRows = 20'000;

/// What there is to learn from: rows whose keys say every size.
struct Described {
  std::vector<Sample> samples;
  std::vector<ir::Description> descriptions;  ///< of each
  std::vector<double> log_ns;                 ///< of each
};

Result<Described> read_described(const RowSource& rows, bool exclude_suspects) {
  OPLAT_TRY(samples, read_samples_to_learn(rows));
  OPLAT_TRY(host, host_of(rows));
  TrainingSet training = training_set(samples, exclude_suspects, *rows.catalogue);
  Described described;
  for (Sample& sample : training.samples) {
    auto description = description_of(sample, *rows.catalogue, host);
    if (!description) continue;
    described.descriptions.push_back(std::move(*description));
    described.log_ns.push_back(sample.log_ns);
    described.samples.push_back(std::move(sample));
  }
  return described;
}

/// The setting that differs in its threads alone and has most rows; std::nullopt where there is no
/// such.
Result<std::optional<table::SettingId>> setting_of_other_threads(const RowSource& rows) {
  OPLAT_TRY(settings, rows.table->settings());
  const auto own = std::find_if(settings.begin(), settings.end(), [&](const auto& each) {
    return each.first == rows.settings.front();
  });
  std::optional<table::SettingId> best;
  if (own == settings.end()) return best;
  std::int64_t most = 0;
  for (const auto& [id, setting] : settings) {
    table::Setting same = setting;
    same.threads = own->second.threads;
    if (id == own->first || !(same == own->second)) continue;
    OPLAT_TRY(context, rows.table->context_of(rows.device, id));
    if (context.timings <= most || context.timings > kMaxRelatedRows) continue;
    most = context.timings;
    best = id;
  }
  return best;
}

/// The rows of that setting; none where there is none.
Result<Described> read_related(const RowSource& rows, bool exclude_suspects) {
  OPLAT_TRY(setting, setting_of_other_threads(rows));
  if (!setting) return Described();
  RowSource others = rows;
  others.settings = {*setting};
  return read_described(others, exclude_suspects);
}

}  // namespace

Result<LearnedFit> learn(const RowSource& rows, const LearnRequest& asked) {
  assert(rows.catalogue != nullptr);
  LearnRequest request = asked;
  OPLAT_TRY(related, read_related(rows, request.exclude_suspects));
  request.related = {related.descriptions, related.log_ns};
  OPLAT_TRY(training, read_described(rows, request.exclude_suspects));
  const auto& [samples, descriptions, log_ns] = training;
  std::vector<std::size_t> own;        // descriptions of kernels that may stand for others
  std::vector<std::string> operators;  // of those
  std::array<std::vector<double>, kStates> footprints;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (has_relatives(samples[i].key)) {
      own.push_back(i);
      operators.emplace_back(operator_of(samples[i].key));
    }
    if (samples[i].reuse_bytes) footprints[samples[i].state].push_back(*samples[i].reuse_bytes);
  }
  OPLAT_TRY(model, FittedModel::fit(descriptions, log_ns, request));
  base::ByteWriter writer;
  for (auto& each : footprints) writer.f64(each.empty() ? 0 : base::upper_median(std::move(each)));
  OPLAT_TRY(limits, state_limits(rows));
  for (const double each : {limits.own_bytes, limits.all_bytes})
    writer.f64(std::isfinite(each) ? each : 0);
  OPLAT_TRY(under_load, rows_under_load(rows));
  LearnedFit fit{{{std::string(kLearnedFormat), request.seed, writer.take() + model.save()}},
                 static_cast<std::int64_t>(log_ns.size()),
                 under_load,
                 model.calibrated()};
  if (const auto spread = RowSpread::learn(model.left_out()))
    fit.fits.push_back({std::string(kRowSpreadFormat), request.seed, spread->save()});
  std::vector<Relatives::Row> relatives;
  for (std::size_t i = 0; i < own.size(); ++i)
    relatives.push_back({operators[i], &descriptions[own[i]], log_ns[own[i]]});
  if (!relatives.empty()) {
    if (const auto learned = Relatives::learn(relatives, model.machine()))
      fit.fits.push_back({std::string(kRelativesFormat), request.seed, learned->save()});
  }
  return fit;
}

std::unique_ptr<Estimator> make_learned(RowSource rows, Profile profile) {
  return std::make_unique<Learned>(std::move(rows), profile);
}

}  // namespace oplat::estimate
