// SPDX-License-Identifier: Apache-2.0
/// The client's side of a worker process: starts it, asks, survives its crash, hang and rubbish.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "measure/kernel_runner.hpp"
#include "measure/memory_look.hpp"
#include "runtimes/protocol.hpp"

namespace oplat::runtimes {

struct WorkerOptions {
  std::vector<std::string>
      command;  ///< argv of the worker; empty: this executable, "worker", runtime
  /// Whether paths mean the same to the worker. If false, or if the worker itself says so, models
  /// and input data are sent to it before plan() and open().
  bool shares_files = true;
  std::vector<std::string> arguments;  ///< put behind the command ("replay" takes a table)
  std::chrono::seconds start_deadline{60};
  std::chrono::seconds request_deadline{120};  ///< of plan() and open() more: see model_deadline()
  std::int64_t memory_limit_bytes = 0;         ///< address space of the worker; 0: no limit
  std::optional<int> cpu;                      ///< pin the worker to this CPU (1-thread settings)
  /// Asked while a request waits, several times a second, on the client's thread: true ends it like
  /// an interrupt. Must outlive the client.
  std::function<bool()> stop_asked;
};

/// The longest that a request about the model at `path` may take: `usual`, and a second for every
/// 8 MiB of its files, which the worker reads, optimises and may write.
std::chrono::seconds model_deadline(const std::string& path, std::chrono::seconds usual);

/// One worker process. A request past its deadline kills the process group; the open handle becomes
/// Failed{"time limit"} and the client is dead() until restart(). Crash: Failed{"worker ended:
/// signal 11 ..."}. Anything but the awaited answer on the protocol's descriptor: Failed{"worker
/// sent rubbish: ..."}, killed too. Code::Interrupted from any request once base::interrupted() is
/// set or WorkerOptions::stop_asked says so; the process is then gone. Use one client from one
/// thread, and start() and restart() it from a thread that outlives the worker: the system kills a
/// worker together with the thread that started it, so that none is left behind.
class WorkerClient final : public measure::KernelRunner {
 public:
  /// Code::Runtime: unknown name, or the worker says why it cannot start (with the command that
  /// installs it).
  static Result<std::unique_ptr<WorkerClient>> start(std::string_view runtime,
                                                     const WorkerOptions& options = {});
  ~WorkerClient() override;

  [[nodiscard]] const Hello& hello() const;
  Result<table::Plan> plan(const PlanRequest& request);
  /// Worker::node_times(). A worker that does not know the method gives Code::Usage.
  Result<NodeTimes> node_times(const PlanRequest& request);
  Result<measure::OpenOutcome> open(const measure::OpenRequest& request) override;
  Result<measure::BlockOutcome> block(const measure::BlockRequest& request) override;
  Status close(measure::Handle handle) override;
  /// One look at the worker's memory (measure::MemoryLooker). A worker that does not know the
  /// method gives Unsupported, one that is lost Failed.
  Result<measure::MemoryOutcome> look_at_memory(const measure::MemoryQuestion& question);
  /// Whether the process is gone; every further request fails until restart().
  [[nodiscard]] bool dead() const;
  /// Process id of the worker, for messages and tests; std::nullopt if it is dead.
  [[nodiscard]] std::optional<std::int64_t> process_id() const;
  /// A fresh process; handles of the old one are void.
  Status restart();

 private:
  struct Impl;
  explicit WorkerClient(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace oplat::runtimes
