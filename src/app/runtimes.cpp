// SPDX-License-Identifier: Apache-2.0
/// Starts each runtime's worker and asks it.
#include "app/runtimes.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

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

/// The name of the format of a model file.
Result<std::string_view> format_of(const std::string& model) {
  OPLAT_CHECK(check_model_file(model));
  OPLAT_TRY(source, base::Source::open(model));
  OPLAT_TRY(reader, formats::reader_for(source));
  return reader->name();
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
  // Of several models, one that is none says nothing of the runtime, and gets its error later.
  std::optional<Error> bad;
  const std::string* good = nullptr;
  for (const std::string& model : models) {
    const auto format = format_of(model);
    if (!format) {
      if (!bad) bad = format.error();
      continue;
    }
    if (good == nullptr) good = &model;
    std::erase_if(readers, [&](const std::string& name) {
      const auto& reads = runtimes::find_runtime(name)->reads;
      return std::find(reads.begin(), reads.end(), *format) == reads.end();
    });
  }
  if (good == nullptr) return fail(*bad);
  std::vector<std::string> installed;
  std::string install;
  for (const std::string& name : readers) {
    if (events.cancelled()) return fail(Code::Interrupted, "stopped while asking the runtimes");
    const auto state = state_of(*runtimes::find_runtime(name), {});
    if (state.available) installed.push_back(name);
    install += fmt::format("\n  {}: {}", name, state.install);
  }
  const std::string first = base::printable(*good, 400);
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

Result<RuntimeRequest> parse_runtime_for(const RuntimeTexts& texts,
                                         std::span<const std::string> models, Events& events) {
  OPLAT_TRY(request, parse_runtime(texts));
  if (!request.runtime.empty() || request.remote) return request;
  OPLAT_TRY(runtime, runtime_for(models, events));
  request.runtime = std::move(runtime);
  return request;
}

}  // namespace oplat::app
