// SPDX-License-Identifier: Apache-2.0
/// oplat verify T: is this table still true here?
#include <algorithm>
#include <memory>
#include <set>

#include "base/files.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/campaign.hpp"
#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/output.hpp"
#include "cli/prediction_options.hpp"
#include "cli/progress.hpp"
#include "cli/runtime_session.hpp"
#include "compat/registry.hpp"
#include "measure/verify.hpp"
#include "predict/row_selection.hpp"

namespace oplat::cli {
namespace {

struct VerifyFlags {
  std::string table;
  std::string runtime;
  std::vector<std::string> worker_arguments;
  predict::RowFilter question = {.has_mismatch_flag = false};
  std::string budget = "60s";
  std::size_t rows = 20;
  std::uint64_t seed = 1;
  FormOptions form;
  Verbosity verbosity;
};

class VerifyProgress final : public measure::Progress {
 public:
  explicit VerifyProgress(const Verbosity& verbosity) : bar_(verbosity) {}
  void update(const measure::ProgressState& state) override {
    const bool measuring = state.phase == measure::Phase::Measuring;
    bar_.update(measuring ? "measuring" : "preparing", state.done, state.total,
                state.eta_seconds.value_or(-1), state.state + " " + state.current);
  }
  void notice(const std::string& message) override { bar_.note("oplat: " + message); }

 private:
  ProgressBar bar_;
};

/// The runtime whose times the table holds; one of several has to be named.
Result<std::string> only_runtime(const table::Table& table) {
  OPLAT_TRY(populations, table.populations());
  OPLAT_TRY(settings, table.settings());
  std::set<std::string> names;
  for (const table::Population& population : populations) {
    for (const auto& [id, setting] : settings) {
      if (id == population.setting && population.timings > 0) names.insert(setting.runtime);
    }
  }
  if (names.empty())
    return fail(Code::Refused, "{}: holds no times to verify; measure some with oplat profile",
                table.path().string());
  if (names.size() > 1) {
    return fail(Code::Usage, "{}: holds times of {} runtimes; name one with --runtime: {}",
                table.path().string(), names.size(),
                base::printable(
                    base::join(std::vector<std::string>(names.begin(), names.end()), ", "), 400));
  }
  OPLAT_CHECK(check_runtime_name(*names.begin()));
  return *names.begin();
}

/// Fills from this machine what the flags leave open and the table holds.
Status fill(predict::RowFilter& question, const table::Table& table, const runtimes::Hello& hello) {
  OPLAT_TRY(settings, table.settings());
  OPLAT_TRY(devices, table.devices());
  question.runtime = hello.runtime;
  question.build = hello.build;
  const bool has_version = std::any_of(settings.begin(), settings.end(), [&](const auto& each) {
    return each.second.runtime == hello.runtime && each.second.version == hello.version;
  });
  const bool has_device = std::any_of(devices.begin(), devices.end(), [&](const auto& each) {
    return each.second.name == hello.device.name;
  });
  if (!question.version && has_version) question.version = hello.version;
  if (!question.device && has_device) question.device = hello.device.name;
  return {};
}

/// Rows of another version, or under options that the installed runtime lacks, cannot be measured
/// again here.
Status check_installed(const table::Table& table, const table::Setting& setting,
                       const runtimes::Hello& hello) {
  const std::string path = table.path().string();
  if (setting.version != hello.version) {
    return fail(Code::Refused,
                "{}: its times are of {} {}, installed is {}: install that version, or measure "
                "with the installed one "
                "into the table: oplat profile",
                path, hello.runtime, base::printable(setting.version), hello.version);
  }
  if (setting.threads > hello.most_threads) {
    return fail(Code::Refused,
                "{}: its times were measured with {} threads, this machine has {} CPUs; choose "
                "others with --threads",
                path, setting.threads, hello.most_threads);
  }
  if (std::find(hello.precisions.begin(), hello.precisions.end(), setting.precision) ==
          hello.precisions.end() &&
      !hello.precisions.empty()) {
    return fail(Code::Refused,
                "{}: its times are of precision {}, which the installed {} does not have; choose "
                "others with --precision",
                path, base::printable(setting.precision), hello.runtime);
  }
  for (const auto& [name, value] : setting.options) {
    const auto option = hello.options.find(name);
    if (name == "affinity") continue;
    const bool known =
        option != hello.options.end() &&
        (option->second.values.empty() ||
         std::count(option->second.values.begin(), option->second.values.end(), value) > 0);
    if (!known) {
      return fail(Code::Refused,
                  "{}: its times were measured with option {}={}, which the installed {} does not "
                  "take; profile anew",
                  path, base::printable(name), base::printable(value), hello.runtime);
    }
  }
  return {};
}

/// The flags with which a worker runs as the table's rows were run.
Result<RunOptions> options_of(const VerifyFlags& flags, const std::string& worker,
                              const table::Setting& setting) {
  RunOptions options;
  options.runtime = worker;
  options.worker_arguments = flags.worker_arguments;
  options.threads = setting.threads;
  options.precision = setting.precision;
  for (const auto& [name, value] : setting.options) {
    if (name != "affinity") {
      options.options.push_back(name + "=" + value);
      continue;
    }
    const auto cpu = base::parse_int(value);
    if (!cpu || *cpu < 0 || *cpu > 4095)
      return fail(Code::Input, "affinity={} in the table is no CPU", base::printable(value));
    options.cpu = static_cast<int>(*cpu);
  }
  return options;
}

report::Verification::Row row_of(const measure::RowCheck& check) {
  report::Verification::Row row;
  row.key = check.row.key;
  row.op = check.row.op;
  row.state = check.row.state;
  row.reuse_bytes = check.row.reuse_bytes;
  row.before = check.row.before;
  row.after = check.after;
  row.under_load = check.under_load;
  if (check.comparison) {
    row.ratio = check.comparison->ratio;
    row.ratio_low = check.comparison->low;
    row.ratio_high = check.comparison->high;
    row.verdict = measure::name(check.comparison->verdict);
  }
  return row;
}

report::Verification report_of(const measure::Verification& found,
                               const predict::Selection& selection,
                               const measure::ReferenceMedians& recorded) {
  const measure::Judgement& judgement = found.judgement;
  report::Verification report;
  report.verdict = measure::name(judgement.verdict);
  report.reasons = judgement.reasons;
  report.compared = judgement.compared;
  report.refused = judgement.refused;
  report.left = judgement.left;
  report.outlying = judgement.outlying;
  report.under_load = judgement.under_load;
  report.ratio = judgement.ratio;
  if (judgement.interval) {
    report.ratio_low = judgement.interval->low;
    report.ratio_high = judgement.interval->high;
  }
  report.scatter = judgement.scatter;
  report.noise = judgement.noise;
  for (const auto& one : judgement.classes)
    report.classes.push_back({one.op, one.state, one.rows, one.ratio, one.moved});
  for (const auto& fact : found.facts)
    report.facts.push_back({fact.fact, fact.recorded, fact.here, fact.decides});
  for (const auto& check : found.rows) report.rows.push_back(row_of(check));
  report.references = {{"compute", recorded.compute_ns, found.references.compute_ns},
                       {"memory", recorded.memory_ns, found.references.memory_ns}};
  report.blocks = found.blocks;
  report.processes = found.processes;
  report.seconds = found.seconds;
  report.budget_ended = found.budget_ended;
  report.device = selection.device;
  report.setting = selection.setting;
  report.warnings = selection.warnings;
  return report;
}

Result<int> run_verify(const VerifyFlags& flags) {
  OPLAT_CHECK(check_out(flags.form, {flags.table}));
  OPLAT_TRY(budget_ns, base::parse_duration_ns(flags.budget));
  if (!flags.runtime.empty()) OPLAT_CHECK(check_runtime_name(flags.runtime));
  OPLAT_TRY(table, table::Table::open(flags.table, table::Mode::Read, compat::codecs()));
  std::string worker = flags.runtime;
  if (worker.empty()) {
    OPLAT_TRY(only, only_runtime(table));
    worker = only;
  }
  RunOptions plain;
  plain.runtime = worker;
  plain.worker_arguments = flags.worker_arguments;
  OPLAT_TRY(installed, start_runtime(plain, flags.verbosity));
  const runtimes::Hello hello = installed.worker->hello();
  installed.worker.reset();
  predict::RowFilter question = flags.question;
  OPLAT_CHECK(fill(question, table, hello));
  OPLAT_TRY(selection, predict::select_rows(table, question, compat::catalogue()));
  OPLAT_CHECK(check_installed(table, selection.setting, hello));
  OPLAT_TRY(options, options_of(flags, worker, selection.setting));
  OPLAT_TRY(session, start_runtime(options, flags.verbosity));
  session.worker.reset();  // it would stand idle beside those that measure
  OPLAT_TRY(rows, measure::choose_rows(table, selection.device_id, selection.setting_ids,
                                       flags.rows, flags.seed, compat::catalogue()));
  if (rows.empty()) {
    return fail(
        Code::Refused,
        "{}: holds no kernels that were timed on {} under {}; measure some with oplat profile",
        flags.table, base::printable(selection.device.name), table::describe(selection.setting));
  }
  OPLAT_TRY(recorded,
            measure::recorded_references(table, selection.device_id, selection.setting_ids));

  measure::VerifyRequest request;
  request.campaign.device = selection.device;
  request.campaign.setting = session.setting;
  request.campaign.seed = flags.seed;
  request.campaign.budget_seconds = budget_ns / 1e9;
  request.campaign.argv = command_line();
  request.here = session.device;
  OPLAT_TRY(folder, base::TemporaryFolder::create("oplat-verify"));
  OPLAT_TRY(scratch, table::Table::open(folder.path() / "verify.oplat", table::Mode::Create));
  const auto factory = [&]() -> Result<std::unique_ptr<measure::Instrument>> {
    OPLAT_TRY(fresh, runtimes::WorkerClient::start(session.worker_name, session.options));
    return std::unique_ptr<measure::Instrument>(std::move(fresh));
  };
  auto verification = [&] {
    VerifyProgress progress(flags.verbosity);
    return measure::verify(request, rows, scratch, factory, progress);
  }();
  if (!verification) return fail(std::move(verification).error());
  if (verification->interrupted)
    return fail(Code::Interrupted, "stopped; {} was only read", flags.table);

  report::Verification report = report_of(*verification, selection, recorded);
  report.table = flags.table;
  OPLAT_CHECK(print_report(flags.form, report::ReportModel{report, {}}));
  if (flags.form.form() != "text") print_warnings(report.warnings, flags.verbosity);
  if (report.compared == 0) {
    return fail(Code::Runtime, "{}",
                report.refused > 0
                    ? "no row could be measured again; the reasons stand above"
                    : "the budget ended before a row was measured; give more with --budget");
  }
  if (verification->judgement.verdict == measure::TableVerdict::Same) return kDone;
  return fail(Code::GateNotMet, "{}: {}", flags.table, report.verdict);
}

}  // namespace

void add_verify(const Command& app) {
  const Command command = app.add_subcommand(
      "verify", "measure some rows of a table again: does it still hold on this machine?");
  const auto flags = std::make_shared<VerifyFlags>();
  command.add_option("T,--table", flags->table, "the table").envname("OPLAT_TABLE").required();
  command.add_option("--runtime", flags->runtime, "what executes (default: the table's)");
  command.add_option("--threads", flags->question.threads, "rows measured with this many threads")
      .range(1, 4096);
  command.add_option("--device", flags->question.device,
                     "rows of this device (default: that of this machine's name)");
  command.add_option("--runtime-version", flags->question.version,
                     "rows of this version of the runtime (default: the installed one)");
  command.add_option("--precision", flags->question.precision, "rows computed in this precision");
  add_option_filter(command, flags->question);
  command.add_option("--budget", flags->budget, "stop after this time")
      .type_name("TIME")
      .capture_default_str();
  command.add_option("--rows", flags->rows, "rows to measure again")
      .range(5, 10'000)
      .capture_default_str();
  command.add_option("--seed", flags->seed, "of the choice of rows, order, weights and inputs")
      .capture_default_str();
  command
      .add_option("--worker-argument", flags->worker_arguments,
                  "argument of the worker; 'replay' takes a table")
      .repeatable();
  add_form<report::Verification>(command, flags->form);
  add_verbosity(command, flags->verbosity);
  command.footer(
      "Exit codes: 0 the table holds; 7 slower, faster, another machine or unclear; 5 nothing "
      "could be measured; 6 "
      "another version of the runtime.");
  command.runs([flags] { return run_verify(*flags); });
}

}  // namespace oplat::cli
