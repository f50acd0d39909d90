// SPDX-License-Identifier: Apache-2.0
/// oplat predict MODEL
#include <memory>

#include "base/units.hpp"
#include "cli/any_table.hpp"
#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/output.hpp"
#include "cli/paddleslim/paddle_table.hpp"
#include "cli/question.hpp"
#include "compat/registry.hpp"
#include "runtimes/protocol.hpp"

namespace oplat::cli {
namespace {

struct PredictFlags {
  std::string model;
  std::string table;
  ModelOptions model_options;
  QuestionOptions question;
  FormOptions form;
  Verbosity verbosity;
  bool per_op = false;
  std::string max_latency;
  AnyTableWish foreign;
};

Result<report::PredictionReport> answer(const PredictFlags& flags, AnyTable& table,
                                        const AnyTableWish& wish,
                                        const std::vector<std::string>& warnings) {
  OPLAT_TRY(selection, select_stated(table.table(), flags.question.question));
  OPLAT_TRY(planned, plan_model(table.table(), selection, flags.model, flags.model_options,
                                flags.question, flags.verbosity));
  planned.warnings.insert(planned.warnings.begin(), warnings.begin(), warnings.end());
  OPLAT_CHECK(learn_for(table, planned.selection, planned.plan, wish, planned.warnings));
  OPLAT_TRY(prediction, predict_planned(table.table(), planned, flags.model, flags.question));
  prediction.table_path = table.path;
  OPLAT_TRY(ceilings, predict::find_ceilings(table.table(), planned.selection, prediction));
  predict::Diagnosis diagnosis = predict::diagnose(prediction, ceilings, compat::catalogue());
  return report::PredictionReport{std::move(prediction), std::move(diagnosis)};
}

Result<int> run_predict(const PredictFlags& flags) {
  OPLAT_CHECK(check_out(flags.form, {flags.model, flags.table}));
  double most_ns = 0;
  if (!flags.max_latency.empty()) {
    OPLAT_TRY(ns, base::parse_duration_ns(flags.max_latency));
    most_ns = ns;
  }
  OPLAT_CHECK(shape_options(flags.model_options));
  OPLAT_CHECK(input_options(flags.model_options));
  OPLAT_CHECK(check_question(flags.question));
  OPLAT_CHECK(check_model_file(flags.model));
  AnyTableWish wish = flags.foreign;
  wish.question = flags.question.question;
  wish.verbosity = flags.verbosity;
  std::vector<std::string> warnings;
  PaddleTableName named{.hardware = flags.table};
  named.threads = wish.question.threads.value_or(named.threads);
  OPLAT_TRY(path, paddle_table_path(named, ""));
  OPLAT_TRY(table, open_any_table(path, wish, warnings));
  auto answered = answer(flags, table, wish, warnings);
  if (!answered) return fail(with_path(table, answered.error()));
  const predict::Prediction prediction = answered->prediction;
  report::ReportModel report{*std::move(answered), {}};
  report.options.per_op = flags.per_op;
  report.options.measures_here = runtimes::find_runtime(prediction.setting.runtime) != nullptr;
  OPLAT_CHECK(print_report(flags.form, std::move(report)));
  if (flags.form.form() != "text") print_warnings(prediction.warnings, flags.verbosity);
  OPLAT_CHECK(predict::require_complete(prediction));
  if (most_ns > 0 && prediction.latency_ns && *prediction.latency_ns > most_ns) {
    return fail(Code::GateNotMet, "{}: {} predicted, more than --max-latency {}", flags.model,
                base::duration_text(*prediction.latency_ns), flags.max_latency);
  }
  return kDone;
}

}  // namespace

void add_predict(const Command& app) {
  const Command command = app.add_subcommand("predict", "predict a model's latency from a table");
  const auto flags = std::make_shared<PredictFlags>();
  command.add_option("MODEL", flags->model, "model file (ONNX, Paddle)").required();
  add_table(command, flags->table);
  add_question_options(command, flags->question);
  add_plan_option(command, flags->question);
  add_model_options(command, flags->model_options);
  add_form<report::PredictionReport>(command, flags->form);
  command.add_flag("--per-op", flags->per_op, "every kernel, not only the costliest");
  command
      .add_option("--max-latency", flags->max_latency,
                  "exit 7 if the prediction is above this: 10ms, 250us")
      .type_name("TIME");
  add_foreign_options(command, flags->foreign);
  add_verbosity(command, flags->verbosity);
  command.footer(
      "--table may be a latency table of PaddleSlim (a pickle, told by its bytes): its rows answer "
      "as they stand, and what they\n"
      "lack is estimated from a fit that is made once and kept under $XDG_CACHE_HOME/oplat (or "
      "~/.cache/oplat). SD710, RK3288 and\n"
      "the like mean NAME_threads_4_power_mode_0.pkl (or of --threads N) in the current folder or "
      "those of $OPLAT_TABLES.\n"
      "Exit codes: 0 done; 2 usage, or several settings fit; 3 a model or the table is absent or "
      "malformed; 4 kernels without an\n"
      "estimate; 5 the runtime's plan cannot be had; 6 no row for the asked setting; 7 above "
      "--max-latency.\n"
      "Example: oplat predict mobilenetv1.pdmodel --table RK3288_threads_4_power_mode_0.pkl");
  command.runs([flags] { return run_predict(*flags); });
}

}  // namespace oplat::cli
