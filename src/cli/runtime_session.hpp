// SPDX-License-Identifier: Apache-2.0
/// A runtime as the subcommands use it: started, with the setting that the flags ask for.
#pragma once

#include <memory>

#include "cli/options.hpp"
#include "runtimes/worker_client.hpp"
#include "table/table.hpp"

namespace oplat::cli {

/// Code::Runtime with the known names where `name` is none of them. Costs nothing: no process is
/// started.
Status check_runtime_name(const std::string& name);

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

/// Code::Refused where the table holds rows of another machine under this one's name: theirs and
/// ours would be mixed.
Status check_device(const table::Table& table, const table::Device& device);

}  // namespace oplat::cli
