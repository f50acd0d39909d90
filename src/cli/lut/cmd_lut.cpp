// SPDX-License-Identifier: Apache-2.0
/// oplat lut --model_path DIR[,DIR]: the job of runtime_lut's get_runtime.py.
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/text.hpp"
#include "cli/events_terminal.hpp"
#include "cli/exit_code.hpp"
#include "cli/lut/commands.hpp"
#include "cli/lut/lut_answers.hpp"
#include "cli/lut/lut_report.hpp"
#include "cli/output.hpp"
#include "cli/prediction_options.hpp"
#include "cli/text_output.hpp"
#include "compat/registry.hpp"

namespace oplat::cli {
namespace {

constexpr const char* kDevice = "SM-G950U-7.0-24";

struct LutFlags {
  std::vector<std::string> model_paths = {
      "ChamNet/models/ChamNet-E/int8,ChamNet/models/ChamNet-E/fp32"};
  std::string db_dir = "runtime_lut/data";
  std::string input_dims = R"({"data": [1, 3, 160, 160]})";
  std::int64_t input_dtype = 1;
  /// nothing: the original's for files, the only one of a --table
  std::optional<std::string> device;
  std::string mode = "ave";
  std::string table;
  predict::RowFilter question = {.has_mismatch_flag = false};
  bool queries = false;
  bool estimate = false;
  std::string profile = "accurate";
  bool calibrate = true;
  double level = 0.9;
  bool skip_bad_rows = false;
  bool json = false;
  Verbosity verbosity;
};

/// Who answers, and what stands behind the answers.
struct Source {
  LutLookup lookup;
  std::string device;
  std::string rows;                             ///< path of file or table
  std::shared_ptr<table::Table> table;          ///< of --table
  std::optional<app::CachedTable> kept;         ///< of a file that is estimated from
  std::optional<predict::Predictor> predictor;  ///< with --estimate; points into one of the tables
};

estimate::Profile profile_of(const LutFlags& flags) {
  return estimate::parse_profile(flags.profile).value_or(estimate::Profile::Accurate);
}

Status from_table(const LutFlags& flags, Source& source, std::vector<std::string>& warnings) {
  OPLAT_TRY(opened, table::Table::open(flags.table, table::Mode::Read, compat::codecs()));
  source.table = std::make_shared<table::Table>(std::move(opened));
  predict::RowFilter question = flags.question;
  question.device = flags.device;
  OPLAT_TRY(selection, predict::select_rows(*source.table, question, compat::catalogue()));
  warnings.insert(warnings.end(), selection.warnings.begin(), selection.warnings.end());
  source.rows = flags.table;
  source.device = selection.device.name;
  source.lookup = lookup_in_table(source.table, selection);
  if (!flags.estimate) return {};
  OPLAT_TRY(predictor, predict::Predictor::create(*source.table, selection, profile_of(flags)));
  source.predictor = std::move(predictor);
  return {};
}

Status from_file(const LutFlags& flags, Source& source, std::vector<std::string>& warnings) {
  source.device = flags.device.value_or(kDevice);
  OPLAT_TRY(path, compat::mobile_vision::find_lut(flags.db_dir, source.device));
  OPLAT_TRY(opened, compat::mobile_vision::open_lut(path, flags.skip_bad_rows));
  const auto file = std::make_shared<const compat::mobile_vision::LutFile>(std::move(opened));
  TerminalEvents terminal(flags.verbosity);
  app::WarningsInto events(warnings, terminal);
  app::warn_of_skipped(path, file->lut.skipped, file->lut.notes, events);
  const auto index = std::make_shared<const compat::mobile_vision::LutIndex>(file->lut.records);
  for (const std::string& one : index->contradictions())
    warnings.push_back(fmt::format("{}: {}", path.string(), one));
  source.rows = path.string();
  source.lookup = lookup_in_file(file, index, source.device);
  if (!flags.estimate) return {};
  OPLAT_TRY(kept, lut_table(*file, source.device, {.calibrate = flags.calibrate}, events));
  source.kept = std::move(kept);
  OPLAT_TRY(selection, predict::select_rows(source.kept->table, {}, compat::catalogue()));
  OPLAT_TRY(predictor,
            predict::Predictor::create(source.kept->table, selection, profile_of(flags)));
  source.predictor = std::move(predictor);
  return {};
}

void print(const LutFlags& flags, const Source& source,
           const std::vector<LutPrediction>& predictions) {
  if (!flags.json) {
    for (const LutPrediction& prediction : predictions)
      fmt::print("{}", lut_text(prediction, flags.level));
    return;
  }
  nlohmann::ordered_json document;
  document["schema"] = "oplat.lut/1";
  document["device"] = source.device;
  document[flags.table.empty() ? "lut" : "table"] = source.rows;
  document["mode"] = flags.mode;
  document["estimate"] = flags.estimate;
  document["level"] = flags.level;
  document["models"] = nlohmann::ordered_json::array();
  for (const LutPrediction& prediction : predictions)
    document["models"].push_back(lut_document(prediction));
  print_json(document);
}

Status print_queries(const LutFlags& flags,
                     const std::vector<compat::mobile_vision::LutNet>& nets) {
  std::string lines;
  for (const compat::mobile_vision::LutNet& net : nets) {
    for (const formats::caffe2::LutQuery& query : net.queries)
      lines += compat::mobile_vision::lut_question_line(query, flags.device.value_or(kDevice));
  }
  return put_text("", lines);
}

bool chooses_rows(const predict::RowFilter& question) {
  return question.runtime || question.version || question.precision || question.threads;
}

Result<int> run_lut(const LutFlags& flags) {
  OPLAT_TRY(paths, compat::mobile_vision::parse_model_paths(flags.model_paths));
  OPLAT_TRY(shapes, compat::mobile_vision::parse_input_dims(flags.input_dims));
  const auto mode = parse_lut_mode(flags.mode);
  if (!mode)
    return fail(Code::Usage, "--mode {}: expected ave, mean, min, max or last",
                base::printable(flags.mode));
  if (flags.table.empty() && chooses_rows(flags.question)) {
    return fail(Code::Usage,
                "--runtime, --runtime-version, --precision and --threads select rows of --table; "
                "the files of --db_dir have only one setting");
  }
  std::vector<compat::mobile_vision::LutNet> nets;
  std::vector<std::string> warnings;
  for (const std::string& path : paths) {
    OPLAT_TRY(net, compat::mobile_vision::open_net(path, shapes));
    warnings.insert(warnings.end(), net.warnings.begin(), net.warnings.end());
    nets.push_back(std::move(net));
  }
  if (flags.queries) {
    print_warnings(warnings, flags.verbosity);
    OPLAT_CHECK(print_queries(flags, nets));
    return kDone;
  }
  Source source;
  OPLAT_CHECK(flags.table.empty() ? from_file(flags, source, warnings)
                                  : from_table(flags, source, warnings));
  std::vector<LutPrediction> predictions;
  for (const compat::mobile_vision::LutNet& net : nets) {
    OPLAT_TRY(prediction, look_up(net, source.lookup, *mode, warnings));
    if (source.predictor) OPLAT_CHECK(estimate_missing(prediction, *source.predictor, flags.level));
    predictions.push_back(std::move(prediction));
  }
  print_warnings(warnings, flags.verbosity);
  print(flags, source, predictions);
  OPLAT_CHECK(require_answers(predictions));
  return kDone;
}

constexpr const char* kLutFooter =
    R"(
A model is a folder with model.pb and model_init.pb, or with model.pbtxt and model_def.svg. The
table is the first of <db_dir>/<device>-op_lut_database.json, ..._caffe2.json, and both zipped
(.json.zip). An operator matches a record with the same type, arguments (except Y_scale,
Y_zero_point and ws_nbytes_limit), shapes, element types and device. An Int8Conv without a record
falls back to the Int8ConvRelu.
The output is that of get_runtime.py, in microseconds. The sum leaves out operators without a
record, and stderr names them. --estimate estimates those, by a fit of the table that is made once
(minutes for a large table) and cached under $XDG_CACHE_HOME/oplat (or ~/.cache/oplat). For a
--table, 'oplat fit' makes the fit.
--json prints oplat.lut/1: models: [{all_found, latency_us (null if an operator has no time),
known_us, operators}].
Exit codes: 0 done; 2 usage, or several settings fit; 3 a model or the table is missing or
malformed; 4 operators without a time (the text is complete); 6 no row for the device or setting.
Example: oplat lut --model_path ChamNet/models/ChamNet-A/int8 \
             --input_dims '{"data": [1, 3, 224, 224]}')";

}  // namespace

void add_lut_commands(const Command& app) {
  const Command group = app.add_subcommand(
      "lut",
      "predict a Caffe2 net's latency from a look-up table, as mobile-vision's runtime_lut does");
  const auto flags = std::make_shared<LutFlags>();
  group
      .add_option("--model_path", flags->model_paths, "folders of Caffe2 nets, separated by commas")
      .type_name("DIR[,DIR]")
      .repeatable()
      .capture_default_str();
  group.add_option("--db_dir", flags->db_dir, "folder of the look-up tables")
      .type_name("DIR")
      .capture_default_str();
  group.add_option("--input_dims", flags->input_dims, "sizes of the inputs, as JSON")
      .type_name("JSON")
      .capture_default_str();
  group
      .add_option("--input_dtype", flags->input_dtype,
                  "accepted for compatibility; has no effect (as in the original)")
      .capture_default_str();
  group.add_option(
      "--device", flags->device,
      fmt::format("use records of this device (default: {}; for a --table, its only device)",
                  kDevice));
  group
      .add_option("--mode", flags->mode,
                  "how to combine several records of an operator: ave (or mean), min, max or last")
      .capture_default_str();
  group.add_option("--table", flags->table, "use this table of oplat instead of --db_dir")
      .type_name("FILE");
  group.add_option("--runtime", flags->question.runtime, "use rows of this runtime in --table");
  group.add_option("--runtime-version", flags->question.version,
                   "use rows of this version of the runtime in --table");
  group.add_option("--precision", flags->question.precision,
                   "use rows computed in this precision in --table");
  group
      .add_option("--threads", flags->question.threads,
                  "use rows measured with this many threads in --table")
      .range(1, 4096);
  group.add_flag("--queries", flags->queries,
                 "print the queries as JSON Lines, without looking them up");
  group.add_flag("--estimate", flags->estimate,
                 "estimate operators that the table lacks, with an interval");
  add_estimator(group, flags->profile);
  add_calibrate(group, flags->calibrate);
  group.add_option("--level", flags->level, "confidence level of the intervals")
      .range(0.01, 0.999)
      .capture_default_str();
  group.add_flag("--skip-bad-rows", flags->skip_bad_rows,
                 "skip malformed lines of the table, and report them");
  group.add_flag("--json", flags->json, "print JSON");
  add_verbosity(group, flags->verbosity);
  group.footer(kLutFooter);
  for (const auto add : {add_lut_find, add_lut_add, add_lut_merge, add_lut_build, add_lut_ops})
    add(group);
  group.require_subcommand(0);
  group.runs([flags] { return run_lut(*flags); });
}

}  // namespace oplat::cli
