// SPDX-License-Identifier: Apache-2.0
/// Starting a runtime.
#include "cli/runtime_session.hpp"

#include <algorithm>
#include <cstdlib>

#include "oplat/base/text.hpp"

namespace oplat::cli {

Status check_runtime_name(const std::string& name) {
  if (runtimes::find_runtime(name) != nullptr) return {};
  std::vector<std::string> known;
  for (const auto& entry : runtimes::runtimes()) known.emplace_back(entry.name);
  const auto near = base::nearest_word(name, known);
  return fail(Code::Runtime, "no runtime is called '{}'; there are: {}{}", base::printable(name), base::join(known, ", "),
              near ? fmt::format(" (did you mean {}?)", *near) : "");
}

Result<RuntimeSession> start_runtime(const RunOptions& flags, const Loudness& loudness) {
  OPLAT_CHECK(check_runtime_name(flags.runtime));
  RuntimeSession session;
  session.worker_name = flags.runtime;
  if (loudness.verbose) ::setenv("OPLAT_WORKER_STDERR", "1", 1);
  session.options.arguments = flags.worker_arguments;
  session.options.cpu = flags.cpu;
  OPLAT_TRY(worker, runtimes::WorkerClient::start(flags.runtime, session.options));
  session.worker = std::move(worker);
  const runtimes::Hello& hello = session.worker->hello();
  session.device = hello.device;
  if (!flags.device.empty()) session.device.name = flags.device;
  table::Setting& setting = session.setting;
  setting.runtime = hello.runtime;
  setting.version = hello.version;
  setting.build = hello.build;
  setting.threads = flags.threads;
  if (!hello.precisions.empty()) setting.precision = hello.precisions.front();
  if (!flags.precision.empty()) {
    if (std::find(hello.precisions.begin(), hello.precisions.end(), flags.precision) == hello.precisions.end()) {
      return fail(Code::Usage, "--precision {}: {} has {}", base::printable(flags.precision), flags.runtime, base::join(hello.precisions, ", "));
    }
    setting.precision = flags.precision;
  }
  if (flags.threads > hello.most_threads) {
    return fail(Code::Usage, "--threads {}: this machine has {} CPUs; more threads than CPUs measure the scheduler", flags.threads, hello.most_threads);
  }
  if (flags.cpu && flags.threads > 1) return fail(Code::Usage, "--cpu pins to one CPU and goes with --threads 1");
  if (flags.cpu) setting.options["affinity"] = std::to_string(*flags.cpu);
  for (const auto& [name, option] : hello.options) setting.options[name] = option.default_value;
  for (const std::string& text : flags.options) {
    OPLAT_TRY(pair, name_value("--option", text));
    const auto at = hello.options.find(pair.first);
    if (at == hello.options.end()) {
      std::vector<std::string> names;
      for (const auto& [name, option] : hello.options) names.push_back(name);
      return fail(Code::Usage, "--option {}: {} has {}", base::printable(text), flags.runtime, names.empty() ? "no options" : base::join(names, ", "));
    }
    const auto& legal = at->second.values;
    if (!legal.empty() && std::find(legal.begin(), legal.end(), pair.second) == legal.end()) {
      return fail(Code::Usage, "--option {}: {} takes {}", base::printable(text), pair.first, base::join(legal, ", "));
    }
    setting.options[pair.first] = pair.second;
  }
  return session;
}

}  // namespace oplat::cli
