// SPDX-License-Identifier: Apache-2.0
/// oplat tinynas predict STRUCTURE | --tests FILE
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <system_error>

#include "base/text.hpp"
#include "base/truncated_list.hpp"
#include "cli/events_terminal.hpp"
#include "cli/exit_code.hpp"
#include "cli/options.hpp"
#include "cli/output.hpp"
#include "cli/prediction_options.hpp"
#include "cli/tinynas/commands.hpp"
#include "cli/tinynas/conv_answers.hpp"
#include "cli/tinynas/conv_library.hpp"
#include "cli/tinynas/conv_report.hpp"
#include "compat/registry.hpp"
#include "compat/tinynas/questions.hpp"

namespace oplat::cli {
namespace {

/// A message names this many convolutions without an answer.
constexpr std::size_t kMaxNamed = 5;

struct TinynasPredictFlags {
  std::string structure;
  std::string tests;
  std::string library;
  std::string table;
  std::string precision;
  std::string device;
  std::string runtime;
  std::string runtime_version;
  std::vector<std::int64_t> batches;
  std::int64_t resolution = 224;
  std::string estimator = "best";
  std::string rules;
  std::string profile = "accurate";
  double level = 0.9;
  bool calibrate = true;
  bool skip_bad_rows = false;
  bool json = false;
  Verbosity verbosity;
};

bool original(const TinynasPredictFlags& flags) { return flags.estimator == "original"; }
estimate::Profile profile_of(const TinynasPredictFlags& flags) {
  return estimate::parse_profile(flags.profile).value_or(estimate::Profile::Accurate);
}

/// The flags after what they leave open is filled in.
Result<TinynasPredictFlags> checked(TinynasPredictFlags flags) {
  if (flags.structure.empty() == flags.tests.empty())
    return fail(Code::Usage, "give either a STRUCTURE file or --tests FILE");
  if (!flags.library.empty()) drop_default_table(flags.table);
  if (flags.library.empty() == flags.table.empty())
    return fail(Code::Usage, "give either --library FILE|DIR or --table T");
  if (!flags.rules.empty() && flags.structure.empty())
    return fail(Code::Usage, "--rules {}: applies to a STRUCTURE, not to --tests",
                base::printable(flags.rules));
  if (flags.rules.empty()) flags.rules = original(flags) ? "original" : "corrected";
  if (!flags.library.empty() && (!flags.runtime.empty() || !flags.runtime_version.empty()))
    return fail(
        Code::Usage,
        "--runtime and --runtime-version select rows of --table; a library has only one setting");
  if (flags.library.empty() && (!flags.calibrate || flags.skip_bad_rows))
    return fail(Code::Usage,
                "--no-calibrate and --skip-bad-rows apply to --library; for a --table, use them "
                "with 'oplat fit' and 'oplat import'");
  OPLAT_TRY(precision, library_precision(flags.precision));
  flags.precision = precision;
  flags.batches = without_repeats(flags.batches);
  if (compat::tinynas::has_t40_rules(flags.device)) {
    if (std::any_of(flags.batches.begin(), flags.batches.end(),
                    [](std::int64_t batch) { return batch != 1; }))
      return fail(Code::Usage, "--batch: a T40 supports only batch 1");
    flags.batches = {1};
  }
  if (flags.batches.empty() && !flags.structure.empty()) flags.batches = {1};
  return flags;
}

Result<std::vector<compat::tinynas::ConvQuestion>> questions_of(
    const TinynasPredictFlags& flags, std::vector<std::string>& warnings) {
  if (!flags.tests.empty()) return compat::tinynas::listed_questions(flags.tests, warnings);
  const auto rules = compat::tinynas::parse_rules(flags.rules);
  if (!rules)
    return fail(Code::Usage, "--rules {}: expected original or corrected",
                base::printable(flags.rules));
  return compat::tinynas::structure_questions(flags.structure, flags.resolution, *rules);
}

/// Where the answers come from, for the document.
struct Answers {
  Answerer answer;
  std::string rows;  ///< path of library or table
  std::string precision;
};

Result<Answers> from_library(const TinynasPredictFlags& flags, std::vector<std::string>& warnings) {
  TerminalEvents terminal(flags.verbosity);
  app::WarningsInto events(warnings, terminal);
  OPLAT_TRY(library, open_library(flags.library, flags.device, flags.precision, warnings));
  Answers answers{{}, library.path.string(), library.precision};
  if (original(flags)) {
    OPLAT_TRY(times, library_times(library, flags.skip_bad_rows, events));
    auto made = original_answers(times);
    if (!made) return fail_in(library.path.string(), made.error());
    answers.answer = std::move(*made);
    return answers;
  }
  OPLAT_TRY(kept,
            library_table(library, flags.skip_bad_rows, {.calibrate = flags.calibrate}, events));
  OPLAT_TRY(selection, predict::select_rows(kept.table, {}, compat::catalogue()));
  OPLAT_TRY(answer,
            best_answers(std::move(kept), std::move(selection), flags.level, profile_of(flags)));
  answers.answer = std::move(answer);
  return answers;
}

std::optional<std::string> given(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

Result<Answers> from_table(const TinynasPredictFlags& flags, std::vector<std::string>& warnings) {
  std::error_code error;
  if (!std::filesystem::exists(flags.table, error)) {
    return fail(Code::Input,
                "{0}: no such table; make one from a library with: oplat import LIBRARY --format "
                "tinynas --device NAME --table {0}",
                base::printable(flags.table, 400));
  }
  OPLAT_TRY(table, table::Table::open(flags.table, table::Mode::Read, compat::codecs()));
  predict::RowFilter question = {.has_mismatch_flag = false};
  question.device = given(flags.device);
  question.runtime = given(flags.runtime);
  question.version = given(flags.runtime_version);
  question.precision = given(flags.precision);
  OPLAT_TRY(selection, predict::select_rows(table, question, compat::catalogue()));
  warnings.insert(warnings.end(), selection.warnings.begin(), selection.warnings.end());
  Answers answers{{}, flags.table, selection.setting.precision};
  if (original(flags)) {
    OPLAT_TRY(times, table_times(table, selection));
    auto made = original_answers(times);
    if (!made) return fail_in(flags.table, made.error());
    answers.answer = std::move(*made);
    return answers;
  }
  OPLAT_TRY(answer, best_answers({std::nullopt, std::move(table)}, std::move(selection),
                                 flags.level, profile_of(flags)));
  answers.answer = std::move(answer);
  return answers;
}

nlohmann::ordered_json document_of(const TinynasPredictFlags& flags, const Answers& answers,
                                   const std::vector<ConvPrediction>& predictions) {
  nlohmann::ordered_json document;
  document["schema"] = "oplat.tinynas/1";
  document["estimator"] = flags.estimator;
  if (!flags.structure.empty()) {
    document["structure"] = flags.structure;
    document["rules"] = flags.rules;
    document["resolution"] = flags.resolution;
  } else {
    document["tests"] = flags.tests;
  }
  document[flags.library.empty() ? "table" : "library"] = answers.rows;
  document["precision"] = answers.precision;
  document["level"] = flags.level;
  // One batch is in the document itself; several are a list.
  if (predictions.size() == 1) {
    document.update(conv_document(predictions.front()));
  } else {
    for (const ConvPrediction& prediction : predictions)
      document["batches"].push_back(conv_document(prediction));
  }
  return document;
}

void print(const TinynasPredictFlags& flags, const Answers& answers,
           const std::vector<ConvPrediction>& predictions) {
  if (flags.json) {
    print_json(document_of(flags, answers, predictions));
    return;
  }
  for (const ConvPrediction& prediction : predictions)
    fmt::print("{}",
               flags.tests.empty() ? conv_text(prediction, flags.level) : conv_lines(prediction));
}

/// The lines of --tests have no room for what an answer rests on: a warning counts those that reach
/// beyond the rows and says of the first how far.
void warn_of_far_answers(const std::vector<ConvPrediction>& predictions,
                         const Verbosity& verbosity) {
  std::size_t asked = 0;
  std::size_t far = 0;
  std::string first;
  for (const ConvPrediction& prediction : predictions) {
    asked += prediction.answers.size();
    for (std::size_t i = 0; i < prediction.answers.size(); ++i) {
      const ConvAnswer& answer = prediction.answers[i];
      if (!answer.floor_ms || ++far > 1) continue;
      first = compat::tinynas::tuple_text(prediction.questions.convs[i].conv) + ": " + answer.why;
    }
  }
  if (far == 0) return;
  std::replace(first.begin(), first.end(), '\t', ' ');
  const std::string warning = fmt::format(
      "{} of {} convolutions are outside the measured range and have wider intervals; --json gives "
      "the reason of each, such as: {}",
      far, asked, first);
  print_warnings({&warning, 1}, verbosity);
}

/// Code::Missing that names the convolutions without an answer.
Status require_answers(const std::vector<ConvPrediction>& predictions) {
  std::size_t asked = 0;
  base::TruncatedList missing(kMaxNamed);
  for (const ConvPrediction& prediction : predictions) {
    asked += prediction.answers.size();
    for (std::size_t i = 0; i < prediction.answers.size(); ++i) {
      if (prediction.answers[i].ms) continue;
      std::string tuple = compat::tinynas::tuple_text(prediction.questions.convs[i].conv);
      std::replace(tuple.begin(), tuple.end(), '\t', ' ');
      // The original's reasons begin with the eight fields already.
      const std::string& why = prediction.answers[i].why;
      const std::string_view fields = std::string_view(tuple).substr(0, tuple.find(" group="));
      const bool nothing_left = prediction.questions.convs[i].conv.in_h < 1;
      missing.add(fmt::format(
          "{}{}", why.starts_with(fields) ? why : fmt::format("{}: {}", tuple, why),
          nothing_left ? "; the original's rules lead to a size of 0; use --rules corrected" : ""));
    }
  }
  if (missing.count() == 0) return {};
  return fail(Code::Missing, "{} of {} convolutions have no time:{}", missing.count(), asked,
              missing.text());
}

Result<int> run_tinynas_predict(const TinynasPredictFlags& given_flags) {
  OPLAT_TRY(flags, checked(given_flags));
  std::vector<std::string> warnings;
  OPLAT_TRY(questions, questions_of(flags, warnings));
  const auto made =
      flags.library.empty() ? from_table(flags, warnings) : from_library(flags, warnings);
  if (!made) {
    print_warnings(warnings, flags.verbosity);
    return fail(made.error());
  }
  const Answers& answers = *made;
  std::vector<compat::tinynas::ConvQuestions> sets = compat::tinynas::at_batches(
      questions, flags.batches, compat::tinynas::has_t40_rules(flags.device), warnings);
  print_warnings(warnings, flags.verbosity);
  std::vector<ConvPrediction> predictions;
  for (compat::tinynas::ConvQuestions& set : sets) {
    OPLAT_TRY(answered, answers.answer(set.convs));
    predictions.push_back(conv_prediction(std::move(set), std::move(answered), flags.level));
  }
  print(flags, answers, predictions);
  if (!flags.tests.empty() && !flags.json) warn_of_far_answers(predictions, flags.verbosity);
  OPLAT_CHECK(require_answers(predictions));
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
  command.add_option("STRUCTURE", flags->structure, "network structure file (.txt)");
  command.add_option("--tests", flags->tests, "list of convolutions, instead of a structure")
      .type_name("FILE");
  command
      .add_option("--library", flags->library,
                  "library file, or folder of libraries of several devices and precisions")
      .type_name("FILE|DIR");
  add_table(command, flags->table, false);
  command.add_option("--precision", flags->precision,
                     "precision: FP32, FP16, FP16_DAMOYOLO, INT8 or INT4 (default: from the "
                     "library's name, or the table's only one)");
  command.add_option("--device", flags->device,
                     "device: a folder of a --library DIR, or rows of a --table. T40 supports "
                     "batch 1, unfused, channels in multiples of 32");
  command.add_option("--runtime", flags->runtime, "use rows of this runtime in --table");
  command.add_option("--runtime-version", flags->runtime_version,
                     "use rows of this version of the runtime in --table");
  command
      .add_option("--batch", flags->batches,
                  "batch sizes (default: 1; for --tests, those in the list)")
      .comma_separated()
      .repeatable()
      .type_name("N,N,...")
      .range(std::int64_t{1}, std::int64_t{1} << 20);
  command.add_option("--resolution", flags->resolution, "height and width of the image")
      .range(std::int64_t{1}, std::int64_t{1} << 16)
      .capture_default_str();
  const Option method =
      command
          .add_option("--method", flags->estimator,
                      "prediction method: best, or original (that of op_profiler)")
          .one_of({"best", "original"})
          .capture_default_str();
  command.add_option("--estimator", flags->estimator, "earlier spelling")
      .one_of({"best", "original"})
      .hidden()
      .excludes(method);
  command
      .add_option("--rules", flags->rules,
                  "how to count convolutions of a structure: original or corrected (default: "
                  "depends on --method)")
      .one_of({"original", "corrected"});
  // --estimator chooses between the original and ours here.
  command
      .add_option("--profile", flags->profile,
                  "learned estimator: accurate, or fast (a few microseconds a kernel)")
      .one_of({"accurate", "fast"})
      .capture_default_str();
  add_calibrate(command, flags->calibrate);
  command.add_option("--level", flags->level, "confidence level of the interval")
      .range(0.01, 0.999)
      .capture_default_str();
  command.add_flag("--skip-bad-rows", flags->skip_bad_rows,
                   "skip malformed rows of the library, and report them");
  command.add_flag("--json", flags->json, "print JSON");
  add_verbosity(command, flags->verbosity);
  command.footer(kTinynasPredictFooter);
  command.runs([flags] { return run_tinynas_predict(*flags); });
}

}  // namespace oplat::cli
