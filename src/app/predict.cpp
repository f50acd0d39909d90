// SPDX-License-Identifier: Apache-2.0
#include "app/predict.hpp"

#include <optional>
#include <utility>
#include <vector>

#include "app/fit.hpp"
#include "app/suggestions.hpp"
#include "compat/paddleslim/table_files.hpp"
#include "compat/registry.hpp"
#include "predict/ceilings.hpp"
#include "runtimes/protocol.hpp"

namespace oplat::app {
namespace {

/// The time of this very model, if the table holds one of the rows' device and setting.
Result<std::optional<predict::MeasuredModel>> measured_model(const table::Table& table,
                                                             const predict::Selection& selection,
                                                             const std::string& plan_identity) {
  for (const table::SettingId setting : selection.setting_ids) {
    OPLAT_TRY(stored, table.find_model_row(plan_identity, selection.device_id, setting));
    if (!stored) continue;
    const auto* timing = std::get_if<table::Timing>(&stored->row.outcome);
    if (timing == nullptr) continue;
    return predict::MeasuredModel{timing->median_ns,
                                  {timing->ci_low_ns, timing->ci_high_ns},
                                  stored->row.method.has(table::kUnderLoad)};
  }
  return std::optional<predict::MeasuredModel>();
}

/// Whether the same rows answer, with the same to say of them.
bool are_same(const predict::Selection& a, const predict::Selection& b) {
  return a.device_id == b.device_id && a.setting_ids == b.setting_ids && a.mismatch == b.mismatch &&
         a.warnings == b.warnings && a.fit == b.fit;
}

/// It has read the fit, and remembers kernels.
struct KeptPredictor {
  predict::Selection selection;
  estimate::Profile estimator;
  predict::Predictor predictor;
};
struct KeptSelection {
  predict::RowFilter rows;
  predict::Selection selection;
};
struct KeptUnseen {
  predict::Selection selection;
  UnseenByFit unseen;
};
struct KeptCeilings {
  predict::Selection selection;
  predict::CeilingRows rows;
};

}  // namespace

struct PredictMemo::Impl {
  std::optional<KeptSelection> selection;
  std::optional<KeptPredictor> predictor;
  std::optional<KeptUnseen> unseen;
  std::optional<KeptCeilings> ceilings;
  std::int64_t selections = 0;
  std::int64_t predictors = 0;
};

PredictMemo::PredictMemo() : impl_(std::make_unique<Impl>()) {}
PredictMemo::PredictMemo(PredictMemo&&) noexcept = default;
PredictMemo& PredictMemo::operator=(PredictMemo&&) noexcept = default;
PredictMemo::~PredictMemo() = default;
std::int64_t PredictMemo::selections() const { return impl_->selections; }
std::int64_t PredictMemo::predictors() const { return impl_->predictors; }

namespace {

/// What is learned from a foreign file once a model asks for it makes another table of it.
void forget_foreign(const OpenedTable& table, PredictMemo& memo) {
  if (table.foreign) memo = PredictMemo();
}

Result<predict::Selection> selection_of(const OpenedTable& table, const predict::RowFilter& rows,
                                        PredictMemo::Impl& memo) {
  if (!memo.selection || !(memo.selection->rows == rows)) {
    const table::Table::Reading reading(table.table());
    OPLAT_TRY(selection, select_stated(table.table(), rows));
    memo.selection.emplace(KeptSelection{rows, std::move(selection)});
    ++memo.selections;
  }
  return memo.selection->selection;
}

Result<predict::Selection> unseen_selection(const OpenedTable& table, predict::Selection selection,
                                            const std::string& plan_identity,
                                            PredictMemo::Impl& memo) {
  if (!memo.unseen || !are_same(memo.unseen->selection, selection)) {
    OPLAT_TRY(unseen,
              UnseenByFit::create(table.table(), selection, predict::kMinConformalModels - 1));
    memo.unseen.emplace(KeptUnseen{selection, std::move(unseen)});
  }
  return memo.unseen->unseen.selection_for(std::move(selection), plan_identity);
}

Result<predict::Prediction> predict_with(const OpenedTable& table,
                                         const predict::Selection& selection,
                                         const table::Plan& plan, const predict::Options& options,
                                         PredictMemo::Impl& memo) {
  auto& kept = memo.predictor;
  if (!kept || kept->estimator != options.profile || !are_same(kept->selection, selection)) {
    OPLAT_TRY(predictor, predict::Predictor::create(table.table(), selection, options.profile));
    kept.emplace(KeptPredictor{selection, options.profile, std::move(predictor)});
    ++memo.predictors;
  }
  return kept->predictor.predict(plan, options);
}

Result<predict::Ceilings> ceilings_of(const OpenedTable& table, const predict::Selection& selection,
                                      const predict::Prediction& prediction,
                                      PredictMemo::Impl& memo) {
  // The fit does not matter to rows.
  auto& kept = memo.ceilings;
  if (!kept || kept->selection.device_id != selection.device_id ||
      kept->selection.setting_ids != selection.setting_ids) {
    OPLAT_TRY(rows, predict::CeilingRows::read(table.table(), selection));
    kept.emplace(KeptCeilings{selection, std::move(rows)});
  }
  return kept->rows.of(table.table(), prediction);
}

Result<PredictResult> predict_from(const PredictRequest& request, OpenedTable& table,
                                   const OpenTableOptions& opening, PredictMemo& memo,
                                   std::vector<std::string>& warnings, Events& events) {
  forget_foreign(table, memo);
  OPLAT_TRY(selection, selection_of(table, request.rows, memo.impl()));
  OPLAT_TRY(planned, plan_model(table.table(), selection, request.model, request.inputs,
                                request.plan, request.rows, events));
  OPLAT_CHECK(learn_for(table, planned.selection, planned.plan, opening, events));
  forget_foreign(table, memo);
  const table::Table::Reading reading(table.table());
  predict::Options options;
  options.level = request.options.level;
  options.missing = request.options.missing;
  options.profile = request.options.estimator;
  options.given_data_decide = planned.given_data_decide;
  // Rows of another setting answer for the one asked for: the model's time there is no measurement.
  std::optional<predict::MeasuredModel> measured;
  if (planned.selection.mismatch.empty()) {
    OPLAT_TRY(found, measured_model(table.table(), planned.selection, planned.plan.identity));
    measured = found;
  }
  // The prediction is one that the measurement can contradict. Of many models one is little.
  bool left_out = false;
  if (measured && planned.selection.fit) {
    OPLAT_TRY(unseen, unseen_selection(table, std::move(planned.selection), planned.plan.identity,
                                       memo.impl()));
    planned.selection = std::move(unseen);
    left_out = !planned.selection.fit;
  }
  OPLAT_TRY(prediction, predict_with(table, planned.selection, planned.plan, options, memo.impl()));
  prediction.model = request.model;
  prediction.composition.left_out = left_out;
  if (measured) predict::set_measured(prediction, *measured);
  prediction.warnings.insert(prediction.warnings.end(), warnings.begin(), warnings.end());
  prediction.table_path = table.path;
  if (!table.foreign) {
    prediction.help.profile_command =
        profile_command(request.model, request.inputs, table.path.string(),
                        planned.selection.setting, request.rows);
    if (prediction.help.by_fit > 0) {
      OPLAT_TRY(command, fit_command(table.table(), planned.selection));
      prediction.help.fit_command = std::move(command);
    }
  }
  OPLAT_TRY(ceilings, ceilings_of(table, planned.selection, prediction, memo.impl()));
  PredictResult result;
  result.diagnosis = predict::diagnose(prediction, ceilings, compat::catalogue());
  result.measures_here = runtimes::find_runtime(prediction.setting.runtime) != nullptr;
  result.prediction = std::move(prediction);
  return result;
}

/// What is wrong with the request before any table is opened.
Status check_request(const PredictRequest& request) {
  if (request.rows.runtime) OPLAT_CHECK(check_rows_runtime(*request.rows.runtime));
  return check_model_file(request.model);
}

Result<PredictResult> predict_next(const PredictRequest& request, OpenedTable& table,
                                   PredictMemo& memo, Events& events) {
  OPLAT_CHECK(check_request(request));
  std::vector<std::string> warnings;
  WarningsInto collected(warnings, events);
  const OpenTableOptions opening{request.rows, request.skip_bad_rows, request.calibrate};
  auto result = predict_from(request, table, opening, memo, warnings, collected);
  if (!result) return fail(with_path(table, result.error()));
  return result;
}

}  // namespace

Result<PredictResult> predict(const PredictRequest& request, OpenedTable& table, Events& events) {
  PredictMemo memo;
  return predict_next(request, table, memo, events);
}

Result<PredictResult> predict(const PredictRequest& request, OpenedTable& table, PredictMemo& memo,
                              Events& events) {
  return predict_next(request, table, memo, events);
}

Result<OpenedTable> open_table_of(const PredictRequest& request, Events& events) {
  const OpenTableOptions opening{request.rows, request.skip_bad_rows, request.calibrate};
  compat::paddleslim::TableName named{.hardware = request.table};
  named.threads = request.rows.threads.value_or(named.threads);
  OPLAT_TRY(path, compat::paddleslim::table_path(named, ""));
  return open_table(path, opening, events);
}

Result<PredictResult> predict(const PredictRequest& request, Events& events) {
  OPLAT_CHECK(check_request(request));
  std::vector<std::string> warnings;
  WarningsInto collected(warnings, events);
  OPLAT_TRY(table, open_table_of(request, collected));
  const OpenTableOptions opening{request.rows, request.skip_bad_rows, request.calibrate};
  PredictMemo memo;
  auto result = predict_from(request, table, opening, memo, warnings, collected);
  if (!result) return fail(with_path(table, result.error()));
  return result;
}

Status predict_models(const PredictModelsRequest& request,
                      const std::function<Status(ModelPrediction&&)>& answer, Events& events) {
  if (request.each.rows.runtime) OPLAT_CHECK(check_rows_runtime(*request.each.rows.runtime));
  OPLAT_TRY(table, open_table_of(request.each, events));
  if (const auto selection = select_stated(table.table(), request.each.rows); !selection)
    return fail(with_path(table, selection.error()));
  PredictMemo memo;
  std::size_t done = 0;
  const LateProgress progress(events);
  for (const std::string& model : request.models) {
    if (events.cancelled())
      return fail(Code::Interrupted, "stopped after {} of {} models", done, request.models.size());
    progress.report({.done = static_cast<std::int64_t>(done),
                     .total = static_cast<std::int64_t>(request.models.size()),
                     .eta_s = std::nullopt,
                     .what = "predicting",
                     .item = model});
    PredictRequest one = request.each;
    one.model = model;
    OPLAT_CHECK(answer({model, predict_next(one, table, memo, events)}));
    ++done;
  }
  return {};
}

Result<PredictionOptions> parse_prediction(const PredictionTexts& texts) {
  OPLAT_TRY(missing, predict::parse_missing_policy(texts.missing));
  return PredictionOptions{texts.level, missing, estimator_named(texts.estimator)};
}

estimate::Profile estimator_named(const std::string& name) {
  return estimate::parse_profile(name).value_or(estimate::Profile::Accurate);
}

}  // namespace oplat::app
