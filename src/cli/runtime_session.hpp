// SPDX-License-Identifier: Apache-2.0
/// A runtime as the subcommands use it: started, with the setting that the flags ask for.
#pragma once

#include <memory>

#include "app/session.hpp"
#include "cli/options.hpp"
#include "runtimes/worker_client.hpp"
#include "table/table.hpp"

namespace oplat::cli {

using app::check_runtime_name;

struct RuntimeSession {
  std::string worker_name;  ///< of the worker: "replay" answers as the runtime that it recorded
  std::unique_ptr<runtimes::WorkerClient> worker;
  table::Setting setting;
  table::Device device;
  runtimes::WorkerOptions options;  ///< with which further workers are started
};
/// Starts a worker and makes the setting out of its defaults and the flags. Code::Usage where a
/// flag is not legal for it.
Result<RuntimeSession> start_runtime(const RunOptions& flags, const Verbosity& verbosity);

/// The runtime's plan of a model. Its identity is ours to make where the worker, in another
/// language, leaves it empty.
Result<table::Plan> ask_plan(RuntimeSession& session, const runtimes::PlanRequest& request);

using app::check_device;

}  // namespace oplat::cli
