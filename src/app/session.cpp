// SPDX-License-Identifier: Apache-2.0
/// Starting a worker, and the checks of what is asked of it.
#include "app/session.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <thread>
#include <utility>

#include "base/name_value.hpp"
#include "base/text.hpp"
#include "measure/device_facts.hpp"
#include "plan/identity.hpp"
#include "runtimes/worker_command.hpp"

namespace oplat::app {
namespace {

/// What a worker may reserve: the machine's memory, and what threads reserve
/// without touching it (a stack and an arena of the allocator each). A kernel
/// that needs more then fails by itself instead of driving the machine into its
/// swap space. No limit where the system does not tell, and in builds with
/// sanitizers, which reserve more than any machine has.
std::int64_t worker_memory_limit(std::int64_t threads) {
#ifdef OPLAT_SANITIZED
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

Result<std::vector<std::string>> parse_worker(const std::string& command) {
  auto words = runtimes::split_command(command);
  if (!words) return fail(Code::Usage, "--worker: {}", words.error().message);
  return words;
}

Result<RuntimeRequest> parse_runtime(const RuntimeTexts& texts) {
  RuntimeRequest request = texts.request;
  if (texts.worker) {
    OPLAT_TRY(command, parse_worker(*texts.worker));
    request.worker_command = std::move(command);
    request.remote = true;
  }
  if (!texts.thread_list.empty()) request.threads = texts.thread_list.front();
  for (const std::string& text : texts.options) {
    OPLAT_TRY(pair, base::name_value("--option", text));
    if (!request.options.emplace(pair.first, pair.second).second)
      return fail(Code::Usage, "--option {} is given twice", base::printable(pair.first));
  }
  return request;
}

Status check_runtime_name(const std::string& name) {
  if (runtimes::find_runtime(name) != nullptr) return {};
  std::vector<std::string> known;
  for (const auto& entry : runtimes::runtimes()) known.emplace_back(entry.name);
  const auto near = base::nearest_word(name, known);
  return fail(Code::Runtime, "unknown runtime '{}'; expected one of {}{}", base::printable(name),
              base::join(known, ", "), near ? fmt::format(" (did you mean {}?)", *near) : "");
}

Status check_runtime(const RuntimeRequest& request) {
  if (request.threads < 1)
    return fail(Code::Usage, "threads {}: expected at least 1", request.threads);
  if (!request.remote) return check_runtime_name(request.runtime);
  if (request.cpu)
    return fail(Code::Usage,
                "--cpu {}: a worker that --worker starts cannot be pinned from here; omit --cpu, "
                "or run oplat on that machine",
                *request.cpu);
  return {};
}

namespace {

/// Before the second and the third try to reach a remote worker.
constexpr std::array kPauses{std::chrono::seconds(1), std::chrono::seconds(4)};

void pause_for(std::chrono::seconds pause, const std::function<bool()>& stop_asked) {
  const auto until = std::chrono::steady_clock::now() + pause;
  while (!stop_asked() && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
}

/// What a worker that was started later says otherwise than the first one; empty: nothing.
std::vector<std::string> changes(const Session& session, const runtimes::Hello& hello) {
  std::vector<std::string> changed;
  const auto compare = [&](const char* what, const std::string& first, const std::string& now) {
    if (first != now)
      changed.push_back(fmt::format("{} is {}, was {}", what, base::printable(now, 80),
                                    base::printable(first, 80)));
  };
  compare("runtime", session.setting.runtime, hello.runtime);
  compare("version", session.setting.version, hello.version);
  compare("build", session.setting.build, hello.build);
  for (const auto& fact : measure::differing_facts(session.device, hello.device))
    compare(fact.fact.c_str(), fact.recorded, fact.here);
  return changed;
}

/// The request's threads and CPU, checked against the machine.
Status apply_threads(const RuntimeRequest& request, const runtimes::Hello& hello,
                     table::Setting& setting) {
  if (request.threads > hello.max_threads) {
    return fail(Code::Usage, "--threads {}: {} has {} CPUs; use at most one thread per CPU",
                request.threads, request.remote ? "the worker's machine" : "this machine",
                hello.max_threads);
  }
  if (request.cpu && request.threads > 1)
    return fail(Code::Usage, "--cpu pins the worker to one CPU; use it with --threads 1");
  setting.threads = request.threads;
  if (request.cpu) setting.options["affinity"] = std::to_string(*request.cpu);
  return {};
}

Status apply_precision(const RuntimeRequest& request, const runtimes::Hello& hello,
                       table::Setting& setting) {
  if (!hello.precisions.empty()) setting.precision = hello.precisions.front();
  if (request.precision.empty()) return {};
  if (std::find(hello.precisions.begin(), hello.precisions.end(), request.precision) ==
      hello.precisions.end()) {
    return fail(Code::Usage, "--precision {}: {} supports {}", base::printable(request.precision),
                hello.served_as(), base::join(hello.precisions, ", "));
  }
  setting.precision = request.precision;
  return {};
}

Status apply_options(const RuntimeRequest& request, const runtimes::Hello& hello,
                     table::Setting& setting) {
  for (const auto& [name, option] : hello.options) setting.options[name] = option.default_value;
  for (const auto& [name, value] : request.options) {
    const auto at = hello.options.find(name);
    if (at == hello.options.end()) {
      std::vector<std::string> names;
      for (const auto& [known, option] : hello.options) names.push_back(known);
      return fail(Code::Usage, "--option {}: {} supports {}", base::printable(name + "=" + value),
                  hello.served_as(), names.empty() ? "no options" : base::join(names, ", "));
    }
    const auto& legal = at->second.values;
    if (!legal.empty() && std::find(legal.begin(), legal.end(), value) == legal.end()) {
      return fail(Code::Usage, "--option {}: {} accepts {}", base::printable(name + "=" + value),
                  name, base::join(legal, ", "));
    }
    setting.options[name] = value;
  }
  return {};
}

}  // namespace

Result<Session> start_session(const RuntimeRequest& request, Events& events) {
  OPLAT_CHECK(check_runtime(request));
  Session session;
  session.worker_name = request.runtime;
  session.remote = request.remote;
  session.options.command = request.worker_command;
  session.options.arguments = request.worker_arguments;
  session.options.cpu = request.cpu;
  session.options.shares_files = !request.remote;
  session.options.stop_asked = [&events] { return events.cancelled(); };
  if (!request.remote) session.options.memory_limit_bytes = worker_memory_limit(request.threads);
  if (events.cancelled()) return fail(Code::Interrupted, "stopped before the runtime was started");
  OPLAT_TRY(worker, runtimes::WorkerClient::start(request.runtime, session.options));
  session.worker = std::move(worker);
  const runtimes::Hello& hello = session.worker->hello();
  if (request.remote) {
    if (!request.runtime.empty() && request.runtime != hello.served_as())
      return fail(Code::Runtime,
                  "--runtime {}: the worker '{}' serves {}; use that name, or omit --runtime",
                  base::printable(request.runtime),
                  base::printable(base::join(request.worker_command, " "), 200),
                  base::printable(hello.served_as()));
    session.worker_name = hello.served_as();
  }
  session.device = hello.device;
  if (!request.device.empty()) session.device.name = request.device;
  session.setting.runtime = hello.runtime;
  session.setting.version = hello.version;
  session.setting.build = hello.build;
  OPLAT_CHECK(apply_precision(request, hello, session.setting));
  OPLAT_CHECK(apply_threads(request, hello, session.setting));
  OPLAT_CHECK(apply_options(request, hello, session.setting));
  return session;
}

Result<std::unique_ptr<runtimes::WorkerClient>> start_another(
    const Session& session, const runtimes::WorkerOptions& options) {
  auto worker = runtimes::WorkerClient::start(session.worker_name, options);
  for (const std::chrono::seconds pause : kPauses) {
    if (worker || !session.remote || worker.error().code != Code::Runtime) break;
    pause_for(pause, session.options.stop_asked);
    worker = runtimes::WorkerClient::start(session.worker_name, options);
  }
  if (!worker) return worker;
  const std::vector<std::string> changed = changes(session, (*worker)->hello());
  if (changed.empty()) return worker;
  return fail(
      Code::Refused,
      "the worker that was just started differs from the first one: {}; what was measured is kept",
      base::join(changed, "; "));
}

runtimes::PlanRequest plan_request(const std::string& path, const ModelInputs& inputs,
                                   const table::Setting& setting) {
  runtimes::PlanRequest request;
  request.model = path;
  request.shapes = inputs.shapes.shapes;
  request.batch = inputs.shapes.batch;
  request.inputs = inputs.data;
  request.setting = setting;
  return request;
}

Result<table::Plan> plan_with(Session& session, const std::string& path, const ModelInputs& inputs,
                              const table::Setting& setting) {
  // Only a worker that compares such a model with what it was is asked to run it.
  if (const auto fixed = rewritten_batch(path, inputs);
      fixed && !session.worker->hello().rewrites_batch)
    return fail(Code::Usage,
                "{}: --batch {} cannot be set: the model fixes its batch to {}, which {} does not "
                "rewrite; export it with an open batch dimension",
                path, *inputs.shapes.batch, *fixed, session.worker_name);
  OPLAT_TRY(plan, session.worker->plan(plan_request(path, inputs, setting)));
  if (!plan.identity.empty()) return plan;
  OPLAT_TRY(hash, plan::model_hash(path));
  OPLAT_TRY(shapes, plan::resolve_shapes(path, inputs.shapes));
  OPLAT_TRY(data, plan::resolve_inputs(inputs.data));
  plan.identity = plan::identity(hash, shapes, setting, session.device.isa, data);
  return plan;
}

Result<table::Plan> plan_with(Session& session, const std::string& path,
                              const ModelInputs& inputs) {
  return plan_with(session, path, inputs, session.setting);
}

Status check_device(const table::Table& table, const table::Device& device) {
  OPLAT_TRY(devices, table.devices());
  for (const auto& [id, recorded] : devices) {
    if (recorded.name != device.name) continue;
    std::vector<std::string> differences;
    for (const auto& fact : measure::differing_facts(recorded, device)) {
      differences.push_back(
          fmt::format("{} is {} here, {} in the table", fact.fact, fact.here, fact.recorded));
    }
    if (differences.empty()) continue;
    return fail(Code::Refused,
                "{}: holds rows of another machine named '{}': {}; use another --device NAME for "
                "this machine",
                table.path().string(), base::printable(device.name), base::join(differences, "; "));
  }
  return {};
}

}  // namespace oplat::app
