// SPDX-License-Identifier: Apache-2.0
/// oplat export T --format F --out FILE: rows as another system's latency table.
#include <map>
#include <memory>
#include <set>

#include "base/files.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/output.hpp"
#include "cli/question.hpp"
#include "cli/text_output.hpp"
#include "compat/registry.hpp"
#include "predict/row_selection.hpp"
#include "table/exchange.hpp"

namespace oplat::cli {
namespace {

struct ExportFlags {
  std::string table;
  std::string format;
  std::string out;
  predict::RowFilter question = {.has_mismatch_flag = false};
  Verbosity verbosity;
};

using Pair = std::pair<table::DeviceId, table::SettingId>;

/// Device and setting whose imported files fit the question; where there are none, those whose
/// measured rows do.
Result<Pair> choose(const table::Table& table, const table::TableCodec& codec,
                    const predict::RowFilter& question) {
  OPLAT_TRY(files, table.foreign_files());
  OPLAT_TRY(device_list, table.devices());
  OPLAT_TRY(setting_list, table.settings());
  const std::map<table::DeviceId, table::Device> devices(device_list.begin(), device_list.end());
  const std::map<table::SettingId, table::Setting> settings(setting_list.begin(),
                                                            setting_list.end());
  std::set<Pair> fitting;
  for (const table::StoredForeignFile& file : files) {
    const auto device = devices.find(file.device);
    const auto setting = settings.find(file.setting);
    if (file.origin.format != codec.name() || device == devices.end() || setting == settings.end())
      continue;
    if (predict::matches(question, device->second, setting->second))
      fitting.emplace(file.device, file.setting);
  }
  if (fitting.empty()) {
    OPLAT_TRY(selection, predict::select_rows(table, question, compat::catalogue()));
    return Pair{selection.device_id, selection.setting_ids.front()};
  }
  if (fitting.size() == 1) return *fitting.begin();
  std::vector<std::string> lines;
  for (const Pair& pair : fitting) {
    lines.push_back(fmt::format("{} on device {}", table::describe(settings.at(pair.second)),
                                base::printable(devices.at(pair.first).name)));
  }
  return fail(Code::Usage,
              "{}: holds several imports; choose one with --device, --precision, --runtime, "
              "--runtime-version, --threads or --option: {}",
              table.path().string(), base::join(lines, "; "));
}

Result<int> run_export(const ExportFlags& flags) {
  OPLAT_CHECK(refuse_to_replace(flags.out, flags.table));
  OPLAT_TRY(codec, compat::find_codec(flags.format));
  predict::RowFilter question = flags.question;
  // The format's word for a precision, where it is one.
  if (question.precision) {
    if (const auto asked = codec->setting("", *question.precision))
      question.precision = asked->precision;
  }
  OPLAT_TRY(table, table::Table::open(flags.table, table::Mode::Read, compat::codecs()));
  OPLAT_TRY(pair, choose(table, *codec, question));
  OPLAT_TRY(exported, table::export_foreign(table, *codec, pair.first, pair.second));
  OPLAT_CHECK(base::write_file(flags.out, exported.bytes));
  std::vector<std::string> warnings;
  if (exported.merged > 0) {
    warnings.push_back(fmt::format(
        "{} rows come as one with others, their mean, since the format {} cannot tell them apart",
        exported.merged, codec->name()));
  }
  if (exported.told_already > 0) {
    warnings.push_back(
        fmt::format("{} rows of other formats are left out, since an imported file of {} tells of "
                    "their operators",
                    exported.told_already, codec->name()));
  }
  if (exported.left_out > 0) {
    warnings.push_back(fmt::format("{} rows are left out, since the format {} cannot say them",
                                   exported.left_out, codec->name()));
    for (const std::string& key : exported.left_keys)
      warnings.push_back(fmt::format("left out: {}", base::printable(key, 200)));
    if (exported.left_out > exported.left_keys.size()) {
      warnings.push_back(fmt::format("and {} more", exported.left_out - exported.left_keys.size()));
    }
  }
  print_warnings(warnings, flags.verbosity);
  fmt::print("{}: {} rows\n", flags.out, exported.rows);
  return kDone;
}

}  // namespace

void add_export(const Command& app) {
  const Command command =
      app.add_subcommand("export", "write rows as another system's latency table");
  const auto flags = std::make_shared<ExportFlags>();
  command.add_option("T,--table", flags->table, "the table").envname("OPLAT_TABLE").required();
  command
      .add_option("--format", flags->format,
                  fmt::format("what to write: {}", table::codec_list(compat::codecs())))
      .required();
  command.add_option("--out", flags->out, "the file to write; one that is there is replaced")
      .type_name("FILE")
      .required();
  add_population_options(command, flags->question);
  add_verbosity(command, flags->verbosity);
  command.footer(
      "What was imported comes out byte for byte, in the order in which it was imported: failed "
      "rows, duplicates, malformed lines\n"
      "that --skip-bad-rows left out. Rows that oplat measured, and those imported from other "
      "formats, follow where the format\n"
      "can say their keys, at their hottest cache state; those that it cannot tell apart come as "
      "one, their mean; others are\n"
      "counted and named on stderr. A library of TinyNAS takes ONNX Runtime's convolutions in "
      "blocked layout ('oplat tinynas\n"
      "keys' names such), with and without Relu alike; a look-up table takes operators of Caffe2 "
      "that have a time, with\n"
      "percentiles over blocks; a log of Paddle-Lite's profiler takes nothing but what was "
      "imported.\n"
      "Exit codes: 0 done; 2 usage, or several imports fit; 3 no table; 6 no row that the format "
      "can say; 8 could not write.\n"
      "Example: oplat export v100.oplat --format tinynas --precision FP16 --out "
      "conv_data.out.fp16");
  command.runs([flags] { return run_export(*flags); });
}

}  // namespace oplat::cli
