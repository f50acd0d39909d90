// SPDX-License-Identifier: Apache-2.0
/// oplat paddleslim predict: TableLatencyPredictor.predict, with intervals and without silent
/// zeros.
#include <memory>

#include "app/paddleslim.hpp"
#include "cli/events_terminal.hpp"
#include "cli/exit_code.hpp"
#include "cli/options.hpp"
#include "cli/output.hpp"
#include "cli/paddleslim/commands.hpp"
#include "cli/prediction_options.hpp"
#include "compat/paddleslim/prediction_text.hpp"

namespace oplat::cli {
namespace {

struct PaddleslimPredictFlags {
  app::PaddleslimRequest request;
  std::string op_predictor = "off";
  app::ModelInputTexts inputs;
  std::string plan = "auto";
  bool per_op = false;
  FormOptions form;
  Verbosity verbosity;
};

Result<int> run_paddleslim_predict(const PaddleslimPredictFlags& flags) {
  app::PaddleslimRequest request = flags.request;
  if (!request.hardware.empty()) drop_default_table(request.table);
  OPLAT_CHECK(check_out(flags.form, {request.model, request.params, request.table}));
  OPLAT_TRY(inputs, app::parse_model_inputs(flags.inputs));
  request.inputs = std::move(inputs);
  OPLAT_TRY(plan, app::parse_plan_source(flags.plan));
  request.plan = std::move(plan);
  request.estimate = flags.op_predictor == "on";
  TerminalEvents events(flags.verbosity);
  OPLAT_TRY(result, app::paddleslim_predict(request, events));
  events.finish();
  const predict::Prediction prediction = result.prediction;
  report::ReportModel report{
      report::PredictionReport{std::move(result.prediction), std::move(result.diagnosis)}, {}};
  report.options.per_op = flags.per_op;
  report.options.text = compat::paddleslim::prediction_text(prediction, flags.per_op);
  OPLAT_CHECK(print_report(flags.form, std::move(report)));
  print_warnings(prediction.warnings, flags.verbosity);
  OPLAT_CHECK(compat::paddleslim::require_keys(prediction, request.estimate));
  return kDone;
}

constexpr const char* kPaddleslimPredictFooter =
    R"(
--table is a file (PaddleSlim's pickle or a table of oplat, recognised by its bytes), or one of the
names SD625, SD710, SD845, SD865 and RK3288. Such a name, like --hardware NAME, means the file
NAME_threads_N_power_mode_M.pkl in the current folder, in --table-dir or in the folders of
$OPLAT_TABLES (case does not matter). oplat never downloads a table.
--dtype is what the model holds by default: int8 if it is quantised, else fp32. fp16 must be asked
for. A contradiction is an error.
--op-predictor off (default, as in the original): operators that the table lacks are an error, which
lists them with their call counts. on: they are estimated, for any type and batch, by a fit of the
table's rows that is made once and cached.
Exit codes: 0 done; 2 usage; 3 the model, its parameters or the table is missing or malformed; 4
operators that the table lacks; 6 the table has other threads, another power mode or another
precision.
Example: oplat paddleslim predict --model mobilenetv1.pdmodel --params mobilenetv1.pdiparams
             --table SD710 --dtype fp32)";

}  // namespace

void add_paddleslim_predict(const Command& group) {
  const Command command = group.add_subcommand(
      "predict", "predict a model's latency as the sum over its operators in Paddle-Lite");
  const auto flags = std::make_shared<PaddleslimPredictFlags>();
  command
      .add_option("--model", flags->request.model,
                  "Paddle program: NAME.pdmodel, __model__, or NAME.json of Paddle 3")
      .required()
      .type_name("FILE");
  command
      .add_option("--params", flags->request.params,
                  "parameters of the program (default: the file next to it)")
      .type_name("FILE");
  command
      .add_option("--table", flags->request.table, "latency table: a file or a name such as SD710")
      .envname("OPLAT_TABLE")
      .type_name("FILE|NAME");
  command
      .add_option("--hardware", flags->request.hardware,
                  "instead of --table: any NAME of NAME_threads_N_power_mode_M.pkl")
      .type_name("NAME");
  command.add_option("--table-dir", flags->request.table_dir, "further folder with named tables")
      .type_name("DIR");
  command
      .add_option("--dtype", flags->request.dtype,
                  "precision: fp32, int8 or fp16 (default: what the model holds)")
      .one_of({"fp32", "int8", "fp16"});
  command
      .add_option("--threads", flags->request.threads,
                  "number of threads with which the table was measured")
      .range(1, 4096)
      .capture_default_str();
  command
      .add_option("--power-mode", flags->request.power_mode,
                  "power mode in which the table was measured (default: 0 for a named table, else "
                  "that of the file)")
      .range(0, 99);
  command.add_option("--device", flags->request.rows.device, "use rows of this device")
      .type_name("NAME");
  command.add_option("--runtime-version", flags->request.rows.version,
                     "use rows of this version of Paddle-Lite");
  command
      .add_option("--op-predictor", flags->op_predictor,
                  "estimate operators that the table lacks: on or off")
      .one_of({"on", "off"})
      .capture_default_str();
  command
      .add_option("--plan", flags->plan,
                  "fusion rules that turn the model into kernels: auto, rules or rules:NAME")
      .capture_default_str();
  add_model_options(command, flags->inputs);
  command.add_flag("--allow-setting-mismatch", flags->request.rows.allow_setting_mismatch,
                   "accept a table with other threads or another precision, with a wider interval");
  command.add_option("--level", flags->request.level, "confidence level of the interval")
      .range(0.01, 0.999)
      .capture_default_str();
  command.add_flag("--per-op", flags->per_op, "list every operator with its text in the table");
  add_form<report::PredictionReport>(command, flags->form);
  add_foreign_table_options(command, flags->request.skip_bad_rows, flags->request.calibrate);
  add_verbosity(command, flags->verbosity);
  command.footer({kPaddleslimPredictFooter});
  command.runs([flags] { return run_paddleslim_predict(*flags); });
}

}  // namespace oplat::cli
