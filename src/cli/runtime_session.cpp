// SPDX-License-Identifier: Apache-2.0
/// Starting a runtime.
#include "cli/runtime_session.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/interrupt.hpp"
#include "base/text.hpp"
#include "measure/device_facts.hpp"
#include "plan/identity.hpp"

namespace oplat::cli {
namespace {

/// What a worker may reserve: the machine's memory, and what threads reserve without touching it (a
/// stack and an arena of the allocator each). A kernel that needs more then fails by itself instead
/// of driving the machine into its swap space. No limit where the system does not tell, and in
/// builds with sanitizers, which reserve more than any machine has.
std::int64_t worker_memory_limit(std::int64_t threads) {
#if defined(__SANITIZE_ADDRESS__)
  (void)threads;
  return 0;
#else
  constexpr std::int64_t kBase = std::int64_t{1} << 30;
  constexpr std::int64_t kPerThread = std::int64_t{80} << 20;
  constexpr std::int64_t kMaxSlack = std::int64_t{4} << 30;
  const std::int64_t pages = ::sysconf(_SC_PHYS_PAGES);
  const std::int64_t page = ::sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page <= 0) return 0;
  return pages * page + std::min(kBase + threads * kPerThread, kMaxSlack);
#endif
}

}  // namespace

Result<RuntimeSession> start_runtime(const RunOptions& flags, const Verbosity& verbosity) {
  OPLAT_CHECK(check_runtime_name(flags.runtime));
  RuntimeSession session;
  session.worker_name = flags.runtime;
  if (verbosity.verbose) ::setenv("OPLAT_WORKER_STDERR", "1", 1);
  session.options.arguments = flags.worker_arguments;
  session.options.cpu = flags.cpu;
  session.options.memory_limit_bytes = worker_memory_limit(flags.threads);
  // From here on Ctrl-C ends what a worker is at; what was measured stays, and no temporary file
  // does.
  base::install_interrupt_handlers();
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
    if (std::find(hello.precisions.begin(), hello.precisions.end(), flags.precision) ==
        hello.precisions.end()) {
      return fail(Code::Usage, "--precision {}: {} has {}", base::printable(flags.precision),
                  flags.runtime, base::join(hello.precisions, ", "));
    }
    setting.precision = flags.precision;
  }
  if (flags.threads > hello.most_threads) {
    return fail(
        Code::Usage,
        "--threads {}: this machine has {} CPUs; more threads than CPUs measure the scheduler",
        flags.threads, hello.most_threads);
  }
  if (flags.cpu && flags.threads > 1)
    return fail(Code::Usage, "--cpu pins to one CPU and goes with --threads 1");
  if (flags.cpu) setting.options["affinity"] = std::to_string(*flags.cpu);
  for (const auto& [name, option] : hello.options) setting.options[name] = option.default_value;
  for (const std::string& text : flags.options) {
    OPLAT_TRY(pair, name_value("--option", text));
    const auto at = hello.options.find(pair.first);
    if (at == hello.options.end()) {
      std::vector<std::string> names;
      for (const auto& [name, option] : hello.options) names.push_back(name);
      return fail(Code::Usage, "--option {}: {} has {}", base::printable(text), flags.runtime,
                  names.empty() ? "no options" : base::join(names, ", "));
    }
    const auto& legal = at->second.values;
    if (!legal.empty() && std::find(legal.begin(), legal.end(), pair.second) == legal.end()) {
      return fail(Code::Usage, "--option {}: {} takes {}", base::printable(text), pair.first,
                  base::join(legal, ", "));
    }
    setting.options[pair.first] = pair.second;
  }
  return session;
}

Result<table::Plan> ask_plan(RuntimeSession& session, const runtimes::PlanRequest& request) {
  OPLAT_TRY(plan, session.worker->plan(request));
  if (!plan.identity.empty()) return plan;
  OPLAT_TRY(hash, plan::model_hash(request.model));
  OPLAT_TRY(shapes, plan::resolve_shapes(request.model, {request.shapes, request.batch}));
  OPLAT_TRY(inputs, plan::resolve_inputs(request.inputs));
  plan.identity = plan::identity(hash, shapes, request.setting, session.device.isa, inputs);
  return plan;
}

}  // namespace oplat::cli
