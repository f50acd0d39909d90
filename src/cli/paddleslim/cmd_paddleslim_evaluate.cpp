// SPDX-License-Identifier: Apache-2.0
/// oplat paddleslim evaluate MODEL --table FILE: TableLatencyEvaluator.latency.
#include <memory>

#include "app/model_inputs.hpp"
#include "cli/exit_code.hpp"
#include "cli/options.hpp"
#include "cli/output.hpp"
#include "cli/paddleslim/commands.hpp"
#include "compat/paddleslim/evaluate.hpp"

namespace oplat::cli {
namespace {

struct PaddleslimEvaluateFlags {
  compat::paddleslim::EvaluateRequest request;
  app::ModelInputTexts inputs;
  FormOptions form;
  Verbosity verbosity;
};

Result<int> run_paddleslim_evaluate(const PaddleslimEvaluateFlags& flags) {
  compat::paddleslim::EvaluateRequest request = flags.request;
  OPLAT_TRY(shapes, app::parse_shapes(flags.inputs));
  request.shapes = std::move(shapes);
  OPLAT_CHECK(check_out(flags.form, {request.model, request.table}));
  OPLAT_CHECK(app::check_model_file(request.model));
  std::vector<std::string> warnings;
  OPLAT_TRY(document, compat::paddleslim::EvaluateDocument::make(request, warnings));
  print_warnings(warnings, flags.verbosity);
  OPLAT_CHECK(print_report(flags.form, report::ReportModel{document, {}}));
  OPLAT_CHECK(document->require_answers());
  return kDone;
}

constexpr const char* kPaddleslimEvaluateFooter =
    R"(
The table has a head line (engine, device and time), then lines OPERATOR<tab>MS, where OPERATOR is
text such as conv,1,1,1,3,224,224,32,1,3,1,2,1. 'oplat import --format paddle-evaluator' reads it
into a table. As in the original, operators match by that text alone, the batch is 1 whatever the
model's, only convolutions count unless --no-only-conv is set, and fully connected layers ('mul')
count as convolutions. Types that do not count are listed. Nothing is estimated: 'oplat predict' and
'oplat paddleslim predict' do that.
--json prints oplat.paddleslim.evaluate/1.
Exit codes: 0 done; 2 usage; 3 a file is missing or malformed; 4 operators that the table lacks (the
text is complete).
Example: oplat paddleslim evaluate mobilenetv1.pdmodel --table phone.txt --batch 1)";

}  // namespace

void add_paddleslim_evaluate(const Command& group) {
  const Command command = group.add_subcommand(
      "evaluate",
      "sum the latencies of a model's operators from a text table, as TableLatencyEvaluator does");
  const auto flags = std::make_shared<PaddleslimEvaluateFlags>();
  command.add_option("MODEL", flags->request.model, "Paddle program (.pdmodel, __model__, .json)")
      .required();
  command.add_option("--table", flags->request.table, "text table of TableLatencyEvaluator")
      .type_name("FILE")
      .required();
  command
      .add_option("--delimiter", flags->request.delimiter,
                  "separator of the fields of an operator's text")
      .capture_default_str();
  command.add_flag("--only-conv,!--no-only-conv", flags->request.only_conv,
                   "count only convolutions, as the original does by default");
  command.add_flag("--skip-bad-rows", flags->request.skip_bad_rows,
                   "skip malformed lines of the table, and report them");
  add_model_options(command, flags->inputs);
  add_form<report::ForeignReport>(command, flags->form);
  add_verbosity(command, flags->verbosity);
  command.footer({kPaddleslimEvaluateFooter});
  command.runs([flags] { return run_paddleslim_evaluate(*flags); });
}

}  // namespace oplat::cli
