// SPDX-License-Identifier: Apache-2.0
/// The worker protocol (docs/reference/worker-protocol.md): JSON-RPC 2.0, one message a line. Both
/// ends share these types.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/interval.hpp"
#include "base/result.hpp"
#include "measure/kernel_runner.hpp"
#include "table/records.hpp"

namespace oplat::runtimes {

inline constexpr int kProtocolVersion = 1;
inline constexpr std::size_t kMaxLineBytes = std::size_t{16} << 20;

/// A knob of a runtime: its legal values (empty: free text) and its default.
struct SettingOption {
  std::vector<std::string> values;
  std::string default_value;
};

/// What a worker says of itself.
struct Hello {
  int protocol = kProtocolVersion;
  std::string runtime;
  std::string version;
  std::string build;
  std::map<std::string, SettingOption> options;  ///< of Setting::options
  std::vector<std::string> precisions;  ///< legal values of Setting::precision, default first
  std::int64_t max_threads = 1;
  table::Device device;
  bool shared_file_system = true;
  /// Version of the oplat whose harness serves the runtime; empty: a worker with a loop of its own.
  std::string oplat;
  /// Whether it compares a model whose fixed batch is rewritten with what it was, and refuses one
  /// that computes something else: only then is it asked to run such a model.
  bool rewrites_batch = false;
  /// Name of the worker if it is not that of the runtime: "replay" answers as the runtime that it
  /// recorded. Empty: the runtime's.
  std::string worker = {};
  /// The name under which `oplat worker` serves it.
  [[nodiscard]] const std::string& served_as() const { return worker.empty() ? runtime : worker; }
};

/// One piece of a file for a worker that shares no file system with the client. Pieces of a file
/// come in order.
struct PutRequest {
  std::string folder;  ///< 32 hexadecimal digits: files of one model share the folder named by the
                       ///< model's hash
  std::string name;    ///< plain file name
  std::string
      hash;  ///< 32 hexadecimal digits: hash128 of the whole file, checked behind the last piece
  std::int64_t offset = 0;  ///< of this piece; 0 begins anew
  std::int64_t size = 0;    ///< of the whole file
  std::string bytes;        ///< base64 on the wire
};
struct PutOutcome {
  bool complete = false;
  std::string path;  ///< of the file on the worker's side, once complete
};

struct PlanRequest {
  std::string model;  ///< path
  std::map<std::string, std::vector<std::int64_t>> shapes;
  std::optional<std::int64_t> batch;
  std::map<std::string, std::string> inputs;
  table::Setting setting;
};

/// What one execution of a node takes inside the whole model, by the runtime's own profile.
struct NodeTime {
  std::string node;   ///< PlanKernel::name
  base::Interval ns;  ///< as surely as the profiler tells, which adds to every node
};
using NodeTimes = std::vector<NodeTime>;

/// The worker's side: one class per runtime, driven by serve(). Errors of plan() and open() whose
/// code is Runtime or Internal reach the client as such; Input and Usage keep their code too.
class Worker {
 public:
  virtual ~Worker() = default;
  virtual Result<Hello> hello() = 0;
  virtual Result<table::Plan> plan(const PlanRequest& request) = 0;
  /// Runs the model of a plan under the runtime's profiler. Nodes that it does not tell apart, and
  /// those with bodies, are left out: all of them in a runtime without a profiler.
  virtual Result<NodeTimes> node_times(const PlanRequest& request) {
    static_cast<void>(request);
    return NodeTimes();
  }
  virtual Result<measure::OpenOutcome> open(const measure::OpenRequest& request) = 0;
  /// Calls handle once and returns its time in ns; the block loop around it is shared by all C++
  /// workers.
  virtual Result<double> run(measure::Handle handle) = 0;
  virtual Status close(measure::Handle handle) = 0;
  /// Whether run() answers recorded times without waiting: a block then ends by rounds instead of
  /// by the clock, and neither scrubs nor times references.
  [[nodiscard]] virtual bool virtual_time() const { return false; }
};

/// How far networks were from the sum of their kernels, nothing fitted, in settings of the model's
/// own precision, and of these threads and options; other options do not matter.
struct SumError {
  double sd_log = 0;  ///< standard deviation of the logarithm
  std::int64_t threads = 1;
  std::map<std::string, std::string> options = {};
};
/// What is known of a setting.
struct KnownSumError {
  double sd_log = 0;
  bool compared = true;  ///< false: no networks were compared in such a setting, sd_log is a guess
  /// what a byte of a result that caches lose takes more inside a model
  double evicted_byte_ns = 0;
  double kernel_ns = 0;  ///< what each executed kernel takes more inside a model
};

/// A runtime that this executable knows. `create` is called inside the worker process only; where
/// it is null, the worker is a program of its own, because the runtime's libraries are not to be
/// linked into this one.
struct RuntimeEntry {
  std::string_view name;
  std::string_view description;
  std::string_view install;  ///< the command that installs it; empty: always there
  Result<std::unique_ptr<Worker>> (*create)(const std::vector<std::string>& arguments);
  std::string_view program =
      {};  ///< file next to this executable that serves the runtime, where `create` is null
  bool python = false;  ///< where `create` is null too: python/oplat/workers/NAME serves it instead
  /// Of settings in which networks miss more than predict::kCompositionSd; `unseen_sd_log` is the
  /// guess for all others. Without any the runtime misses no more in any setting.
  std::vector<SumError> sum_errors = {};
  double unseen_sd_log = 0;
  std::vector<std::string_view> reads = {};  ///< formats::FormatReader::name() of model files
};
/// Explicit list, in src/runtimes/registry.cpp.
const std::vector<RuntimeEntry>& runtimes();
const RuntimeEntry* find_runtime(std::string_view name);
/// Of a setting, by the list; {0, true} for a runtime that is not in it. Bytes of results were
/// fitted for ONNX Runtime alone, whether or not this executable can run it.
KnownSumError sum_error(const table::Setting& setting);

}  // namespace oplat::runtimes
