// SPDX-License-Identifier: Apache-2.0
/// oplat machine: the caches and the memory of a machine, as reported and as measured.
#include "app/machine.hpp"
#include "cli/commands/commands.hpp"

namespace oplat::cli {
namespace {

struct MachineFlags : OutputFlags {
  app::MachineTexts texts;
};

Result<int> run_machine(const MachineFlags& flags) {
  OPLAT_CHECK(check_out(flags.form, {}));
  OPLAT_TRY(request, app::parse_machine(flags.texts));
  TerminalEvents events(flags.verbosity);
  OPLAT_TRY(report, app::measure_machine(request, events));
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
Other tenants may leave a core less of a cache than the system reports. What they bring into the last
level shows in loads from a pool that nobody touched for up to 32 ms.
Exit codes: 0 measured; 2 usage; 5 the runtime does not start, or its worker cannot look.)";

}  // namespace

void add_machine(const Command& app) {
  const auto [command, flags] = add_command(
      app, "machine", "measure the caches and the memory of a machine, next to what it reports",
      run_machine);
  const Option runtime = command.add_option(
      "--runtime", flags->texts.runtime.request.runtime,
      "runtime whose worker looks ('oplat runtimes' lists them; default: reference)");
  add_worker_option(command, flags->texts.runtime.worker, runtime);
  command.add_option("--cpu", flags->texts.runtime.request.cpu, "pin the worker to this CPU")
      .range(0, 4095);
  add_worker_argument(command, flags->texts.runtime.request.worker_arguments);
  command.add_option("--budget", flags->texts.budget, "time after which no pass begins: 5s, 1m")
      .type_name("TIME")
      .capture_default_str();
  add_output<report::MachineReport>(command, *flags);
  command.footer({kMachineFooter});
}

}  // namespace oplat::cli
