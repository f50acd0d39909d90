// SPDX-License-Identifier: Apache-2.0
/// From a table and the installed runtime to a comparison of rows.
#include "app/verify.hpp"

#include <algorithm>
#include <set>

#include "app/campaign.hpp"
#include "app/table_source.hpp"
#include "base/files.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "compat/registry.hpp"
#include "predict/row_selection.hpp"
#include "table/memory_text.hpp"

namespace oplat::app {
namespace {

constexpr int kMaxCpu = 4095;

/// The runtime whose times the table holds; one of several has to be named.
Result<std::string> only_runtime(const table::Table& table) {
  OPLAT_TRY(contexts, table.contexts());
  OPLAT_TRY(settings, table.settings());
  std::set<std::string> names;
  for (const table::Context& context : contexts) {
    for (const auto& [id, setting] : settings) {
      if (id == context.setting && context.timings > 0) names.insert(setting.runtime);
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
                "{}: its times are of {} {}, but {} is installed; install that version, or measure "
                "with the installed one: oplat profile",
                path, hello.runtime, base::printable(setting.version), hello.version);
  }
  if (setting.threads > hello.max_threads) {
    return fail(Code::Refused,
                "{}: its times were measured with {} threads, but this machine has {} CPUs; choose "
                "others with --threads",
                path, setting.threads, hello.max_threads);
  }
  if (std::find(hello.precisions.begin(), hello.precisions.end(), setting.precision) ==
          hello.precisions.end() &&
      !hello.precisions.empty()) {
    return fail(Code::Refused,
                "{}: its times are of precision {}, which the installed {} does not support; "
                "choose others with --precision",
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
                  "support; profile again",
                  path, base::printable(name), base::printable(value), hello.runtime);
    }
  }
  return {};
}

/// The worker's settings under which the table's rows were measured.
Result<RuntimeRequest> runtime_of(const VerifyRequest& request, const std::string& worker,
                                  const table::Setting& setting) {
  RuntimeRequest runtime;
  runtime.runtime = worker;
  runtime.worker_command = request.worker_command;
  runtime.worker_arguments = request.worker_arguments;
  runtime.remote = request.remote;
  runtime.threads = setting.threads;
  runtime.precision = setting.precision;
  for (const auto& [name, value] : setting.options) {
    if (name != "affinity") {
      runtime.options[name] = value;
      continue;
    }
    const auto cpu = base::parse_int(value);
    if (!cpu || *cpu < 0 || *cpu > kMaxCpu)
      return fail(Code::Input, "affinity={} in the table is not a CPU", base::printable(value));
    if (request.remote)
      return fail(Code::Refused,
                  "{}: its times were measured on CPU {} alone, to which a worker that --worker "
                  "starts cannot be pinned from here; choose others with --option, or run oplat on "
                  "that machine",
                  request.table, *cpu);
    runtime.cpu = static_cast<int>(*cpu);
  }
  return runtime;
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

}  // namespace

Status read_into(const VerifyTexts& texts, VerifyRequest& request) {
  OPLAT_TRY(budget_ns, base::parse_duration_ns(texts.budget));
  request.budget_s = budget_ns / 1e9;
  if (!texts.worker) return {};
  OPLAT_TRY(command, parse_worker(*texts.worker));
  request.worker_command = std::move(command);
  request.remote = true;
  return {};
}

Result<VerifyResult> verify(const VerifyRequest& request, Events& events) {
  if (!request.runtime.empty() && !request.remote) OPLAT_CHECK(check_runtime_name(request.runtime));
  OPLAT_TRY(table, table::Table::open(request.table, table::Mode::Read, compat::codecs()));
  RuntimeRequest plain;
  plain.runtime = request.runtime;
  plain.worker_command = request.worker_command;
  plain.worker_arguments = request.worker_arguments;
  plain.remote = request.remote;
  if (plain.runtime.empty() && !plain.remote) {
    OPLAT_TRY(only, only_runtime(table));
    plain.runtime = only;
  }
  OPLAT_TRY(installed, start_session(plain, events));
  const runtimes::Hello hello = installed.worker->hello();
  installed.worker.reset();
  predict::RowFilter question = request.rows;
  OPLAT_CHECK(fill(question, table, hello));
  OPLAT_TRY(selection, select_rows(table, question));
  OPLAT_CHECK(check_installed(table, selection.setting, hello));
  OPLAT_TRY(runtime, runtime_of(request, installed.worker_name, selection.setting));
  OPLAT_TRY(session, start_session(runtime, events));
  session.worker.reset();  // it would stand idle next to those that measure
  OPLAT_TRY(rows, measure::choose_rows(table, selection.device_id, selection.setting_ids,
                                       request.max_rows, request.seed, compat::catalogue()));
  if (rows.empty()) {
    return fail(
        Code::Refused,
        "{}: holds no kernels that were timed on {} under {}; measure some with oplat profile",
        request.table, base::printable(selection.device.name), table::describe(selection.setting));
  }
  OPLAT_TRY(recorded,
            measure::recorded_references(table, selection.device_id, selection.setting_ids));

  measure::VerifyRequest again;
  again.campaign.catalogue = &compat::catalogue();
  again.campaign.device = selection.device;
  again.campaign.setting = session.setting;
  OPLAT_TRY(sizes,
            table::sizes_of_states(table, selection.device_id, selection.setting_ids.front()));
  again.campaign.memory = std::move(sizes.memory);
  again.campaign.seed = request.seed;
  again.campaign.budget_seconds = request.budget_s;
  again.campaign.argv = request.record;
  again.campaign.environment = environment_of(session);
  again.campaign.stop_asked = [&events] { return events.cancelled(); };
  again.here = session.device;
  OPLAT_TRY(folder, base::TemporaryFolder::create("oplat-verify"));
  OPLAT_TRY(scratch, table::Table::open(folder.path() / "verify.oplat", table::Mode::Create));
  CampaignEvents progress(events);
  OPLAT_TRY(verification, measure::verify(again, rows, scratch, runner_factory(session), progress));
  if (verification.interrupted)
    return fail(Code::Interrupted, "stopped; {} was only read", request.table);
  VerifyResult result{report_of(verification, selection, recorded), verification.judgement.verdict};
  result.verification.table = request.table;
  return result;
}

Status require_same(const VerifyRequest& request, const VerifyResult& result) {
  const report::Verification& report = result.verification;
  if (report.compared == 0) {
    return fail(Code::Runtime, "{}",
                report.refused > 0
                    ? "no row could be measured again; the reasons are above"
                    : "the budget ended before a row was measured; set a larger --budget");
  }
  if (result.verdict == measure::TableVerdict::Same) return {};
  return fail(Code::GateNotMet, "{}: {}", request.table, report.verdict);
}

}  // namespace oplat::app
