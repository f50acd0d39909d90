// SPDX-License-Identifier: Apache-2.0
/// Answers and their intervals.
#include "compat/tinynas/conv_answers.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <variant>

#include "base/interval.hpp"
#include "predict/prediction.hpp"

namespace oplat::compat::tinynas {
namespace {

constexpr double kConvNsPerMs = 1e6;
constexpr std::string_view kKeyHead = "tinynas:Conv";

/// A chain with all that it looks into.
struct Best {
  std::shared_ptr<const table::Table> table;
  predict::Selection selection;
  ir::Dtype dtype;
  double quantile = 0;
  std::optional<predict::Predictor> predictor;  ///< points into the table
};

ConvAnswer answer_from(const Best& best, const predict::KernelPrediction& kernel) {
  ConvAnswer answer;
  answer.source = estimate::document_name(kernel.source);
  answer.why = kernel.why;
  if (!kernel.latency_ns || !kernel.sd_log) return answer;
  answer.ms = *kernel.latency_ns / kConvNsPerMs;
  answer.sd_log = *kernel.sd_log;
  for (const predict::Mismatch& one : best.selection.mismatch)
    answer.sd_log = std::hypot(answer.sd_log, one.sd_log);
  answer.far = kernel.floor_ns.has_value();
  if (kernel.floor_ns) answer.floor_ms = *kernel.floor_ns / kConvNsPerMs;
  answer.interval = estimate::bounds_around(*answer.ms, answer.sd_log, best.quantile,
                                            answer.floor_ms.value_or(0));
  answer.group = kernel.group;
  return answer;
}

}  // namespace

Result<Answerer> original_answers(std::span<const LibraryTime> rows) {
  OPLAT_TRY(made, OriginalPredictor::create(rows));
  const auto original = std::make_shared<OriginalPredictor>(std::move(made));
  return [original](std::span<const ConvQuestion> questions) -> Result<std::vector<ConvAnswer>> {
    std::vector<ConvAnswer> answers;
    answers.reserve(questions.size());
    for (const ConvQuestion& question : questions) {
      ConvAnswer& answer = answers.emplace_back();
      const auto ms = original->predict(question.conv);
      if (!ms && ms.error().code != Code::Missing) return fail(ms.error());
      answer.source = ms ? "original" : "missing";
      if (!ms) {
        answer.why = ms.error().message;
        continue;
      }
      answer.ms = *ms;
      answer.why = original->beyond(question.conv);
      answer.far = !answer.why.empty();
    }
    return answers;
  };
}

Result<std::vector<LibraryTime>> table_times(const table::Table& table,
                                             const predict::Selection& selection) {
  std::vector<LibraryTime> times;
  const table::RowFilter timed{selection.device_id, selection.setting_ids, true};
  OPLAT_CHECK(table.each_row(timed, [&](const table::StoredRow& stored) {
    if (!stored.row.key.starts_with(kKeyHead)) return true;
    const auto* timing = std::get_if<table::Timing>(&stored.row.outcome);
    if (timing == nullptr) return true;
    const auto key = ir::parse(stored.row.key);
    const auto conv = key ? conv_tuple_of(*key) : std::nullopt;
    if (conv && conv->group == 1) times.push_back({*conv, timing->median_ns / kConvNsPerMs});
    return true;
  }));
  if (times.empty())
    return fail(Code::Refused,
                "{}: has no row for {} that is a convolution of a library; import one with: oplat "
                "import FILE --format tinynas --device NAME --table {}",
                table.path().string(), table::describe(selection.setting), table.path().string());
  return times;
}

Result<Answerer> best_answers(std::shared_ptr<const table::Table> table,
                              predict::Selection selection, double level,
                              estimate::Profile profile) {
  const auto best = std::make_shared<Best>(
      Best{std::move(table), std::move(selection), ir::Dtype{}, 0, std::nullopt});
  const auto dtype = dtype_of_precision(best->selection.setting.precision);
  if (!dtype)
    return fail(Code::Refused,
                "{}: rows of precision {} do not come from a library; choose others with "
                "--precision, or import a library with oplat import --format tinynas",
                best->table->path().string(), best->selection.setting.precision);
  best->dtype = *dtype;
  best->quantile = predict::interval_quantile(level, {});
  OPLAT_TRY(predictor, predict::Predictor::create(*best->table, best->selection, profile));
  best->predictor = std::move(predictor);
  return [best](std::span<const ConvQuestion> questions) -> Result<std::vector<ConvAnswer>> {
    std::vector<table::PlanKernel> kernels;
    kernels.reserve(questions.size());
    for (const ConvQuestion& question : questions)
      kernels.push_back({question.name, key_text_of(question.conv, best->dtype), 1});
    OPLAT_TRY(estimates, best->predictor->estimate(kernels, std::nullopt,
                                                   predict::MissingPolicy::Error, true));
    std::vector<ConvAnswer> answers;
    answers.reserve(estimates.size());
    for (const predict::KernelPrediction& kernel : estimates)
      answers.push_back(answer_from(*best, kernel));
    return answers;
  };
}

std::optional<base::Interval> total_interval(std::span<const ConvAnswer> answers, double level) {
  double total = 0;
  double floor = 0;
  for (const ConvAnswer& answer : answers) {
    if (!answer.ms || !answer.interval) return std::nullopt;
    total += *answer.ms;
    floor += answer.floor_ms.value_or(0);
  }
  if (!(total > 0)) return std::nullopt;
  std::vector<predict::Term> terms;
  terms.reserve(answers.size());
  for (const ConvAnswer& answer : answers)
    terms.push_back({*answer.ms / total, answer.sd_log, answer.group});
  return estimate::bounds_around(total, predict::total_spread(terms, 0),
                                 predict::interval_quantile(level, {}), floor);
}

}  // namespace oplat::compat::tinynas
