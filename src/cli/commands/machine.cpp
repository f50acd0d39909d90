// SPDX-License-Identifier: Apache-2.0
/// oplat machine: the caches and the memory of a machine, as reported and as measured.
#include "app/machine.hpp"
#include "base/units.hpp"
#include "cli/commands/commands.hpp"

namespace oplat::cli {
namespace {

constexpr const char* kDefaultRuntime = "reference";

struct MachineFlags : OutputFlags {
  app::RuntimeTexts run;
  std::string budget = "20s";
};

Result<int> run_machine(const MachineFlags& flags) {
  OPLAT_CHECK(check_out(flags.form, {}));
  OPLAT_TRY(budget_ns, base::parse_duration_ns(flags.budget));
  OPLAT_TRY(runtime, app::parse_runtime(flags.run));
  if (runtime.runtime.empty() && !runtime.remote) runtime.runtime = kDefaultRuntime;
  TerminalEvents events(flags.verbosity);
  OPLAT_TRY(report, app::measure_machine({std::move(runtime), budget_ns / 1e9}, events));
  events.finish();
  const bool measured = report.memory.has_value();
  OPLAT_CHECK(print_document(flags.form, std::move(report)));
  return measured ? kDone : kRuntime;
}

constexpr const char* kMachineFooter =
    R"(
A core reads pools of growing size again and again. For each it times a line of 64 bytes after the
whole pool was read since its last use: loads at random, each of which waits for the one before, and
reads in order. Where a line gets slower a cache ends. Networks lose their weights between the two.
Other tenants may leave a core less of a cache than the system reports.
Exit codes: 0 measured; 2 usage; 5 the runtime does not start, or its worker cannot look.)";

}  // namespace

void add_machine(const Command& app) {
  const auto [command, flags] = add_command(
      app, "machine", "measure the caches and the memory of a machine, next to what it reports",
      run_machine);
  const Option runtime = command.add_option(
      "--runtime", flags->run.request.runtime,
      "runtime whose worker looks ('oplat runtimes' lists them; default: reference)");
  add_worker_option(command, flags->run.worker, runtime);
  command.add_option("--cpu", flags->run.request.cpu, "pin the worker to this CPU").range(0, 4095);
  add_worker_argument(command, flags->run.request.worker_arguments);
  command.add_option("--budget", flags->budget, "time after which no pass begins: 5s, 1m")
      .type_name("TIME")
      .capture_default_str();
  add_output<report::MachineReport>(command, *flags);
  command.footer({kMachineFooter});
}

}  // namespace oplat::cli
