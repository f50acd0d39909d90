// SPDX-License-Identifier: Apache-2.0
/// oplat fit T: learn from the table's whole models how kernels add up.
#include <memory>

#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/output.hpp"
#include "cli/question.hpp"
#include "oplat/base/files.hpp"
#include "oplat/base/text.hpp"
#include "oplat/predict/fit.hpp"

namespace oplat::cli {
namespace {

struct Flags {
  std::string table;
  predict::Question question;
  std::string groups_file;
  double level = 0.9;
  double most_half_width = predict::FitRequest{}.most_half_width;
  bool dry_run = false;
  FormOptions form;
  Loudness loudness;
};

/// Lines of model file name, tab, group; '#' begins a comment line.
Result<std::map<std::string, std::string>> read_groups(const std::string& path) {
  OPLAT_TRY(text, base::read_file(path, std::uint64_t{1} << 26));
  std::map<std::string, std::string> groups;
  std::int64_t line_number = 0;
  for (std::string& line : base::split(text, '\n')) {
    ++line_number;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.empty() || line.front() == '#') continue;
    const std::size_t tab = line.find('\t');
    if (tab == std::string::npos || tab == 0 || tab + 1 == line.size()) {
      return fail(Code::Input, "{}:{}: is not 'model file name, tab, group': {}", path, line_number, base::printable(line));
    }
    groups[line.substr(0, tab)] = line.substr(tab + 1);
  }
  return groups;
}

Result<int> run(const Flags& flags) {
  predict::FitRequest request;
  request.level = flags.level;
  request.most_half_width = flags.most_half_width;
  if (!flags.groups_file.empty()) {
    OPLAT_TRY(groups, read_groups(flags.groups_file));
    request.groups = std::move(groups);
  }
  OPLAT_TRY(table, table::Table::open(flags.table, flags.dry_run ? table::Mode::Read : table::Mode::Write));
  OPLAT_TRY(selection, predict::select(table, flags.question));
  OPLAT_TRY(result, predict::fit_composition(table, selection, request));
  if (!flags.dry_run) {
    const table::Fit fit{std::string(predict::kCompositionFormat), 0, predict::encode(result.fit)};
    OPLAT_CHECK(table.put_fit(selection.device_id, selection.setting_ids.front(), fit));
  }
  report::FitReport report = report::fit_report(std::move(result));
  report.table = flags.table;
  report.device = selection.device;
  report.setting = selection.setting;
  report.level = flags.level;
  report.most_half_width = request.most_half_width;
  OPLAT_CHECK(print_report(flags.form.form(), report::ReportModel{std::move(report), {}}));
  return kDone;
}

}  // namespace

void add_fit(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("fit", "learn from the table's whole models how kernels add up");
  const auto flags = std::make_shared<Flags>();
  command->add_option("T,--table", flags->table, "the table")->envname("OPLAT_TABLE")->required();
  command->add_option("--runtime", flags->question.runtime, "rows of this runtime");
  command->add_option("--runtime-version", flags->question.version, "rows of this version of it");
  command->add_option("--threads", flags->question.threads, "rows measured with this many threads")->check(CLI::Range(1, 4096));
  command->add_option("--device", flags->question.device, "rows of this device");
  command->add_option("--precision", flags->question.precision, "rows computed in this precision");
  command->add_option("--groups", flags->groups_file, "file of lines MODEL<tab>GROUP: models of a group are left out together (default: each by itself)")
      ->type_name("FILE");
  command->add_option("--level", flags->level, "level of the intervals printed")->check(CLI::Range(0.01, 0.999))->capture_default_str();
  command->add_option("--most-half-width", flags->most_half_width, "models whose own confidence interval is wider than +- this, relative, teach nothing")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  command->add_flag("--dry-run", flags->dry_run, "print the fit, but do not store it");
  add_form(*command, flags->form);
  add_loudness(*command, flags->loudness);
  command->footer("Whole models come into a table with 'oplat profile --model'. Predictions use the fit until more is measured.");
  command->callback([&action, flags] { action = [flags] { return run(*flags); }; });
}

}  // namespace oplat::cli
