// SPDX-License-Identifier: Apache-2.0
/// oplat predict MODEL
#include <memory>

#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/output.hpp"
#include "cli/question.hpp"
#include "oplat/base/units.hpp"

namespace oplat::cli {
namespace {

struct Flags {
  std::string model;
  std::string table;
  ModelOptions model_options;
  QuestionOptions question;
  FormOptions form;
  Loudness loudness;
  bool per_op = false;
  std::string max_latency;
};

Result<int> run(const Flags& flags) {
  double most_ns = 0;
  if (!flags.max_latency.empty()) {
    OPLAT_TRY(ns, base::parse_duration_ns(flags.max_latency));
    most_ns = ns;
  }
  OPLAT_CHECK(shape_options(flags.model_options));
  OPLAT_CHECK(input_options(flags.model_options));
  OPLAT_CHECK(check_question(flags.question));
  OPLAT_CHECK(check_model_file(flags.model));
  OPLAT_TRY(table, table::Table::open(flags.table, table::Mode::Read));
  OPLAT_TRY(selection, predict::select(table, flags.question.question));
  OPLAT_TRY(prediction, predict_model(table, selection, flags.model, flags.model_options, flags.question, flags.loudness));
  OPLAT_TRY(ceilings, predict::find_ceilings(table, selection, prediction));
  report::ReportModel report{report::PredictionReport{prediction, predict::diagnose(prediction, ceilings)}, {}};
  report.options.per_op = flags.per_op;
  OPLAT_CHECK(print_report(flags.form.form(), std::move(report)));
  if (flags.form.form() != "text") print_warnings(prediction.warnings, flags.loudness);
  OPLAT_CHECK(predict::require_complete(prediction));
  if (most_ns > 0 && prediction.latency_ns && *prediction.latency_ns > most_ns) {
    return fail(Code::GateNotMet, "{}: {} predicted, more than --max-latency {}", flags.model, base::duration_text(*prediction.latency_ns), flags.max_latency);
  }
  return kDone;
}

}  // namespace

void add_predict(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("predict", "predict a model's latency from a table");
  const auto flags = std::make_shared<Flags>();
  command->add_option("MODEL", flags->model, "model file (ONNX)")->required();
  add_table(*command, flags->table);
  add_question_options(*command, flags->question);
  add_model_options(*command, flags->model_options);
  add_form(*command, flags->form);
  command->add_flag("--per-op", flags->per_op, "every kernel, not only the costliest");
  command->add_option("--max-latency", flags->max_latency, "exit 7 if the prediction is above this: 10ms, 250us")->type_name("TIME");
  add_loudness(*command, flags->loudness);
  command->callback([&action, flags] { action = [flags] { return run(*flags); }; });
}

}  // namespace oplat::cli
