// SPDX-License-Identifier: Apache-2.0
/// oplat lut --model_path DIR[,DIR]: the job of runtime_lut's get_runtime.py.
#include <array>
#include <memory>

#include "app/lut.hpp"
#include "base/text.hpp"
#include "cli/events_terminal.hpp"
#include "cli/exit_code.hpp"
#include "cli/lut/commands.hpp"
#include "cli/output.hpp"
#include "cli/prediction_options.hpp"

namespace oplat::cli {
namespace {

/// The files of a net's folder.
constexpr std::array kNetFiles = {"model.pb", "model.pbtxt", "model_init.pb", "model_init.pbtxt",
                                  "model_def.svg"};

struct LutFlags {
  app::LutRequest request;
  std::int64_t input_dtype = 1;
  bool queries = false;
  std::string estimator = "accurate";
  FormOptions form;
  Verbosity verbosity;
};

Result<int> run_lut(const LutFlags& flags) {
  app::LutRequest request = flags.request;
  request.estimator = app::estimator_named(flags.estimator);
  OPLAT_CHECK(check_out(flags.form, {request.table}));
  for (const std::string& model : request.models)
    for (const std::string& folder : base::split(model, ','))
      for (const char* name : kNetFiles) OPLAT_CHECK(check_out(flags.form, {folder + "/" + name}));
  TerminalEvents events(flags.verbosity);
  if (flags.queries) {
    if (flags.form.form() != "text")
      return fail(Code::Usage, "--queries prints JSON Lines; leave out the flag of another format");
    OPLAT_TRY(lines, app::lut_queries(request, events));
    OPLAT_CHECK(put_text(flags.form.out, lines));
    return kDone;
  }
  OPLAT_TRY(document, app::lut_predict(request, events));
  events.finish();
  OPLAT_CHECK(check_out(flags.form, {document->rows()}));
  OPLAT_CHECK(print_report(flags.form, report::ReportModel{document, {}}));
  OPLAT_CHECK(document->require_answers());
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
  flags->request.models = {"ChamNet/models/ChamNet-E/int8,ChamNet/models/ChamNet-E/fp32"};
  flags->request.folder = "runtime_lut/data";
  flags->request.input_dims = R"({"data": [1, 3, 160, 160]})";
  group
      .add_option("--model_path", flags->request.models,
                  "folders of Caffe2 nets, separated by commas")
      .type_name("DIR[,DIR]")
      .repeatable()
      .capture_default_str();
  group.add_option("--db_dir", flags->request.folder, "folder of the look-up tables")
      .type_name("DIR")
      .capture_default_str();
  group.add_option("--input_dims", flags->request.input_dims, "sizes of the inputs, as JSON")
      .type_name("JSON")
      .capture_default_str();
  group
      .add_option("--input_dtype", flags->input_dtype,
                  "accepted for compatibility; has no effect (as in the original)")
      .capture_default_str();
  group.add_option(
      "--device", flags->request.device,
      fmt::format("use records of this device (default: {}; for a --table, its only device)",
                  app::kLutDevice));
  group
      .add_option("--mode", flags->request.mode,
                  "how to combine several records of an operator: ave (or mean), min, max or last")
      .capture_default_str();
  group.add_option("--table", flags->request.table, "use this table of oplat instead of --db_dir")
      .type_name("FILE");
  group.add_option("--runtime", flags->request.rows.runtime, "use rows of this runtime in --table");
  group.add_option("--runtime-version", flags->request.rows.version,
                   "use rows of this version of the runtime in --table");
  group.add_option("--precision", flags->request.rows.precision,
                   "use rows computed in this precision in --table");
  group
      .add_option("--threads", flags->request.rows.threads,
                  "use rows measured with this many threads in --table")
      .range(1, 4096);
  group.add_flag("--queries", flags->queries,
                 "print the queries as JSON Lines, without looking them up");
  group.add_flag("--estimate", flags->request.estimate,
                 "estimate operators that the table lacks, with an interval");
  add_estimator(group, flags->estimator);
  add_calibrate(group, flags->request.calibrate);
  group.add_option("--level", flags->request.level, "confidence level of the intervals")
      .range(0.01, 0.999)
      .capture_default_str();
  group.add_flag("--skip-bad-rows", flags->request.skip_bad_rows,
                 "skip malformed lines of the table, and report them");
  add_form<report::ForeignReport>(group, flags->form);
  add_verbosity(group, flags->verbosity);
  group.footer({kLutFooter});
  for (const auto add : {add_lut_find, add_lut_add, add_lut_merge, add_lut_build, add_lut_ops})
    add(group);
  group.require_subcommand(0);
  group.runs([flags] { return run_lut(*flags); });
}

}  // namespace oplat::cli
