// SPDX-License-Identifier: Apache-2.0
/// oplat compare A B
#include <array>
#include <memory>

#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/output.hpp"
#include "cli/question.hpp"
#include "compat/registry.hpp"

namespace oplat::cli {
namespace {

struct CompareFlags {
  std::array<std::string, 2> models;
  std::string table;
  ModelOptions model_options;
  QuestionOptions question;
  FormOptions form;
  Verbosity verbosity;
};

Result<int> run_compare(const CompareFlags& flags) {
  OPLAT_CHECK(check_out(flags.form, {flags.models[0], flags.models[1], flags.table}));
  OPLAT_CHECK(shape_options(flags.model_options));
  OPLAT_CHECK(input_options(flags.model_options));
  OPLAT_CHECK(check_question(flags.question));
  for (const std::string& model : flags.models) OPLAT_CHECK(check_model_file(model));
  OPLAT_TRY(table, table::Table::open(flags.table, table::Mode::Read, compat::codecs()));
  OPLAT_TRY(selection, predict::select_rows(table, flags.question.question, compat::catalogue()));
  report::Comparison comparison;
  for (std::size_t i = 0; i < flags.models.size(); ++i) {
    const std::string& model = flags.models[i];
    OPLAT_TRY(prediction, predict_model(table, selection, model, flags.model_options,
                                        flags.question, flags.verbosity));
    OPLAT_CHECK(predict::require_complete(prediction));
    if (!prediction.latency_ns || !prediction.interval)
      return fail(Code::Missing, "{}: no prediction to compare", model);
    comparison.models[i] = std::move(prediction);
  }
  OPLAT_CHECK(print_report(flags.form, report::ReportModel{comparison, {}}));
  for (const auto& p : comparison.models) print_warnings(p.warnings, flags.verbosity);
  for (const auto& one : selection.mismatch) {
    fmt::print(stderr, "oplat: mismatch: {}: asked {}, rows are of {}\n", one.field,
               base::printable(one.asked), base::printable(one.used));
  }
  return kDone;
}

}  // namespace

void add_compare(const Command& app) {
  const Command command =
      app.add_subcommand("compare", "predict two models and say which is faster");
  const auto flags = std::make_shared<CompareFlags>();
  command.add_option("A", flags->models[0], "model file").required();
  command.add_option("B", flags->models[1], "model file").required();
  add_table(command, flags->table);
  add_question_options(command, flags->question);
  add_plan_option(command, flags->question);
  add_model_options(command, flags->model_options);
  add_form<report::Comparison>(command, flags->form);
  add_verbosity(command, flags->verbosity);
  command.runs([flags] { return run_compare(*flags); });
}

}  // namespace oplat::cli
