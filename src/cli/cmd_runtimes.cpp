// SPDX-License-Identifier: Apache-2.0
/// oplat runtimes
#include <memory>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/options.hpp"
#include "cli/output.hpp"
#include "runtimes/worker_client.hpp"

namespace oplat::cli {
namespace {

struct State {
  bool available = false;
  std::string version, build, why;
  std::map<std::string, runtimes::SettingOption> options;
};

/// Starts the runtime's worker and asks: the only proof that it is there is that it answers.
State state_of(const runtimes::RuntimeEntry& entry) {
  State state;
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
  state.available = true;
  state.version = (*worker)->hello().version;
  state.build = (*worker)->hello().build;
  state.options = (*worker)->hello().options;
  return state;
}

int print_list() {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const auto& entry : runtimes::runtimes()) {
    const State state = state_of(entry);
    nlohmann::ordered_json options = nlohmann::ordered_json::object();
    for (const auto& [name, option] : state.options)
      options[name] = {{"values", option.values}, {"default", option.default_value}};
    list.push_back({{"name", entry.name},
                    {"description", entry.description},
                    {"available", state.available},
                    {"version", state.version},
                    {"build", state.build},
                    {"options", options},
                    {"install", entry.install},
                    {"why", state.why}});
  }
  print_json({{"schema", "oplat.runtimes/1"}, {"runtimes", list}});
  return 0;
}

int print_text() {
  for (const auto& entry : runtimes::runtimes()) {
    const State state = state_of(entry);
    fmt::print("{:<12} {}\n", entry.name, entry.description);
    if (!state.available) {
      fmt::print("{:<12}   not available: {}\n", "", state.why);
      continue;
    }
    if (!state.version.empty())
      fmt::print("{:<12}   version {}, build {}\n", "", state.version, state.build);
    for (const auto& [name, option] : state.options) {
      fmt::print("{:<12}   --option {}={} (default {})\n", "", name, base::join(option.values, "|"),
                 option.default_value);
    }
    if (!state.why.empty()) fmt::print("{:<12}   {}\n", "", state.why);
  }
  return 0;
}

}  // namespace

void add_runtimes(const Command& app) {
  const Command command = app.add_subcommand(
      "runtimes", "list what can execute models here, and how to install what is absent");
  const auto json = std::make_shared<bool>(false);
  command.add_flag("--json", *json, "print JSON");
  command.runs([json]() -> Result<int> { return *json ? print_list() : print_text(); });
}

}  // namespace oplat::cli
