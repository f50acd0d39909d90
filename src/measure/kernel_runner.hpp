// SPDX-License-Identifier: Apache-2.0
/// What the measure layer asks of whatever can run kernels: open one, time one block, close. Worker
/// processes implement it (runtimes/worker_client.hpp); tests use a simulated one. Protocol:
/// docs/reference/worker-protocol.md.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.hpp"
#include "table/records.hpp"

namespace oplat::measure {

using Handle = std::int64_t;

/// How k copies of one kernel hang together (measuring.md 11.2).
enum class Topology { Auto, Chain, Fan, Single };

/// A request to make something runnable. Exactly one of `key` and `model` is set.
struct OpenRequest {
  std::string key;
  std::string model;                                        ///< path
  std::map<std::string, std::vector<std::int64_t>> shapes;  ///< of model inputs
  std::optional<std::int64_t> batch;
  std::map<std::string, std::string> inputs;  ///< NAME -> FILE.npy | zeros | ones | uniform:LO:HI
  table::Setting setting;
  std::int64_t copies = 1;
  Topology topology = Topology::Auto;
  bool distinct_weights =
      false;  ///< each copy holds weight bytes of its own, so that they can be cold
  /// The kernel's results leave the graph as a model's do. Else a worker may let a small node read
  /// them, which costs the same for 1 and for k copies: a slope does not see it, an empty call
  /// does.
  bool results_as_outputs = false;
  /// Copies in a model whose results are read as soon as they stand, so that the next copy may
  /// write where they lay; in a model of one copy, as many reads as the one of so many copies has,
  /// one of them of its result (docs/adr/0074). 0: results stay.
  std::int64_t reads = 0;
  std::uint64_t seed = 1;
};

/// A kernel or model that stands ready.
struct Opened {
  Handle handle = 0;
  std::int64_t bytes = 0;  ///< that it holds: weights, inputs
  std::string topology;    ///< "chain", "fan", "single"
};
/// Ready, or why not (Unsupported, Skipped, Failed: the campaign goes on).
using OpenOutcome = std::variant<Opened, table::Unsupported, table::Skipped, table::Failed>;

/// Cores at their best, as far as was seen; 0: not yet. See oplat_probe_cores; of a kernel on one
/// thread `issue_ns` alone, see oplat_probe_alone_best.
struct Cores {
  double issue_ns = 0;
  double handoff_ns = 0;
  friend bool operator==(const Cores&, const Cores&) = default;
};

/// One block: rounds of [scrub, handle] for every handle in order, again and again until `duration`
/// is over.
struct BlockRequest {
  std::vector<Handle> handles;
  std::chrono::nanoseconds duration{100'000'000};
  std::int64_t min_rounds = 3;
  std::int64_t max_rounds = 100'000;
  std::int64_t warmup_rounds = 1;  ///< untimed rounds before the first
  std::int64_t scrub_bytes = 0;    ///< read before each timed call, outside the timer; 0: nothing
  std::int64_t scrub_threads =
      1;  ///< each reads them on a core of its own: caches of several cores hold weights
  bool references = true;  ///< time the reference kernels at the start
  /// Rounds during which somebody else used the core do not count, as far as others can be had; for
  /// what runs on one thread.
  bool core_exclusive = true;
  /// A block counts as stolen if the cores of so many threads are not apart when it begins or ends
  /// (oplat_probe_apart); 1: not asked.
  std::int64_t cores_distinct = 1;
  std::chrono::nanoseconds max_wait{0};  ///< it waits so long at most until they are
  Cores best_cores;
  /// Run untimed again and again for some 0.2 ms after each scrub: threads of a runtime's pool fall
  /// asleep during one, and inside a network they are awake.
  std::optional<Handle> wake = std::nullopt;
};

struct BlockSamples {
  std::vector<std::vector<double>> ns;  ///< per handle of the request, one time per round
  std::optional<double> reference_compute_ns;
  std::optional<double> reference_memory_ns;
  std::int64_t faults = 0;
  std::int64_t switches = 0;  ///< involuntary
  std::int64_t steal_ticks =
      0;  ///< of the hypervisor, and of the hardware thread that shares the core
  std::optional<double>
      other_load;  ///< CPUs that other programs kept busy during the block; nothing: not told
  std::int64_t waited_ns = 0;  ///< until the cores were apart
  Cores best_cores;            ///< of the request or better, as far as was looked
  bool virtual_time = false;   ///< the times are recorded ones, made to vary: no real runs
};
using BlockOutcome = std::variant<BlockSamples, table::Failed>;

class KernelRunner {
 public:
  virtual ~KernelRunner() = default;
  /// Error only where the runner itself is lost for good; what concerns this kernel is data.
  virtual Result<OpenOutcome> open(const OpenRequest& request) = 0;
  virtual Result<BlockOutcome> block(const BlockRequest& request) = 0;
  virtual Status close(Handle handle) = 0;
};

}  // namespace oplat::measure
