// SPDX-License-Identifier: Apache-2.0
#include "app/machine.hpp"

#include <cmath>
#include <utility>

#include "base/units.hpp"

namespace oplat::app {

Result<measure::MeasuredMemoryOutcome> measure_memory(runtimes::WorkerClient& worker,
                                                      const table::Device& device,
                                                      double max_seconds, std::string_view what,
                                                      Events& events) {
  measure::MemoryProbeRequest probe;
  probe.device = device;
  probe.max_seconds = max_seconds;
  probe.stop_asked = [&events] { return events.cancelled(); };
  probe.progress = [&events, what](const measure::MemoryProgress& progress) {
    constexpr std::int64_t kWhole = 100;
    const std::string pool = base::bytes_text(static_cast<double>(progress.pool_bytes));
    events.progress({.done = std::llround(progress.share * kWhole),
                     .total = kWhole,
                     .eta_s = progress.left_s,
                     .what = what,
                     .item = pool});
  };
  return measure::measure_memory(probe, [&](const measure::MemoryQuestion& question) {
    return worker.look_at_memory(question);
  });
}

Result<MachineRequest> parse_machine(const MachineTexts& texts) {
  OPLAT_TRY(budget_ns, base::parse_duration_ns(texts.budget));
  OPLAT_TRY(runtime, parse_runtime(texts.runtime));
  if (runtime.runtime.empty() && !runtime.remote) runtime.runtime = "reference";
  return MachineRequest{std::move(runtime), budget_ns / 1e9};
}

Result<report::MachineReport> measure_machine(const MachineRequest& request, Events& events) {
  OPLAT_TRY(session, start_session(request.runtime, events));
  OPLAT_TRY(outcome,
            measure_memory(*session.worker, session.device, request.budget_s, "reading", events));
  report::MachineReport report;
  report.device = session.device;
  report.worker = session.worker_name;
  if (auto* memory = std::get_if<measure::MeasuredMemory>(&outcome))
    report.memory = std::move(*memory);
  else if (auto* unsupported = std::get_if<table::Unsupported>(&outcome))
    report.why =
        fmt::format("the worker of {} cannot look: {}", session.worker_name, unsupported->reason);
  else
    report.why = std::get<table::Failed>(outcome).reason;
  return report;
}

}  // namespace oplat::app
