// SPDX-License-Identifier: Apache-2.0
/// Use case: what the caches and the memory of a machine are, measured (docs/adr/0051).
#pragma once

#include <string>
#include <string_view>

#include "app/events.hpp"
#include "app/session.hpp"
#include "base/result.hpp"
#include "measure/memory_probe.hpp"
#include "report/machine_report.hpp"

namespace oplat::app {

/// Looks at pools of the machine of `device`, where `worker` runs, for `max_seconds`; `what` names
/// the step in the progress. Code::Interrupted if `events` says cancelled, and the worker's errors.
Result<measure::MeasuredMemoryOutcome> measure_memory(runtimes::WorkerClient& worker,
                                                      const table::Device& device,
                                                      double max_seconds, std::string_view what,
                                                      Events& events);

struct MachineRequest {
  RuntimeRequest runtime;  ///< whose worker looks, where its kernels run
  double budget_s = 20;    ///< no pass over the pools begins later
};

/// The same as typed; without a runtime and a remote worker it is the reference runtime.
struct MachineTexts {
  RuntimeTexts runtime;
  std::string budget = "20s";
};
/// Code::Usage quotes what is wrong.
Result<MachineRequest> parse_machine(const MachineTexts& texts);

/// Looks at pools of the worker's machine, and finds levels. Where a worker cannot look, the report
/// says why nothing was measured. Code::Interrupted if `events` says cancelled, and the errors of
/// start_session().
Result<report::MachineReport> measure_machine(const MachineRequest& request, Events& events);

}  // namespace oplat::app
