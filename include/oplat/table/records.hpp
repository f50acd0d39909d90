// SPDX-License-Identifier: Apache-2.0
/// What a table holds, as values. Times are ns of one execution of one kernel (or of one whole batch of a model).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "oplat/base/hash.hpp"
#include "oplat/ir/key.hpp"

namespace oplat::table {

/// The hardware. Identity is `name`: what a person calls it.
struct Device {
  std::string name;
  std::string cpu;                         ///< model string
  std::string architecture;                ///< "x86_64", "aarch64"
  std::int64_t cores = 0;
  std::int64_t memory_bytes = 0;
  std::int64_t l1d_bytes = 0;              ///< per core; 0: unknown
  std::int64_t l2_bytes = 0;               ///< per core; 0: unknown
  std::int64_t llc_bytes = 0;              ///< last-level cache; 0: unknown
  std::string isa;                         ///< "avx512f avx512vnni ...", sorted
  friend bool operator==(const Device&, const Device&) = default;
};

/// What decides which code runs. Everything here is part of a look-up.
struct Setting {
  std::string runtime;
  std::string version;
  std::string build;                            ///< hash or build text of the runtime's binary
  std::string precision = "model";              ///< "model": the precision that the model states
  std::int64_t threads = 1;
  std::map<std::string, std::string> options;   ///< affinity, spinning, optimisation level, ...
  friend bool operator==(const Setting&, const Setting&) = default;
};
/// "onnxruntime 1.31.1, 1 thread, precision model, level=99 spinning=0": for messages.
std::string describe(const Setting& setting);

/// How the machine was. Never part of a look-up.
struct Environment {
  std::string kernel;         ///< uname release
  std::string hostname_hash;  ///< of the host name: two campaigns of one host can be told, the name cannot
  std::string started_at;     ///< UTC, ISO 8601
  double load_average = 0;    ///< one minute, before the campaign
  std::map<std::string, std::string> facts;  ///< clock source, governor, huge pages, harness version and commit, ...
};

/// One run of `oplat profile` or `oplat measure --table`.
struct Campaign {
  std::string argv;
  std::string commit;
  std::uint64_t seed = 0;
  std::optional<double> reference_compute_ns;  ///< baseline of the compute reference on this device and setting
  std::optional<double> reference_memory_ns;   ///< baseline of the memory reference
  std::optional<double> empty_call_ns;         ///< a call of the runtime that computes nothing: c0 of an unfitted table
};

/// Statistics over block medians of one row.
struct Timing {
  double median_ns = 0;
  double sd_log = 0;               ///< standard deviation of the logarithm of the block values
  double ci_low_ns = 0, ci_high_ns = 0;  ///< of the median, at `ci_level`
  double ci_level = 0.95;
  double min_ns = 0, p10_ns = 0, p90_ns = 0;  ///< over block values
  std::int64_t blocks = 0;
  std::int64_t processes = 0;
  friend bool operator==(const Timing&, const Timing&) = default;
};
struct Unsupported { std::string reason; friend bool operator==(const Unsupported&, const Unsupported&) = default; };
struct Skipped { std::string reason; friend bool operator==(const Skipped&, const Skipped&) = default; };
struct Failed { std::string reason; friend bool operator==(const Failed&, const Failed&) = default; };
using Outcome = std::variant<Timing, Unsupported, Skipped, Failed>;
/// "timing", "unsupported", "skipped", "failed".
std::string_view outcome_name(const Outcome& outcome);

/// One time-separated block of measurements of one row, or of one whole model.
struct Block {
  std::int64_t pass = 0;            ///< number of the pass in the campaign
  std::int64_t process = 0;         ///< number of the worker process in the campaign
  double value_ns = 0;              ///< slope (kernels) or median call (models)
  std::optional<double> reference_compute_ns;
  std::optional<double> reference_memory_ns;
  std::int64_t rounds = 0;          ///< calls behind the value
  std::int64_t switches = 0;        ///< involuntary context switches during the block
  std::int64_t steal_ticks = 0;
};

/// How a row was measured.
struct Method {
  std::int64_t copies = 1;       ///< k of the slope
  std::string topology;          ///< "chain", "fan", "single", "" unknown
  std::vector<std::string> flags;  ///< "ci_not_reached", "disturbed", ... sorted
  friend bool operator==(const Method&, const Method&) = default;
};

/// One kernel measured (or refused) on one device under one setting at one cache state.
struct Row {
  std::string key;                        ///< printed Key
  std::optional<double> reuse_bytes;      ///< nothing: the source does not say, answers any state
  std::string origin = "own";             ///< "own", or the format it was imported from
  Outcome outcome;
  Method method;
};

/// A whole model measured end to end.
struct ModelRow {
  std::string name;                       ///< file name, for people
  std::string plan_identity;              ///< Plan::identity of what was run
  std::int64_t batch = 1;
  Outcome outcome;
  Method method;
};

/// One kernel of a plan.
struct PlanKernel {
  std::string name;        ///< of the node; kernels with equal keys keep their own entries
  std::string key;
  std::int64_t count = 1;  ///< executions per run of the model
  friend bool operator==(const PlanKernel&, const PlanKernel&) = default;
};
/// The kernels that a runtime executes for a model under a setting.
struct Plan {
  std::string model;                   ///< file name, for people
  std::string identity;                ///< hash of model and external bytes, shapes, setting, ISA and plan format
  std::string source = "runtime";      ///< "runtime", "rules:NAME"; "cached" only in predictions
  std::int64_t batch = 1;
  double weight_bytes = 0;             ///< distinct constant bytes of the executed kernels
  double activation_bytes = 0;         ///< bytes of distinct results of one run
  std::vector<PlanKernel> kernels;     ///< in execution order
};

}  // namespace oplat::table
