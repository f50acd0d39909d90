// SPDX-License-Identifier: Apache-2.0
/// The steps of app/predict.cpp, with the model's own precision and the power mode of the table.
#include "app/paddleslim.hpp"

#include <algorithm>

#include "app/rule_choice.hpp"
#include "app/table_source.hpp"
#include "base/text.hpp"
#include "compat/paddleslim/model_files.hpp"
#include "compat/paddleslim/table_files.hpp"
#include "compat/registry.hpp"
#include "predict/ceilings.hpp"

namespace oplat::app {
namespace {

constexpr const char* kPowerMode = "power_mode";

Status check_paddle_tables(const PaddleslimRequest& request) {
  if (request.table.empty() == request.hardware.empty()) {
    return fail(Code::Usage,
                "set the table once, with --table FILE or NAME, or with --hardware NAME");
  }
  if (request.hardware.find('/') != std::string::npos) {
    return fail(Code::Usage,
                "--hardware {}: expected a name such as SD710; give a file with --table",
                base::printable(request.hardware));
  }
  return {};
}

/// The asked precision; where none is, the model's own.
Result<std::string> paddle_precision(const compat::paddleslim::PaddleModel& model,
                                     const PaddleslimRequest& request) {
  OPLAT_TRY(source, base::Source::open(model.path));
  OPLAT_TRY(reader, formats::reader_for(source));
  OPLAT_TRY(graph, reader->read(source, request.inputs.shapes));
  const std::string held = model_precision(graph);
  OPLAT_CHECK(check_precision(request.model, held, request.dtype));
  return request.dtype.value_or(held);
}

/// Of a --hardware, whatever its name, or of a --table.
Result<std::string> paddle_table_path(const PaddleslimRequest& request) {
  const std::int64_t power_mode = request.power_mode.value_or(0);
  if (request.hardware.empty())
    return compat::paddleslim::table_path({request.table, request.threads, power_mode},
                                          request.table_dir);
  OPLAT_TRY(path, compat::paddleslim::find_table_file(
                      {request.hardware, request.threads, power_mode}, request.table_dir));
  return path.string();
}

/// What no row says is taken as asked.
Status drop_unsaid_power_mode(const table::Table& table, predict::RowFilter& rows) {
  OPLAT_TRY(settings, table.settings());
  const auto says = [](const auto& setting) { return setting.second.options.contains(kPowerMode); };
  if (std::none_of(settings.begin(), settings.end(), says)) rows.options.erase(kPowerMode);
  return {};
}

Result<PaddleslimResult> paddle_answer(const PaddleslimRequest& request,
                                       const compat::paddleslim::PaddleModel& model,
                                       OpenedTable& table, const OpenTableOptions& opening,
                                       std::vector<std::string>& warnings, Events& events) {
  OPLAT_TRY(selection, select_stated(table.table(), opening.rows));
  OPLAT_TRY(planned, plan_model(table.table(), selection, model.path, request.inputs, request.plan,
                                opening.rows, events));
  if (request.estimate)
    OPLAT_CHECK(learn_for(table, planned.selection, planned.plan, opening, events));
  const auto profile = request.estimate ? std::optional(estimate::Profile::Accurate) : std::nullopt;
  OPLAT_TRY(predictor, predict::Predictor::create(table.table(), planned.selection, profile));
  predict::Options options;
  options.level = request.level;
  options.missing =
      request.estimate ? predict::MissingPolicy::Roofline : predict::MissingPolicy::Error;
  OPLAT_TRY(prediction, predictor.predict(planned.plan, options));
  prediction.model = request.model;
  prediction.table_path = table.path;
  prediction.warnings.insert(prediction.warnings.end(), warnings.begin(), warnings.end());
  OPLAT_TRY(ceilings, predict::find_ceilings(table.table(), planned.selection, prediction));
  predict::Diagnosis diagnosis = predict::diagnose(prediction, ceilings, compat::catalogue());
  return PaddleslimResult{std::move(prediction), std::move(diagnosis)};
}

/// Without the advice to ask in another precision: the model has its own.
Error paddle_worded(const OpenedTable& table, Error error) {
  constexpr std::string_view kTheirs = "choose it with --precision ";
  constexpr std::string_view kOr = " or ";
  error = with_path(table, std::move(error));
  const std::size_t at = error.message.find(kTheirs);
  const std::size_t end = at == std::string::npos ? at : error.message.find(kOr, at);
  if (end != std::string::npos) error.message.erase(at, end + kOr.size() - at);
  return error;
}

}  // namespace

Result<PaddleslimResult> paddleslim_predict(const PaddleslimRequest& request, Events& others) {
  OPLAT_CHECK(check_paddle_tables(request));
  OPLAT_CHECK(check_model_file(request.model));
  if (!request.params.empty()) OPLAT_CHECK(check_model_file(request.params));
  OPLAT_TRY(model, compat::paddleslim::open_paddle_model(request.model, request.params));
  auto precision = paddle_precision(model, request);
  if (!precision) return fail(model.as_named(precision.error()));
  OPLAT_TRY(path, paddle_table_path(request));
  OpenTableOptions opening;
  opening.skip_bad_rows = request.skip_bad_rows;
  opening.calibrate = request.calibrate;
  opening.rows = request.rows;
  opening.rows.threads = request.threads;
  opening.rows.precision = *precision;
  if (request.power_mode) opening.rows.options[kPowerMode] = std::to_string(*request.power_mode);
  std::vector<std::string> warnings;
  WarningsInto events(warnings, others);
  OPLAT_TRY(table, open_table(path, opening, events));
  OPLAT_CHECK(drop_unsaid_power_mode(table.table(), opening.rows));
  auto answered = paddle_answer(request, model, table, opening, warnings, events);
  if (!answered) return fail(model.as_named(paddle_worded(table, answered.error())));
  return answered;
}

}  // namespace oplat::app
