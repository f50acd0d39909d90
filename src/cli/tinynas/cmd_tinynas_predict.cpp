// SPDX-License-Identifier: Apache-2.0
/// oplat tinynas predict STRUCTURE | --tests FILE
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "app/tinynas.hpp"
#include "base/text.hpp"
#include "base/without_repeats.hpp"
#include "cli/events_terminal.hpp"
#include "cli/exit_code.hpp"
#include "cli/options.hpp"
#include "cli/output.hpp"
#include "cli/prediction_options.hpp"
#include "cli/tinynas/commands.hpp"

namespace oplat::cli {
namespace {

struct TinynasPredictFlags {
  app::TinynasRequest request;
  std::optional<std::string> method;
  std::string rules;
  std::optional<std::string> estimator;
  std::optional<std::string> profile;  ///< earlier spelling of --estimator
  FormOptions form;
  Verbosity verbosity;
};

bool is_method(std::string_view word) { return word == "best" || word == "original"; }

/// --estimator was the earlier spelling of --method, whose words it still takes.
Status take_estimator(TinynasPredictFlags& flags, const std::string& word) {
  if (!is_method(word) && word != "accurate" && word != "fast")
    return fail(Code::Usage, "--estimator: {} not in {{accurate,fast}}", base::printable(word));
  flags.estimator = word;
  return {};
}

Status read_estimator(const TinynasPredictFlags& flags, app::TinynasRequest& request) {
  const auto excludes = [](std::string_view one, std::string_view other) {
    return fail(Code::Usage, "{} excludes {}; see 'oplat tinynas predict --help'", one, other);
  };
  const bool earlier = flags.estimator && is_method(*flags.estimator);
  if (earlier && flags.method) return excludes("--method", "--estimator");
  if (!earlier && flags.estimator && flags.profile) return excludes("--estimator", "--profile");
  request.original = (earlier ? flags.estimator : flags.method) == "original";
  const auto& estimator = flags.profile || earlier ? flags.profile : flags.estimator;
  request.estimator = app::estimator_named(estimator.value_or("accurate"));
  return {};
}

Result<int> run_tinynas_predict(const TinynasPredictFlags& flags) {
  app::TinynasRequest request = flags.request;
  if (!request.library.empty()) drop_default_table(request.table);
  OPLAT_CHECK(
      check_out(flags.form, {request.structure, request.tests, request.library, request.table}));
  OPLAT_CHECK(read_estimator(flags, request));
  request.rules = compat::tinynas::parse_rules(flags.rules);
  request.batches = base::without_repeats(request.batches);
  TerminalEvents events(flags.verbosity);
  OPLAT_TRY(document, app::tinynas_predict(request, events));
  events.finish();
  OPLAT_CHECK(check_out(flags.form, {document->rows()}));
  OPLAT_CHECK(print_report(flags.form, report::ReportModel{document, {}}));
  if (const auto far = document->far_answers(); far && flags.form.form() == "text")
    print_warnings({&*far, 1}, flags.verbosity);
  OPLAT_CHECK(document->require_answers());
  return kDone;
}

constexpr const char* kTinynasPredictFooter =
    R"(
Examples:
  oplat tinynas predict --library conv_data.out --precision FP32 --batch 1,32 R50.txt
  oplat tinynas predict --library op_profiler --device V100 --precision INT8 R50.txt \
      --method original
  oplat tinynas predict --table v100.oplat --tests tuples.tsv --json
A line of --tests is: Conv_type Stride ElmtFused Kernel Batch In_C In_H Out_C, then optionally the
measured time in ms, and group=G for a grouped convolution. A library file works too. The output has
the eight fields, ms, lo, hi and source, with tabs between them; - means unknown, and grouped
convolutions have group=G. If times were measured, lines that begin with # give the errors. With a
single --batch (or the 1 of a T40), each tuple is predicted at that batch, whatever batch it names.
A library's row keeps its time only at its own batch.
--method best uses measured rows and the estimators fitted to them, and gives an interval. At its
first use of a library it makes a table in $XDG_CACHE_HOME/oplat (or ~/.cache/oplat), which may be
deleted, and fits it. That takes minutes for a large library, less with --no-calibrate. For a
--table, 'oplat fit' makes the fit.
--method original is op_profiler's own. It needs no fit and gives no interval. It fails where a line
through its batches falls below 0.
--json prints oplat.tinynas/1: total_ms, convs: [{tuple, latency_ms, interval_ms, source}]. For
several batches, 'batches' has an entry for each. docs/guide/from-tinynas.md describes all fields.
Exit codes: 0 done; 2 usage, or several settings fit; 3 structure, tests, library or table missing
or malformed; 4 convolutions without an answer (the rest is printed); 6 no row for the setting; 8 no
folder for the library's table; 130 interrupted while learning.)";

}  // namespace

void add_tinynas_predict(const Command& group) {
  const Command command =
      group.add_subcommand("predict", "predict the convolutions of a network structure or a list");
  const auto flags = std::make_shared<TinynasPredictFlags>();
  command.add_option("STRUCTURE", flags->request.structure, "network structure file (.txt)");
  command
      .add_option("--tests", flags->request.tests, "list of convolutions, instead of a structure")
      .type_name("FILE");
  command
      .add_option("--library", flags->request.library,
                  "library file, or folder of libraries of several devices and precisions")
      .type_name("FILE|DIR");
  add_table(command, flags->request.table, false);
  command.add_option("--precision", flags->request.precision,
                     "precision: FP32, FP16, FP16_DAMOYOLO, INT8 or INT4 (default: from the "
                     "library's name, or the table's only one)");
  command.add_option("--device", flags->request.device,
                     "device: a folder of a --library DIR, or rows of a --table. T40 supports "
                     "batch 1, unfused, channels in multiples of 32");
  command.add_option("--runtime", flags->request.runtime, "use rows of this runtime in --table");
  command.add_option("--runtime-version", flags->request.runtime_version,
                     "use rows of this version of the runtime in --table");
  command
      .add_option("--batch", flags->request.batches,
                  "batch sizes (default: 1; for --tests, those in the list)")
      .comma_separated()
      .repeatable()
      .type_name("N,N,...")
      .range(std::int64_t{1}, std::int64_t{1} << 20);
  command.add_option("--resolution", flags->request.resolution, "height and width of the image")
      .range(std::int64_t{1}, std::int64_t{1} << 16)
      .capture_default_str();
  command
      .add_option("--method", flags->method,
                  "prediction method: best, or original (that of op_profiler) (default: best)")
      .one_of({"best", "original"});
  command
      .add_option("--rules", flags->rules,
                  "how to count convolutions of a structure: original or corrected (default: "
                  "depends on --method)")
      .one_of({"original", "corrected"});
  command
      .add_texts(
          "--estimator", [flags](const std::string& word) { return take_estimator(*flags, word); },
          "learned estimator: accurate, or fast (a few microseconds a kernel) (default: accurate)")
      .type_name("accurate|fast")
      .repeatable();
  command.add_option("--profile", flags->profile, "").one_of({"accurate", "fast"}).hidden();
  add_calibrate(command, flags->request.calibrate);
  command.add_option("--level", flags->request.level, "confidence level of the interval")
      .range(0.01, 0.999)
      .capture_default_str();
  command.add_flag("--skip-bad-rows", flags->request.skip_bad_rows,
                   "skip malformed rows of the library, and report them");
  add_form<report::ForeignReport>(command, flags->form);
  add_verbosity(command, flags->verbosity);
  command.footer({kTinynasPredictFooter});
  command.runs([flags] { return run_tinynas_predict(*flags); });
}

}  // namespace oplat::cli
