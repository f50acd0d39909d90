// SPDX-License-Identifier: Apache-2.0
/// Starts each runtime's worker and asks it.
#include "app/runtimes.hpp"

#include "runtimes/worker_client.hpp"

namespace oplat::app {
namespace {

report::RuntimeList::Runtime state_of(const runtimes::RuntimeEntry& entry,
                                      const RuntimesRequest& request) {
  report::RuntimeList::Runtime state;
  state.name = entry.name;
  state.description = entry.description;
  state.install = entry.install;
  if (state.name == "replay") {
    state.available = true;
    state.why = "needs a table; set it with --worker-argument FILE";
    return state;
  }
  runtimes::WorkerOptions options;
  if (!request.executable.empty()) options.command = {request.executable, "worker", state.name};
  auto worker = runtimes::WorkerClient::start(entry.name, options);
  if (!worker) {
    state.why = worker.error().message;
    return state;
  }
  state.available = true;
  const runtimes::Hello& hello = (*worker)->hello();
  state.version = hello.version;
  state.build = hello.build;
  for (const auto& [name, option] : hello.options)
    state.options[name] = {option.values, option.default_value};
  return state;
}

}  // namespace

Result<report::RuntimeList> list_runtimes(const RuntimesRequest& request, Events& events) {
  report::RuntimeList list;
  for (const runtimes::RuntimeEntry& entry : runtimes::runtimes()) {
    if (events.cancelled()) return fail(Code::Interrupted, "stopped while asking the runtimes");
    list.runtimes.push_back(state_of(entry, request));
  }
  return list;
}

}  // namespace oplat::app
