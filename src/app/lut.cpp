// SPDX-License-Identifier: Apache-2.0
/// From files and flags to rows that answer, and from operators to a campaign; compat/mobile_vision
/// asks the rows and writes the lines.
#include "app/lut.hpp"

#include <filesystem>

#include "app/cached_table.hpp"
#include "app/search.hpp"
#include "app/table_source.hpp"
#include "base/files.hpp"
#include "base/folders.hpp"
#include "base/text.hpp"
#include "compat/mobile_vision/lut_build.hpp"
#include "compat/mobile_vision/nets.hpp"
#include "compat/registry.hpp"
#include "search/expansion.hpp"

namespace oplat::app {
namespace {

namespace mobile_vision = compat::mobile_vision;

/// Who answers, and what stays alive meanwhile.
struct LutRows {
  mobile_vision::LutLookup lookup;
  std::string device;
  std::string path;                             ///< of file or table
  std::shared_ptr<table::Table> table;          ///< of a request for one
  std::optional<CachedTable> kept;              ///< of a file that is estimated from
  std::optional<predict::Predictor> predictor;  ///< of estimates; points into one of the tables
};

Status take_lut_table(const LutRequest& request, LutRows& rows,
                      std::vector<std::string>& warnings) {
  OPLAT_TRY(opened, table::Table::open(request.table, table::Mode::Read, compat::codecs()));
  rows.table = std::make_shared<table::Table>(std::move(opened));
  predict::RowFilter filter = request.rows;
  filter.device = request.device;
  OPLAT_TRY(selection, select_rows(*rows.table, filter));
  warnings.insert(warnings.end(), selection.warnings.begin(), selection.warnings.end());
  rows.path = request.table;
  rows.device = selection.device.name;
  rows.lookup = mobile_vision::lookup_in_table(rows.table, selection);
  if (!request.estimate) return {};
  OPLAT_TRY(predictor, predict::Predictor::create(*rows.table, selection, request.estimator));
  rows.predictor = std::move(predictor);
  return {};
}

/// The records of one device as a table with a fit, kept for the next time.
Result<CachedTable> kept_lut(const mobile_vision::LutFile& file, const std::string& device,
                             bool calibrate, Events& events) {
  const auto read = [&]() -> Result<ForeignImport> {
    OPLAT_TRY(made, mobile_vision::lut_import(file, device));
    return ForeignImport{std::move(made.setting), std::move(made.origin), std::move(made.read)};
  };
  return open_cached_table({file.path, mobile_vision::lut_table_name(file, device, calibrate),
                            base::hash128(file.bytes), read},
                           {.calibrate = calibrate}, events);
}

Status take_lut_file(const LutRequest& request, LutRows& rows, std::vector<std::string>& warnings,
                     Events& others) {
  rows.device = request.device.value_or(kLutDevice);
  OPLAT_TRY(path, mobile_vision::find_lut(request.folder, rows.device));
  OPLAT_TRY(opened, mobile_vision::open_lut(path, request.skip_bad_rows));
  const auto file = std::make_shared<const mobile_vision::LutFile>(std::move(opened));
  WarningsInto events(warnings, others);
  warn_of_skipped(path, file->lut.skipped, file->lut.notes, events);
  const auto index = std::make_shared<const mobile_vision::LutIndex>(file->lut.records);
  for (const std::string& one : index->contradictions())
    warnings.push_back(fmt::format("{}: {}", path.string(), one));
  rows.path = path.string();
  rows.lookup = mobile_vision::lookup_in_file(file, index, rows.device);
  if (!request.estimate) return {};
  OPLAT_TRY(kept, kept_lut(*file, rows.device, request.calibrate, events));
  rows.kept = std::move(kept);
  OPLAT_TRY(selection, select_rows(rows.kept->table, {}));
  OPLAT_TRY(predictor, predict::Predictor::create(rows.kept->table, selection, request.estimator));
  rows.predictor = std::move(predictor);
  return {};
}

Result<std::vector<mobile_vision::LutNet>> open_nets(const std::vector<std::string>& models,
                                                     const std::string& input_dims,
                                                     std::vector<std::string>& warnings) {
  OPLAT_TRY(paths, mobile_vision::parse_model_paths(models));
  OPLAT_TRY(shapes, mobile_vision::parse_input_dims(input_dims));
  std::vector<mobile_vision::LutNet> nets;
  for (const std::string& path : paths) {
    OPLAT_TRY(net, mobile_vision::open_net(path, shapes));
    warnings.insert(warnings.end(), net.warnings.begin(), net.warnings.end());
    nets.push_back(std::move(net));
  }
  return nets;
}

Result<mobile_vision::LutMode> checked_mode(const LutRequest& request) {
  OPLAT_CHECK(mobile_vision::parse_model_paths(request.models));
  OPLAT_CHECK(mobile_vision::parse_input_dims(request.input_dims));
  const auto mode = mobile_vision::parse_lut_mode(request.mode);
  if (!mode)
    return fail(Code::Usage, "--mode {}: expected ave, mean, min, max or last",
                base::printable(request.mode));
  const predict::RowFilter& rows = request.rows;
  if (request.table.empty() && (rows.runtime || rows.version || rows.precision || rows.threads)) {
    return fail(Code::Usage,
                "--runtime, --runtime-version, --precision and --threads select rows of --table; "
                "the files of --db_dir have only one setting");
  }
  return *mode;
}

void warn_all(const std::vector<std::string>& warnings, Events& events) {
  for (const std::string& warning : warnings) events.warn(warning);
}

/// The distinct kernels of a search space, in the usual spelling.
Result<std::vector<formats::caffe2::LutQuery>> space_queries(const std::string& file) {
  OPLAT_TRY(space, read_space({file, {}}));
  OPLAT_TRY(keys, search::keys_of(space, space.resolutions));
  std::vector<formats::caffe2::LutQuery> queries;
  for (const std::string& text : keys) {
    OPLAT_TRY(query, mobile_vision::query_of(text));
    queries.push_back(std::move(query));
  }
  return queries;
}

Result<std::vector<mobile_vision::LutWanted>> wanted_of(const LutBuildRequest& request,
                                                        Events& events) {
  std::vector<std::string> warnings;
  OPLAT_TRY(nets, open_nets(request.models, request.input_dims, warnings));
  warn_all(warnings, events);
  std::vector<formats::caffe2::LutQuery> all;
  for (const mobile_vision::LutNet& net : nets)
    all.insert(all.end(), net.queries.begin(), net.queries.end());
  for (const std::string& file : request.spaces) {
    OPLAT_TRY(of_space, space_queries(file));
    all.insert(all.end(), of_space.begin(), of_space.end());
  }
  if (!request.queries.empty()) {
    OPLAT_TRY(listed, mobile_vision::listed_queries(request.queries));
    all.insert(all.end(), listed.begin(), listed.end());
  }
  return mobile_vision::wanted_operators(all);
}

}  // namespace

Result<std::shared_ptr<const mobile_vision::LutDocument>> lut_predict(const LutRequest& request,
                                                                      Events& events) {
  OPLAT_TRY(mode, checked_mode(request));
  std::vector<std::string> warnings;
  OPLAT_TRY(nets, open_nets(request.models, request.input_dims, warnings));
  LutRows rows;
  OPLAT_CHECK(request.table.empty() ? take_lut_file(request, rows, warnings, events)
                                    : take_lut_table(request, rows, warnings));
  std::vector<mobile_vision::LutPrediction> predictions;
  for (const mobile_vision::LutNet& net : nets) {
    OPLAT_TRY(prediction, mobile_vision::look_up(net, rows.lookup, mode, warnings));
    if (rows.predictor)
      OPLAT_CHECK(mobile_vision::estimate_missing(prediction, *rows.predictor, request.level));
    predictions.push_back(std::move(prediction));
  }
  warn_all(warnings, events);
  return std::make_shared<const mobile_vision::LutDocument>(
      mobile_vision::LutAsked{rows.device, !request.table.empty(), rows.path, request.mode,
                              request.estimate, request.level},
      std::move(predictions));
}

Result<std::string> lut_queries(const LutRequest& request, Events& events) {
  OPLAT_CHECK(checked_mode(request));
  std::vector<std::string> warnings;
  OPLAT_TRY(nets, open_nets(request.models, request.input_dims, warnings));
  warn_all(warnings, events);
  std::string lines;
  for (const mobile_vision::LutNet& net : nets) {
    for (const formats::caffe2::LutQuery& query : net.queries)
      lines += mobile_vision::lut_question_line(query, request.device.value_or(kLutDevice));
  }
  return lines;
}

Result<LutBuildResult> lut_build(const LutBuildRequest& request, Events& events) {
  if (request.models.empty() && request.queries.empty() && request.spaces.empty()) {
    return fail(Code::Usage,
                "nothing to measure; give --models DIR, --queries FILE or --space FILE");
  }
  if (request.runtime.device.empty())
    return fail(Code::Usage, "--device is missing; set the device name for the lines of the table");
  OPLAT_CHECK(check_runtime(request.runtime));
  OPLAT_TRY(wanted, wanted_of(request, events));
  OPLAT_TRY(session, start_session(request.runtime, events));
  // The original's own tables lie in a folder, which a user of another device has not made.
  if (const auto folder = std::filesystem::path(request.out).parent_path(); !folder.empty())
    OPLAT_CHECK(base::make_folder(folder.string()));
  OPLAT_TRY(table,
            table::Table::open(request.table.empty() ? request.out + ".oplat" : request.table,
                               table::Mode::Create));
  OPLAT_CHECK(check_device(table, session.device));
  OPLAT_TRY(summary, run_campaign(session, mobile_vision::keys_of(wanted), {}, request.campaign,
                                  table, events));
  if (summary.interrupted)
    return fail(Code::Interrupted,
                "stopped; {} keeps what was measured; run the same command to resume",
                table.path().string());
  OPLAT_TRY(device, table.find_or_put_device(session.device.name));
  OPLAT_TRY(setting, table.put_setting(session.setting));
  OPLAT_TRY(lines,
            mobile_vision::measured_lines(wanted, table, device, setting, session.device.name));
  if (lines.records == 0)
    return fail(Code::Runtime, "no operator was measured:{}", lines.missing.text());
  OPLAT_CHECK(base::write_file(request.out, lines.text));
  return LutBuildResult{lines.records, table.path(), wanted.size(), lines.missing.count(),
                        lines.missing.text()};
}

}  // namespace oplat::app
