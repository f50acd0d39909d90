// SPDX-License-Identifier: Apache-2.0
/// From files to rows that answer; compat/tinynas asks them.
#include "app/tinynas.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "app/cached_table.hpp"
#include "app/table_source.hpp"
#include "base/text.hpp"
#include "compat/registry.hpp"
#include "compat/tinynas/conv_answers.hpp"
#include "compat/tinynas/library_files.hpp"
#include "compat/tinynas/questions.hpp"
#include "predict/row_selection.hpp"

namespace oplat::app {
namespace {

namespace tinynas = compat::tinynas;

/// The request after what it leaves open is filled in.
Result<TinynasRequest> completed_tinynas(TinynasRequest request) {
  if (request.structure.empty() == request.tests.empty())
    return fail(Code::Usage, "give either a STRUCTURE file or --tests FILE");
  if (request.library.empty() == request.table.empty())
    return fail(Code::Usage, "give either --library FILE|DIR or --table T");
  if (request.rules && request.structure.empty())
    return fail(Code::Usage, "--rules {}: applies to a STRUCTURE, not to --tests",
                tinynas::name(*request.rules));
  if (!request.rules)
    request.rules = request.original ? tinynas::Rules::Original : tinynas::Rules::Corrected;
  if (!request.library.empty() && (!request.runtime.empty() || !request.runtime_version.empty()))
    return fail(
        Code::Usage,
        "--runtime and --runtime-version select rows of --table; a library has only one setting");
  if (request.library.empty() && (!request.calibrate || request.skip_bad_rows))
    return fail(Code::Usage,
                "--no-calibrate and --skip-bad-rows apply to --library; for a --table, use them "
                "with 'oplat fit' and 'oplat import'");
  OPLAT_TRY(precision, tinynas::library_precision(request.precision));
  request.precision = precision;
  if (tinynas::has_t40_rules(request.device)) {
    if (std::any_of(request.batches.begin(), request.batches.end(),
                    [](std::int64_t batch) { return batch != 1; }))
      return fail(Code::Usage, "--batch: a T40 supports only batch 1");
    request.batches = {1};
  }
  if (request.batches.empty() && !request.structure.empty()) request.batches = {1};
  return request;
}

Result<std::vector<tinynas::ConvQuestion>> tinynas_questions(const TinynasRequest& request,
                                                             std::vector<std::string>& warnings) {
  if (!request.tests.empty()) return tinynas::listed_questions(request.tests, warnings);
  return tinynas::structure_questions(request.structure, request.resolution, *request.rules);
}

/// Who answers, and what the document says of it.
struct TinynasRows {
  tinynas::Answerer answer;
  std::string path;
  std::string precision;
};

/// The library's rows as a table that is kept.
Result<CachedTable> library_table(const tinynas::LibraryFile& library,
                                  const TinynasRequest& request, Events& events) {
  const auto read = [&]() -> Result<ForeignImport> {
    OPLAT_TRY(rows, tinynas::library_rows(library, request.skip_bad_rows));
    return ForeignImport{std::move(rows.setting), std::move(rows.origin), std::move(rows.read)};
  };
  return open_cached_table(
      {library.path, tinynas::library_table_name(library, request.skip_bad_rows, request.calibrate),
       base::hash128(library.bytes), read, request.skip_bad_rows},
      {.calibrate = request.calibrate}, events);
}

Result<TinynasRows> rows_of_library(const TinynasRequest& request,
                                    std::vector<std::string>& warnings, Events& events) {
  OPLAT_TRY(library,
            tinynas::open_library(request.library, request.device, request.precision, warnings));
  TinynasRows rows{{}, library.path.string(), library.precision};
  if (request.original) {
    OPLAT_TRY(read, tinynas::library_times(library, request.skip_bad_rows));
    warn_of_skipped(library.path, read.skipped, read.notes, events);
    auto made = tinynas::original_answers(read.times);
    if (!made) return fail_in(rows.path, made.error());
    rows.answer = std::move(*made);
    return rows;
  }
  OPLAT_TRY(kept, library_table(library, request, events));
  OPLAT_TRY(selection, select_rows(kept.table, {}));
  // The table lives in a folder that may be a temporary one.
  const auto shared = std::make_shared<const CachedTable>(std::move(kept));
  OPLAT_TRY(answer, tinynas::best_answers({shared, &shared->table}, std::move(selection),
                                          request.level, request.estimator));
  rows.answer = std::move(answer);
  return rows;
}

std::optional<std::string> if_given(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

Result<TinynasRows> rows_of_table(const TinynasRequest& request,
                                  std::vector<std::string>& warnings) {
  std::error_code error;
  if (!std::filesystem::exists(request.table, error)) {
    return fail(Code::Input,
                "{0}: no such table; make one from a library with: oplat import LIBRARY --format "
                "tinynas --device NAME --table {0}",
                base::printable(request.table, 400));
  }
  OPLAT_TRY(table, table::Table::open(request.table, table::Mode::Read, compat::codecs()));
  predict::RowFilter filter = {.has_mismatch_flag = false};
  filter.device = if_given(request.device);
  filter.runtime = if_given(request.runtime);
  filter.version = if_given(request.runtime_version);
  filter.precision = if_given(request.precision);
  OPLAT_TRY(selection, select_rows(table, filter));
  warnings.insert(warnings.end(), selection.warnings.begin(), selection.warnings.end());
  TinynasRows rows{{}, request.table, selection.setting.precision};
  if (request.original) {
    OPLAT_TRY(times, tinynas::table_times(table, selection));
    auto made = tinynas::original_answers(times);
    if (!made) return fail_in(request.table, made.error());
    rows.answer = std::move(*made);
    return rows;
  }
  OPLAT_TRY(answer, tinynas::best_answers(std::make_shared<const table::Table>(std::move(table)),
                                          std::move(selection), request.level, request.estimator));
  rows.answer = std::move(answer);
  return rows;
}

}  // namespace

Result<std::shared_ptr<const tinynas::ConvDocument>> tinynas_predict(const TinynasRequest& asked,
                                                                     Events& events) {
  OPLAT_TRY(request, completed_tinynas(asked));
  std::vector<std::string> warnings;
  const auto warn = [&] {
    for (const std::string& warning : warnings) events.warn(warning);
  };
  OPLAT_TRY(questions, tinynas_questions(request, warnings));
  WarningsInto into(warnings, events);
  const auto rows = request.library.empty() ? rows_of_table(request, warnings)
                                            : rows_of_library(request, warnings, into);
  if (!rows) {
    warn();
    return fail(rows.error());
  }
  auto sets = tinynas::at_batches(questions, request.batches,
                                  tinynas::has_t40_rules(request.device), warnings);
  warn();
  std::vector<tinynas::ConvPrediction> predictions;
  for (tinynas::ConvQuestions& set : sets) {
    OPLAT_TRY(answers, rows->answer(set.convs));
    predictions.push_back(
        tinynas::conv_prediction(std::move(set), std::move(answers), request.level));
  }
  tinynas::ConvAsked head;
  head.original = request.original;
  head.structure = request.structure;
  head.tests = request.tests;
  head.rules = *request.rules;
  head.resolution = request.resolution;
  head.of_table = request.library.empty();
  head.rows = rows->path;
  head.precision = rows->precision;
  head.level = request.level;
  return std::make_shared<const tinynas::ConvDocument>(std::move(head), std::move(predictions));
}

}  // namespace oplat::app
