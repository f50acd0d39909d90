// SPDX-License-Identifier: Apache-2.0
/// Diagnosis: what a prediction tells beyond its number: rates, what holds each kernel up, what
/// makes the sum unsure, and how much of it only moves or converts data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/key.hpp"
#include "ir/label.hpp"
#include "ir/movement.hpp"
#include "predict/ceilings.hpp"
#include "predict/prediction.hpp"

namespace oplat::predict {

/// What holds a kernel up.
enum class Bound : std::uint8_t {
  Compute,   ///< at the ceilings its operations would take longer than its bytes
  Memory,    ///< ... its bytes longer than its operations
  Overhead,  ///< executing a node, whatever it does, is at least half of its time
};
/// "compute", "memory", "overhead".
std::string_view name(Bound bound);

/// Of one execution of one kernel of a plan.
struct KernelDiagnosis {
  ir::KernelLabel label;        ///< the kernel described for people
  std::optional<double> flops;  ///< nothing: no formula
  std::optional<double> bytes;  ///< read and written, by ir::moved_work(); nothing: sizes unknown
  std::optional<double> gflops_per_s;
  std::optional<double> gbytes_per_s;
  /// Nothing without a time or ceilings, where neither ceiling explains a tenth of the time (its
  /// code is what is slow), and where operations have no formula and bytes explain less than half.
  std::optional<Bound> bound;
  /// What the bound alone would take, as a share of the kernel's time; above 1 where the kernel is
  /// faster than the ceiling, from which the very best rows are left out. Also where that is less
  /// than a tenth.
  std::optional<double> bound_share;
  /// Of the prediction's variance; nothing without a time. Kernels of one key share theirs by their
  /// executions.
  std::optional<double> uncertainty_share;
  std::optional<ir::Movement> movement;
  /// Of one that moves data: whether the runtime put it in besides the model's own; std::nullopt if
  /// the plan does not tell.
  std::optional<bool> inserted_by_runtime;
};

/// What would make a kernel's part less unsure.
enum class Remedy : std::uint8_t {
  Measure,     ///< it was not measured
  MoreBlocks,  ///< measured, but less precisely than a row that meets the stop rule
  Nothing,     ///< measured as precisely as that
};

/// "measure", "more blocks", "nothing".
std::string_view name(Remedy remedy);

/// One distinct kernel, all its executions together.
struct UncertainKernel {
  std::size_t first = 0;   ///< index of the first kernel with this key in Prediction::kernels
  std::int64_t count = 0;  ///< executions per run
  std::size_t places = 0;  ///< nodes that execute it
  double share = 0;        ///< of the prediction's variance
  Remedy remedy = Remedy::Nothing;
};

/// Where the variance of a prediction's logarithm comes from. The three shares sum to 1, and those
/// of the kernels to the first of them: a kernel has its independent part and its part of what it
/// shares with its group, [rho w sd sum(w sd) + (1 - rho) (w sd)^2] / s^2 in the terms of
/// spread.hpp.
struct Uncertainty {
  double kernels = 0;
  double composition = 0;
  double moments = 0;  ///< in composition: that the machine is another one at each moment
  double control = 0;  ///< in composition: that data decide steps and branches
  double mismatch = 0;
  std::vector<UncertainKernel> most;  ///< every distinct kernel with a share, most first
};

struct MovementSum {
  ir::Movement movement = ir::Movement::Reorder;
  std::optional<bool> inserted_by_runtime;  ///< see KernelDiagnosis
  std::int64_t kernels = 0;                 ///< executions per run
  double time_ns = 0;                       ///< of one run
  std::optional<double> time_share;         ///< of what has a time; std::nullopt if nothing has
};

/// All kernels of one type (ir::KernelLabel::type), those without a time included.
struct OperatorSum {
  std::string type;
  std::int64_t calls = 0;            ///< executions per run
  std::int64_t kernels = 0;          ///< distinct ones
  std::int64_t missing = 0;          ///< distinct ones without a time
  double time_ns = 0;                ///< of one run
  std::optional<double> time_share;  ///< of the latency; std::nullopt without one
  /// Work over time, of the kernels of which both are known.
  std::optional<double> gflops_per_s;
  std::optional<double> gbytes_per_s;
  /// What holds up most of their time; std::nullopt if no bound is known for that much.
  std::optional<Bound> bound;
};

struct Diagnosis {
  std::vector<KernelDiagnosis> kernels;    ///< parallel to Prediction::kernels
  std::vector<OperatorSum> operators;      ///< those that take the most time first
  std::optional<Uncertainty> uncertainty;  ///< std::nullopt if the prediction has no spread
  std::vector<MovementSum> movement;  ///< those that occur, in the order of the enumeration; what
                                      ///< the plan does not tell, the model's own, those put in
  Ceilings ceilings;
};
Diagnosis diagnose(const Prediction& prediction, const Ceilings& ceilings,
                   const ir::Catalogue& catalogue);

}  // namespace oplat::predict
