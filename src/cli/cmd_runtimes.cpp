// SPDX-License-Identifier: Apache-2.0
/// oplat runtimes
#include <memory>

#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/options.hpp"
#include "cli/output.hpp"
#include "runtimes/worker_client.hpp"

namespace oplat::cli {
namespace {

/// Starts the runtime's worker and asks: the only proof that it is there is that it answers.
report::RuntimeList::Runtime state_of(const runtimes::RuntimeEntry& entry) {
  report::RuntimeList::Runtime state;
  state.name = entry.name;
  state.description = entry.description;
  state.install = entry.install;
  if (entry.name == "replay") {
    state.available = true;
    state.why = "needs a table: --worker-argument FILE";
    return state;
  }
  auto worker = runtimes::WorkerClient::start(entry.name);
  if (!worker) {
    state.why = worker.error().message;
    return state;
  }
  const runtimes::Hello& hello = (*worker)->hello();
  state.available = true;
  state.version = hello.version;
  state.build = hello.build;
  for (const auto& [name, option] : hello.options)
    state.options[name] = {option.values, option.default_value};
  return state;
}

Result<int> run_runtimes(const FormOptions& form) {
  report::RuntimeList list;
  for (const auto& entry : runtimes::runtimes()) list.runtimes.push_back(state_of(entry));
  OPLAT_CHECK(print_report(form, report::ReportModel{std::move(list), {}}));
  return kDone;
}

}  // namespace

void add_runtimes(const Command& app) {
  const Command command = app.add_subcommand(
      "runtimes", "list what can execute models here, and how to install what is absent");
  const auto form = std::make_shared<FormOptions>();
  add_form<report::RuntimeList>(command, *form);
  command.runs([form] { return run_runtimes(*form); });
}

}  // namespace oplat::cli
