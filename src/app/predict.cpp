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

/// What several models share: it has read the fit, and remembers kernels.
struct KeptPredictor {
  predict::Selection selection;
  estimate::Profile estimator;
  predict::Predictor predictor;
  /// Whether the same rows answer, with the same to say of them.
  [[nodiscard]] bool answers(const predict::Selection& other, estimate::Profile how) const {
    return how == estimator && other.device_id == selection.device_id &&
           other.setting_ids == selection.setting_ids && other.mismatch == selection.mismatch &&
           other.warnings == selection.warnings && other.fit == selection.fit;
  }
};

/// `kept`: of the model before; made anew where it does not answer.
Result<predict::Prediction> predict_with(const OpenedTable& table,
                                         const predict::Selection& selection,
                                         const table::Plan& plan, const predict::Options& options,
                                         std::optional<KeptPredictor>& kept) {
  // What a foreign file teaches is learned once a model asks for it.
  if (table.foreign || !kept || !kept->answers(selection, options.profile)) {
    OPLAT_TRY(predictor, predict::Predictor::create(table.table(), selection, options.profile));
    kept.emplace(KeptPredictor{selection, options.profile, std::move(predictor)});
  }
  return kept->predictor.predict(plan, options);
}

Result<PredictResult> predict_from(const PredictRequest& request, OpenedTable& table,
                                   const OpenTableOptions& opening,
                                   std::optional<KeptPredictor>& kept,
                                   std::vector<std::string>& warnings, Events& events) {
  OPLAT_TRY(selection, select_stated(table.table(), request.rows));
  OPLAT_TRY(planned, plan_model(table.table(), selection, request.model, request.inputs,
                                request.plan, request.rows, events));
  OPLAT_CHECK(learn_for(table, planned.selection, planned.plan, opening, events));
  predict::Options options;
  options.level = request.options.level;
  options.missing = request.options.missing;
  options.profile = request.options.estimator;
  // Rows of another setting answer for the one asked for: the model's time there is no measurement.
  std::optional<predict::MeasuredModel> measured;
  if (planned.selection.mismatch.empty()) {
    OPLAT_TRY(found, measured_model(table.table(), planned.selection, planned.plan.identity));
    measured = found;
  }
  // The prediction is one that the measurement can contradict. Of many models one is little.
  bool left_out = false;
  if (measured && planned.selection.fit) {
    OPLAT_TRY(unseen, UnseenByFit::create(table.table(), planned.selection,
                                          predict::kMinConformalModels - 1));
    planned.selection = unseen.selection_for(planned.selection, planned.plan.identity);
    left_out = !planned.selection.fit;
  }
  OPLAT_TRY(prediction, predict_with(table, planned.selection, planned.plan, options, kept));
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
  OPLAT_TRY(ceilings, predict::find_ceilings(table.table(), planned.selection, prediction));
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
                                   std::optional<KeptPredictor>& kept, Events& events) {
  OPLAT_CHECK(check_request(request));
  std::vector<std::string> warnings;
  WarningsInto collected(warnings, events);
  const OpenTableOptions opening{request.rows, request.skip_bad_rows, request.calibrate};
  auto result = predict_from(request, table, opening, kept, warnings, collected);
  if (!result) return fail(with_path(table, result.error()));
  return result;
}

}  // namespace

Result<PredictResult> predict(const PredictRequest& request, OpenedTable& table, Events& events) {
  std::optional<KeptPredictor> kept;
  return predict_next(request, table, kept, events);
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
  std::optional<KeptPredictor> kept;
  auto result = predict_from(request, table, opening, kept, warnings, collected);
  if (!result) return fail(with_path(table, result.error()));
  return result;
}

Status predict_models(const PredictModelsRequest& request,
                      const std::function<Status(ModelPrediction&&)>& answer, Events& events) {
  if (request.each.rows.runtime) OPLAT_CHECK(check_rows_runtime(*request.each.rows.runtime));
  OPLAT_TRY(table, open_table_of(request.each, events));
  if (const auto selection = select_stated(table.table(), request.each.rows); !selection)
    return fail(with_path(table, selection.error()));
  std::optional<KeptPredictor> kept;
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
    OPLAT_CHECK(answer({model, predict_next(one, table, kept, events)}));
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
