// SPDX-License-Identifier: Apache-2.0
/// A runtime as the use cases need it: its worker started, and the setting that
/// a request asks for checked against what the worker offers.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/events.hpp"
#include "app/model_inputs.hpp"
#include "runtimes/worker_client.hpp"
#include "table/table.hpp"

namespace oplat::app {

/// Which runtime executes, and how.
struct RuntimeRequest {
  /// Name of the worker: "onnxruntime", "replay"; empty: not said, which only `remote` allows.
  std::string runtime;
  /// argv that starts the worker, without `worker_arguments`; empty: this
  /// executable, "worker", `runtime`.
  std::vector<std::string> worker_command;
  std::vector<std::string> worker_arguments;  ///< "replay" takes a table
  /// Whether `worker_command` may lead to another machine: the worker says which runtime it is,
  /// gets copies of models and input data, and is neither pinned nor limited in memory from here.
  bool remote = false;
  std::int64_t threads = 1;
  std::string precision;                       ///< empty: the runtime's own
  std::map<std::string, std::string> options;  ///< of the runtime; the others keep their defaults
  std::string device;      ///< name under which rows are stored; empty: the machine's own
  std::optional<int> cpu;  ///< pins the worker to this CPU; goes with one thread
};

/// The same as typed.
struct RuntimeTexts {
  RuntimeRequest request;                 ///< all but what follows
  std::vector<std::int64_t> thread_list;  ///< the first counts; empty: as the request says
  std::vector<std::string> options;       ///< "NAME=VALUE", each name once
  std::optional<std::string> worker;      ///< command of a worker elsewhere
};
/// Code::Usage if an option is not NAME=VALUE or is given twice, or the worker's command cannot be
/// split.
Result<RuntimeRequest> parse_runtime(const RuntimeTexts& texts);
/// The words of --worker. Code::Usage if there is none or a quote is not closed.
Result<std::vector<std::string>> parse_worker(const std::string& command);

/// Code::Runtime with the known names if `name` is none of them. Starts no
/// process.
Status check_runtime_name(const std::string& name);

/// check_runtime_name(), unless the worker is remote and answers for itself. Code::Usage if a
/// remote worker is to be pinned to a CPU.
Status check_runtime(const RuntimeRequest& request);

/// A started worker with its setting. Use it from the thread that started it.
struct Session {
  std::string worker_name;  ///< of the worker: "replay" answers as the runtime
                            ///< that it recorded
  std::unique_ptr<runtimes::WorkerClient> worker;
  table::Setting setting;  ///< complete: version and build are the worker's
  table::Device device;
  runtimes::WorkerOptions options;  ///< with which further workers are started
  bool remote = false;              ///< as in the request
};
/// Starts a worker and makes the setting from its defaults and the request.
/// Code::Usage if the request names something that this runtime does not have,
/// Code::Runtime if no worker starts or a remote one serves another runtime than
/// the request names, Code::Interrupted if `events` says
/// cancelled while it starts.
Result<Session> start_session(const RuntimeRequest& request, Events& events);

/// A further worker of the session's kind. A remote one is tried again for some seconds if it does
/// not start, since a connection may be back. Code::Refused if it is not as the first: another
/// version, or another machine, whose times would be mixed with the first one's.
Result<std::unique_ptr<runtimes::WorkerClient>> start_another(
    const Session& session, const runtimes::WorkerOptions& options);

/// What the worker is asked about a whole model.
runtimes::PlanRequest plan_request(const std::string& path, const ModelInputs& inputs,
                                   const table::Setting& setting);

/// The runtime's plan of the model at `path`. If the worker leaves the plan's
/// identity empty, which those in other languages do, it is made here.
Result<table::Plan> plan_with(Session& session, const std::string& path, const ModelInputs& inputs);
/// As above under another setting than the session's.
Result<table::Plan> plan_with(Session& session, const std::string& path, const ModelInputs& inputs,
                              const table::Setting& setting);

/// Code::Refused if the table holds rows of another machine under this device's
/// name: rows of both would be mixed.
Status check_device(const table::Table& table, const table::Device& device);

}  // namespace oplat::app
