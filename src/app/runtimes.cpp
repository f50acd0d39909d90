// SPDX-License-Identifier: Apache-2.0
/// Starts each runtime's worker and asks it.
#include "app/runtimes.hpp"

#include <algorithm>

#include "app/model_inputs.hpp"
#include "base/text.hpp"
#include "formats/format_reader.hpp"
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

Result<std::string> runtime_for(std::span<const std::string> models, Events& events) {
  if (models.empty())
    return fail(Code::Usage, "--runtime is required; 'oplat runtimes' lists them");
  std::vector<std::string> readers;
  for (const runtimes::RuntimeEntry& entry : runtimes::runtimes())
    if (!entry.reads.empty()) readers.emplace_back(entry.name);
  for (const std::string& model : models) {
    OPLAT_CHECK(check_model_file(model));
    OPLAT_TRY(source, base::Source::open(model));
    OPLAT_TRY(reader, formats::reader_for(source));
    std::erase_if(readers, [&, format = reader->name()](const std::string& name) {
      const auto& reads = runtimes::find_runtime(name)->reads;
      return std::find(reads.begin(), reads.end(), format) == reads.end();
    });
  }
  std::vector<std::string> installed;
  std::string install;
  for (const std::string& name : readers) {
    if (events.cancelled()) return fail(Code::Interrupted, "stopped while asking the runtimes");
    const auto state = state_of(*runtimes::find_runtime(name), {});
    if (state.available) installed.push_back(name);
    install += fmt::format("\n  {}: {}", name, state.install);
  }
  const std::string first = base::printable(models.front(), 400);
  if (installed.size() > 1)
    return fail(Code::Usage, "--runtime is required: {} are installed and read {}",
                base::join(installed, " and "), first);
  if (installed.empty())
    return fail(Code::Runtime, "--runtime is required: none that reads {} is installed{}", first,
                install.empty() ? install : "; install one:" + install);
  events.note(
      fmt::format("runtime {}: the only one installed that reads {} (--runtime names another)",
                  installed.front(), first));
  return installed.front();
}

}  // namespace oplat::app
