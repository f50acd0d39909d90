// SPDX-License-Identifier: Apache-2.0
/// From kernels with times to rates, bounds, shares of the variance and sums of moved data.
#include "predict/diagnosis.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "estimate/exact.hpp"
#include "ir/moved_work.hpp"
#include "predict/compose.hpp"

namespace oplat::predict {

using estimate::Source;

namespace {

/// A bound that explains half of the time is what holds the kernel up, whatever the rest is.
constexpr double kMaxOfTheTime = 0.5;
/// Below this, to call a kernel held up by its operations or bytes would mislead.
constexpr double kMinShare = 0.1;
/// The measuring rule is content with +-5 % at 95 % for short kernels: this standard deviation.
constexpr double kWellMeasuredSd = 0.05 / 1.96;

/// All executions of one key: they share rows, and so time and error.
struct DistinctKernel {
  std::size_t first = 0;
  std::int64_t count = 0;
  std::size_t places = 0;
  double part = 0;         ///< share of the total times own sd_log; 0 where either is unknown
  double common_part = 0;  ///< the same of what all kernels miss together
  double values_part = 0;  ///< and of what an operator's values decide
  double uncertainty_share = 0;
};

struct Grouped {
  std::vector<DistinctKernel> distinct;
  std::vector<std::size_t> of;  ///< parallel to Prediction::kernels
};

Grouped group(const Prediction& prediction) {
  Grouped grouped;
  std::unordered_map<std::string_view, std::size_t> place_of;
  for (std::size_t i = 0; i < prediction.kernels.size(); ++i) {
    const auto [at, added] = place_of.emplace(prediction.kernels[i].key, grouped.distinct.size());
    if (added) grouped.distinct.push_back({i, 0, 0, 0, 0});
    DistinctKernel& one = grouped.distinct[at->second];
    one.count += prediction.kernels[i].count;
    one.places += 1;
    grouped.of.push_back(at->second);
  }
  return grouped;
}

std::optional<double> positive(const std::optional<double>& value) {
  return value && std::isfinite(*value) && *value > 0 ? value : std::nullopt;
}

/// How long the bytes would take: weights from as far as the model's footprint drives them, the
/// rest from no further than the kernel's own bytes do.
std::optional<double> memory_ns(const ir::Work& work, const Ceilings& ceilings,
                                double reuse_bytes) {
  const auto near = ceilings.bytes_per_ns(work.bytes());
  const auto far = ceilings.bytes_per_ns(std::max(reuse_bytes, work.bytes()));
  if (!near || !far) return std::nullopt;
  return (work.bytes_in + work.bytes_out) / *near + work.bytes_weights / *far;
}

void set_bound(KernelDiagnosis& diagnosis, Bound bound, double bound_ns, double ns) {
  diagnosis.bound_share = bound_ns / ns;
  if (*diagnosis.bound_share >= kMinShare) diagnosis.bound = bound;
}

void find_bound(KernelDiagnosis& diagnosis, const ir::Key& key, const ir::Work& work,
                const Ceilings& ceilings, double reuse_bytes, double ns) {
  if (ceilings.node_ns && *ceilings.node_ns >= kMaxOfTheTime * ns)
    return set_bound(diagnosis, Bound::Overhead, *ceilings.node_ns, ns);
  const auto bytes_ns = work.complete ? memory_ns(work, ceilings, reuse_bytes) : std::nullopt;
  if (!work.flops) {
    if (bytes_ns && *bytes_ns >= kMaxOfTheTime * ns)
      set_bound(diagnosis, Bound::Memory, *bytes_ns, ns);
    return;
  }
  std::optional<double> flops_ns;
  const auto dtype = work_dtype(key);
  if (*work.flops == 0) {
    flops_ns = 0;
  } else if (const auto at =
                 dtype ? ceilings.flops_per_ns.find(*dtype) : ceilings.flops_per_ns.end();
             at != ceilings.flops_per_ns.end()) {
    flops_ns = *work.flops / at->second;
  }
  if (!flops_ns || !bytes_ns) return;
  if (*flops_ns >= *bytes_ns)
    set_bound(diagnosis, Bound::Compute, *flops_ns, ns);
  else
    set_bound(diagnosis, Bound::Memory, *bytes_ns, ns);
}

std::optional<bool> inserted_by_runtime(ir::Movement movement, const KernelPrediction& kernel) {
  return ir::only_of_runtimes(movement) ? true : kernel.inserted_by_runtime;
}

KernelDiagnosis of_kernel(const KernelPrediction& kernel, const ir::Key& key,
                          const Ceilings& ceilings, double reuse_bytes,
                          const ir::Catalogue& catalogue) {
  KernelDiagnosis diagnosis;
  diagnosis.movement = ir::movement_of(key.domain, key.op);
  ir::Work work = ir::moved_work(key, catalogue);
  if (work.flops && !(std::isfinite(*work.flops) && *work.flops >= 0)) work.flops.reset();
  work.complete = work.complete && std::isfinite(work.bytes());
  diagnosis.flops = work.flops;
  if (work.complete) diagnosis.bytes = work.bytes();
  const auto ns = positive(kernel.latency_ns);
  if (!ns) return diagnosis;
  // A view moves nothing, whatever its key counts: if it takes time, then that of a node.
  if (kernel.source == Source::Free) {
    set_bound(diagnosis, Bound::Overhead, *ns, *ns);
    return diagnosis;
  }
  if (diagnosis.flops) diagnosis.gflops_per_s = *diagnosis.flops / *ns;
  if (diagnosis.bytes) diagnosis.gbytes_per_s = *diagnosis.bytes / *ns;
  find_bound(diagnosis, key, work, ceilings, reuse_bytes, *ns);
  return diagnosis;
}

Remedy remedy_for(const KernelPrediction& kernel) {
  if (kernel.group == "node-overhead") return Remedy::Nothing;  // what no kernel is built for
  // Its key lacks what decides the work: no number of blocks helps.
  if (kernel.in_model_ns || kernel.has_caveat) return Remedy::Nothing;
  if (kernel.source != Source::Measured && kernel.source != Source::Free) return Remedy::Measure;
  // Nor does one where the curve between the states of its rows is in doubt, or what its values do.
  return term_of_kernel(kernel, 1).own_sd_log() > kWellMeasuredSd ? Remedy::MoreBlocks
                                                                  : Remedy::Nothing;
}

/// Takes the formula of sum_variance() apart. Fills DistinctKernel::uncertainty_share.
std::optional<Uncertainty> take_apart(const Prediction& prediction,
                                      std::vector<DistinctKernel>& distinct) {
  if (!prediction.sd_log || !positive(prediction.latency_ns)) return std::nullopt;
  std::map<std::string_view, double> linear;
  std::map<std::string_view, double> values;
  double common = 0;
  for (DistinctKernel& one : distinct) {
    const KernelPrediction& kernel = prediction.kernels[one.first];
    if (!kernel.latency_ns || !kernel.sd_log) continue;
    const Term term = term_of_kernel(kernel, prediction.composition.scale_of(kernel.key) *
                                                 static_cast<double>(one.count) *
                                                 *kernel.latency_ns / *prediction.latency_ns);
    one.part = term.share * term.own_sd_log();
    one.common_part = term.share * term.common_sd_log;
    one.values_part = term.share * term.values_sd_log;
    linear[kernel.group] += one.part;
    values[estimate::operator_of(kernel.key)] += one.values_part;
    common += one.common_part;
  }
  Uncertainty sum;
  for (DistinctKernel& one : distinct) {
    const KernelPrediction& kernel = prediction.kernels[one.first];
    const std::string& group = kernel.group;
    if (one.part == 0 && one.common_part == 0 && one.values_part == 0) continue;
    const double rho = correlation(group, prediction.composition.correlations);
    one.uncertainty_share = rho * one.part * linear.at(group) + (1 - rho) * one.part * one.part +
                            one.common_part * common +
                            one.values_part * values.at(estimate::operator_of(kernel.key));
    sum.kernels += one.uncertainty_share;
  }
  sum.control = prediction.control_sd_log * prediction.control_sd_log;
  // How often bodies run is the composition's, too.
  sum.composition = prediction.composition_sd_log * prediction.composition_sd_log + sum.control;
  sum.moments = prediction.moment_sd_log * prediction.moment_sd_log;
  for (const Mismatch& mismatch : prediction.mismatch)
    sum.mismatch += mismatch.sd_log * mismatch.sd_log;

  const double variance = sum.kernels + sum.composition + sum.mismatch;
  if (!positive(variance)) return std::nullopt;
  sum.kernels /= variance;
  sum.composition /= variance;
  sum.moments /= variance;
  sum.control /= variance;
  sum.mismatch /= variance;
  for (DistinctKernel& one : distinct) {
    one.uncertainty_share /= variance;
    if (one.uncertainty_share > 0)
      sum.most.push_back({one.first, one.count, one.places, one.uncertainty_share,
                          remedy_for(prediction.kernels[one.first])});
  }
  std::stable_sort(sum.most.begin(), sum.most.end(),
                   [](const auto& a, const auto& b) { return a.share > b.share; });
  return sum;
}

/// Sums of one operator while they are made.
struct OperatorParts {
  OperatorSum sum;
  double flops = 0;
  double flops_ns = 0;  ///< of the kernels in `flops`
  double bytes = 0;
  double bytes_ns = 0;
  std::map<Bound, double> bound_ns;
};

void add_kernel(OperatorParts& parts, const DistinctKernel& distinct,
                const KernelPrediction& kernel, const KernelDiagnosis& diagnosed) {
  const auto calls = static_cast<double>(distinct.count);
  parts.sum.calls += distinct.count;
  parts.sum.kernels += 1;
  if (!kernel.latency_ns) parts.sum.missing += 1;
  const double ns = calls * kernel.latency_ns.value_or(0);
  parts.sum.time_ns += ns;
  if (diagnosed.gflops_per_s) {
    parts.flops += calls * *diagnosed.flops;
    parts.flops_ns += ns;
  }
  if (diagnosed.gbytes_per_s) {
    parts.bytes += calls * *diagnosed.bytes;
    parts.bytes_ns += ns;
  }
  if (diagnosed.bound) parts.bound_ns[*diagnosed.bound] += ns;
}

OperatorSum finished(OperatorParts&& parts, const std::optional<double>& total_ns) {
  OperatorSum& sum = parts.sum;
  if (total_ns) sum.time_share = sum.time_ns / *total_ns;
  if (parts.flops_ns > 0) sum.gflops_per_s = parts.flops / parts.flops_ns;
  if (parts.bytes_ns > 0) sum.gbytes_per_s = parts.bytes / parts.bytes_ns;
  for (const auto& [bound, ns] : parts.bound_ns)
    if (ns > kMaxOfTheTime * sum.time_ns) sum.bound = bound;
  return std::move(sum);
}

/// `of_key`: parallel to `distinct`.
std::vector<OperatorSum> sum_operators(const Prediction& prediction,
                                       const std::vector<DistinctKernel>& distinct,
                                       const std::vector<KernelDiagnosis>& of_key) {
  std::map<std::string_view, OperatorParts> by_type;
  for (std::size_t i = 0; i < distinct.size(); ++i)
    add_kernel(by_type[of_key[i].label.type], distinct[i], prediction.kernels[distinct[i].first],
               of_key[i]);
  const auto total_ns = positive(prediction.latency_ns);
  std::vector<OperatorSum> sums;
  for (auto& [type, parts] : by_type) {
    parts.sum.type = std::string(type);
    sums.push_back(finished(std::move(parts), total_ns));
  }
  std::stable_sort(sums.begin(), sums.end(), [](const auto& a, const auto& b) {
    return std::pair(a.time_ns, a.calls) > std::pair(b.time_ns, b.calls);
  });
  return sums;
}

}  // namespace

std::string_view name(Bound bound) {
  switch (bound) {
    case Bound::Compute:
      return "compute";
    case Bound::Memory:
      return "memory";
    case Bound::Overhead:
      return "overhead";
  }
  return "";
}

std::string_view name(Remedy remedy) {
  switch (remedy) {
    case Remedy::Measure:
      return "measure";
    case Remedy::MoreBlocks:
      return "more blocks";
    case Remedy::Nothing:
      return "nothing";
  }
  return "";
}

Diagnosis diagnose(const Prediction& prediction, const Ceilings& ceilings,
                   const ir::Catalogue& catalogue) {
  Diagnosis diagnosis;
  diagnosis.ceilings = ceilings;
  Grouped grouped = group(prediction);
  diagnosis.uncertainty = take_apart(prediction, grouped.distinct);

  std::vector<KernelDiagnosis> of_key;
  for (const DistinctKernel& one : grouped.distinct) {
    const KernelPrediction& kernel = prediction.kernels[one.first];
    const auto key = ir::parse(kernel.key);
    of_key.push_back(key ? of_kernel(kernel, *key, ceilings, prediction.reuse_bytes, catalogue)
                         : KernelDiagnosis());
    of_key.back().label =
        key ? ir::make_label(*key, catalogue) : ir::label_of(kernel.key, catalogue);
  }
  diagnosis.operators = sum_operators(prediction, grouped.distinct, of_key);
  std::map<std::pair<ir::Movement, std::optional<bool>>, MovementSum> moved;
  for (std::size_t i = 0; i < prediction.kernels.size(); ++i) {
    const KernelPrediction& kernel = prediction.kernels[i];
    const DistinctKernel& one = grouped.distinct[grouped.of[i]];
    KernelDiagnosis& diagnosed = diagnosis.kernels.emplace_back(of_key[grouped.of[i]]);
    if (diagnosed.movement) {
      diagnosed.inserted_by_runtime = inserted_by_runtime(*diagnosed.movement, kernel);
      MovementSum& sum = moved[{*diagnosed.movement, diagnosed.inserted_by_runtime}];
      sum.kernels += kernel.count;
      sum.time_ns += static_cast<double>(kernel.count) * kernel.latency_ns.value_or(0);
    }
    if (!diagnosis.uncertainty || !kernel.latency_ns || !kernel.sd_log) continue;
    const double executions =
        one.count > 0 ? static_cast<double>(kernel.count) / static_cast<double>(one.count) : 0;
    diagnosed.uncertainty_share = one.uncertainty_share * executions;
  }
  const auto known = positive(known_ns(prediction));
  for (auto& [what, sum] : moved) {
    sum.movement = what.first;
    sum.inserted_by_runtime = what.second;
    if (known) sum.time_share = sum.time_ns / *known;
    diagnosis.movement.push_back(sum);
  }
  return diagnosis;
}

}  // namespace oplat::predict
