// SPDX-License-Identifier: Apache-2.0
/// oplat paddleslim predict: TableLatencyPredictor.predict, with intervals and without silent
/// zeros.
#include <algorithm>
#include <memory>
#include <optional>

#include "app/plan_source.hpp"
#include "app/rule_choice.hpp"
#include "app/table_source.hpp"
#include "base/text.hpp"
#include "cli/events_terminal.hpp"
#include "cli/exit_code.hpp"
#include "cli/options.hpp"
#include "cli/output.hpp"
#include "cli/paddleslim/commands.hpp"
#include "cli/paddleslim/paddle_model.hpp"
#include "cli/paddleslim/paddle_report.hpp"
#include "cli/prediction_options.hpp"
#include "compat/paddleslim/table_files.hpp"
#include "compat/registry.hpp"
#include "predict/ceilings.hpp"

namespace oplat::cli {
namespace {

constexpr const char* kPowerMode = "power_mode";

struct PaddleslimPredictFlags {
  std::string model;
  std::string params;
  std::string table;
  std::string hardware;
  std::string table_dir;
  std::optional<std::string> dtype;
  std::int64_t threads = 4;
  std::optional<std::int64_t> power_mode;
  std::string op_predictor = "off";
  ModelOptions model_options;
  predict::RowFilter rows;
  std::string plan = "auto";
  double level = 0.9;
  ForeignTableFlags foreign;
  bool per_op = false;
  bool json = false;
  Verbosity verbosity;
};

Status check_flags(const PaddleslimPredictFlags& flags) {
  if (flags.table.empty() == flags.hardware.empty()) {
    return fail(Code::Usage,
                "set the table once, with --table FILE or NAME, or with --hardware NAME");
  }
  if (flags.hardware.find('/') != std::string::npos) {
    return fail(Code::Usage,
                "--hardware {}: expected a name such as SD710; give a file with --table",
                base::printable(flags.hardware));
  }
  OPLAT_CHECK(shape_options(flags.model_options));
  OPLAT_CHECK(input_options(flags.model_options));
  return app::parse_plan_source(flags.plan).map([](const app::PlanSource&) {});
}

/// The asked precision; where none is, the model's own.
Result<std::string> precision_of(const PaddleModel& model, const PaddleslimPredictFlags& flags) {
  OPLAT_TRY(shapes, shape_options(flags.model_options));
  OPLAT_TRY(source, base::Source::open(model.path));
  OPLAT_TRY(reader, formats::reader_for(source));
  OPLAT_TRY(graph, reader->read(source, shapes));
  const std::string held = app::model_precision(graph);
  OPLAT_CHECK(app::check_precision(flags.model, held, flags.dtype));
  return flags.dtype.value_or(held);
}

/// Of a --hardware, whatever its name, or of a --table.
Result<std::string> table_path(const PaddleslimPredictFlags& flags) {
  const std::int64_t power_mode = flags.power_mode.value_or(0);
  if (flags.hardware.empty())
    return compat::paddleslim::table_path({flags.table, flags.threads, power_mode},
                                          flags.table_dir);
  OPLAT_TRY(path, compat::paddleslim::find_table_file({flags.hardware, flags.threads, power_mode},
                                                      flags.table_dir));
  return path.string();
}

/// What no row says is taken as asked.
Status drop_unsaid_power_mode(const table::Table& table, predict::RowFilter& rows) {
  OPLAT_TRY(settings, table.settings());
  const auto says = [](const auto& setting) { return setting.second.options.contains(kPowerMode); };
  if (std::none_of(settings.begin(), settings.end(), says)) rows.options.erase(kPowerMode);
  return {};
}

Result<report::PredictionReport> answer(const PaddleslimPredictFlags& flags,
                                        const PaddleModel& model, app::OpenedTable& table,
                                        const app::OpenTableOptions& opening,
                                        std::vector<std::string>& warnings, app::Events& events) {
  OPLAT_TRY(selection, app::select_stated(table.table(), opening.rows));
  OPLAT_TRY(inputs, model_inputs(flags.model_options));
  OPLAT_TRY(plan, app::parse_plan_source(flags.plan));
  OPLAT_TRY(planned, app::plan_model(table.table(), selection, model.path, inputs, plan,
                                     opening.rows, events));
  const bool estimates = flags.op_predictor == "on";
  if (estimates)
    OPLAT_CHECK(app::learn_for(table, planned.selection, planned.plan, opening, events));
  const auto profile = estimates ? std::optional(estimate::Profile::Accurate) : std::nullopt;
  OPLAT_TRY(predictor, predict::Predictor::create(table.table(), planned.selection, profile));
  predict::Options options;
  options.level = flags.level;
  options.missing = estimates ? predict::MissingPolicy::Roofline : predict::MissingPolicy::Error;
  OPLAT_TRY(prediction, predictor.predict(planned.plan, options));
  prediction.model = flags.model;
  prediction.table_path = table.path;
  prediction.warnings.insert(prediction.warnings.end(), warnings.begin(), warnings.end());
  OPLAT_TRY(ceilings, predict::find_ceilings(table.table(), planned.selection, prediction));
  predict::Diagnosis diagnosis = predict::diagnose(prediction, ceilings, compat::catalogue());
  return report::PredictionReport{std::move(prediction), std::move(diagnosis)};
}

/// Without the advice to ask in another precision: the model has its own.
Error worded(const app::OpenedTable& table, Error error) {
  constexpr std::string_view kTheirs = "choose it with --precision ";
  constexpr std::string_view kOr = " or ";
  error = app::with_path(table, std::move(error));
  const std::size_t at = error.message.find(kTheirs);
  const std::size_t end = at == std::string::npos ? at : error.message.find(kOr, at);
  if (end != std::string::npos) error.message.erase(at, end + kOr.size() - at);
  return error;
}

Result<int> run_paddleslim_predict(PaddleslimPredictFlags flags) {
  if (!flags.hardware.empty()) drop_default_table(flags.table);
  OPLAT_CHECK(check_flags(flags));
  OPLAT_TRY(model, open_paddle_model(flags.model, flags.params));
  auto precision = precision_of(model, flags);
  if (!precision) return fail(model.as_named(precision.error()));
  OPLAT_TRY(path, table_path(flags));
  app::OpenTableOptions opening;
  opening.skip_bad_rows = flags.foreign.skip_bad_rows;
  opening.calibrate = flags.foreign.calibrate;
  opening.rows = flags.rows;
  opening.rows.threads = flags.threads;
  opening.rows.precision = *precision;
  if (flags.power_mode) opening.rows.options[kPowerMode] = std::to_string(*flags.power_mode);
  std::vector<std::string> warnings;
  TerminalEvents terminal(flags.verbosity);
  app::WarningsInto events(warnings, terminal);
  OPLAT_TRY(table, app::open_table(path, opening, events));
  OPLAT_CHECK(drop_unsaid_power_mode(table.table(), opening.rows));
  auto answered = answer(flags, model, table, opening, warnings, events);
  if (!answered) return fail(model.as_named(worded(table, answered.error())));
  const predict::Prediction prediction = answered->prediction;
  if (flags.json) {
    OPLAT_CHECK(print_report("json", report::ReportModel{*std::move(answered), {}}));
  } else {
    fmt::print("{}", paddle_report(prediction, flags.per_op));
  }
  print_warnings(prediction.warnings, flags.verbosity);
  OPLAT_CHECK(require_keys(prediction, flags.op_predictor == "on"));
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
      .add_option("--model", flags->model,
                  "Paddle program: NAME.pdmodel, __model__, or NAME.json of Paddle 3")
      .required()
      .type_name("FILE");
  command
      .add_option("--params", flags->params,
                  "parameters of the program (default: the file next to it)")
      .type_name("FILE");
  command.add_option("--table", flags->table, "latency table: a file or a name such as SD710")
      .envname("OPLAT_TABLE")
      .type_name("FILE|NAME");
  command
      .add_option("--hardware", flags->hardware,
                  "instead of --table: any NAME of NAME_threads_N_power_mode_M.pkl")
      .type_name("NAME");
  command.add_option("--table-dir", flags->table_dir, "further folder with named tables")
      .type_name("DIR");
  command
      .add_option("--dtype", flags->dtype,
                  "precision: fp32, int8 or fp16 (default: what the model holds)")
      .one_of({"fp32", "int8", "fp16"});
  command
      .add_option("--threads", flags->threads,
                  "number of threads with which the table was measured")
      .range(1, 4096)
      .capture_default_str();
  command
      .add_option("--power-mode", flags->power_mode,
                  "power mode in which the table was measured (default: 0 for a named table, else "
                  "that of the file)")
      .range(0, 99);
  command.add_option("--device", flags->rows.device, "use rows of this device").type_name("NAME");
  command.add_option("--runtime-version", flags->rows.version,
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
  add_model_options(command, flags->model_options);
  command.add_flag("--allow-setting-mismatch", flags->rows.allow_setting_mismatch,
                   "accept a table with other threads or another precision, with a wider interval");
  command.add_option("--level", flags->level, "confidence level of the interval")
      .range(0.01, 0.999)
      .capture_default_str();
  command.add_flag("--per-op", flags->per_op, "list every operator with its text in the table");
  command.add_flag("--json", flags->json, "print JSON, as 'oplat predict' does");
  add_foreign_table_options(command, flags->foreign);
  add_verbosity(command, flags->verbosity);
  command.footer(kPaddleslimPredictFooter);
  command.runs([flags] { return run_paddleslim_predict(*flags); });
}

}  // namespace oplat::cli
