// SPDX-License-Identifier: Apache-2.0
/// What a plan is made for (device, setting) and what it is: plain values, shared by every layer
/// above.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace oplat::plan {

/// The hardware. Identity is `name`: what a person calls it.
struct Device {
  std::string name;
  std::string cpu;           ///< model string
  std::string architecture;  ///< "x86_64", "aarch64"
  std::int64_t cores = 0;
  std::int64_t memory_bytes = 0;
  std::int64_t l1d_bytes = 0;  ///< per core; 0: unknown
  std::int64_t l2_bytes = 0;   ///< per core; 0: unknown
  std::int64_t llc_bytes = 0;  ///< last-level cache; 0: unknown
  std::string isa;             ///< "avx512f avx512vnni ...", sorted
  friend bool operator==(const Device&, const Device&) = default;
};

/// What decides which code runs. Everything here is part of a look-up.
struct Setting {
  std::string runtime;
  std::string version;
  std::string build;                ///< hash or build text of the runtime's binary
  std::string precision = "model";  ///< "model": the precision that the model states
  std::int64_t threads = 1;
  std::map<std::string, std::string> options;  ///< affinity, spinning, optimisation level, ...
  friend bool operator==(const Setting&, const Setting&) = default;
};
/// A kernel that computes next to nothing: what it takes is the dispatch of one node. Its row
/// answers for view operators, and a call of it, less the kernel, is the empty call.
inline constexpr std::string_view kDispatchKey = "Relu/14{}(f32[1,16])->(f32[1,16])";

/// One kernel of a plan.
struct PlanKernel {
  std::string name;  ///< of the node; kernels with equal keys keep their own entries
  std::string key;
  std::int64_t count = 1;  ///< executions per run of the model
  /// Of a kernel that moves or converts data (ir::Movement): whether the runtime put it in;
  /// std::nullopt if that is not known.
  std::optional<bool> inserted_by_runtime = std::nullopt;
  /// Of what the model is given, bytes that this kernel is the first to read in one run of the
  /// model, over all its executions; std::nullopt if the plan's source does not say.
  std::optional<double> input_bytes = std::nullopt;
  friend bool operator==(const PlanKernel&, const PlanKernel&) = default;
};
/// The kernels that a runtime executes for a model under a setting.
struct Plan {
  std::string model;     ///< file name, for people
  std::string identity;  ///< hash of model and external bytes, shapes, setting, ISA and plan format
  std::string source = "runtime";  ///< "runtime", "rules:NAME"; "cached" only in predictions
  std::int64_t batch = 1;
  double weight_bytes = 0;          ///< of distinct constants, as far as kernels read them
  double activation_bytes = 0;      ///< bytes of distinct results of one run
  std::vector<PlanKernel> kernels;  ///< in execution order
};

/// Whether all kernels of a plan say their input_bytes.
inline bool says_inputs(const Plan& plan) {
  return std::all_of(plan.kernels.begin(), plan.kernels.end(),
                     [](const PlanKernel& kernel) { return kernel.input_bytes.has_value(); });
}
/// Whether plans of a runtime (Setting::runtime) do, unless an earlier oplat made them.
inline bool runtime_says_inputs(std::string_view runtime) {
  return runtime == "onnxruntime" || runtime == "qnnpack";
}

}  // namespace oplat::plan
