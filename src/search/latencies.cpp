// SPDX-License-Identifier: Apache-2.0
/// Kernels estimated once, blocks summed up from them.
#include "search/latencies.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "base/interval.hpp"
#include "ir/moved_work.hpp"
#include "ir/work.hpp"
#include "predict/compose.hpp"

namespace oplat::search {

using estimate::Source;
using predict::KernelPrediction;

namespace {

/// Parallel to Expansion::keys.
Result<std::vector<ir::Work>> works_of(const Expansion& expansion, const ir::Catalogue& catalogue) {
  std::vector<ir::Work> works;
  works.reserve(expansion.keys.size());
  for (const std::string& text : expansion.keys) {
    OPLAT_TRY(key, ir::parse(text));
    works.push_back(ir::moved_work(key, catalogue));
  }
  return works;
}

/// Elements of the kernel's weights and biases.
double parameters_of(const std::string& text) {
  const auto key = ir::parse(text);
  double sum = 0;
  if (!key) return sum;
  for (std::size_t i = 0; i < key->operands.size(); ++i) {
    const ir::TensorEntry* operand = key->operand(i);
    // Sizes and axes are constants, too: numbers of 64 bits, or single ones.
    if (operand == nullptr || !operand->constant || operand->dtype == ir::Dtype::I64) continue;
    if (operand->shape.dims.empty()) continue;
    sum += static_cast<double>(operand->shape.elements().value_or(0));
  }
  return sum;
}

/// Sum over a network that takes every choice of a layer equally often; `of_kernel` is of a place
/// among the expansion's keys.
template <typename OfKernel>
double mean_sum(const Expansion& expansion, const OfKernel& of_kernel) {
  double all = 0;
  for (const ExpandedLayer& layer : expansion.layers) {
    double sum = 0;
    for (const Cell& cell : layer.cells) {
      for (const std::size_t kernel : cell.kernels) sum += of_kernel(kernel);
    }
    all += sum / static_cast<double>(layer.cells.size());
  }
  return all;
}

/// Weights and results of the mean network.
double mean_footprint(const Expansion& expansion, const std::vector<ir::Work>& works) {
  return mean_sum(expansion, [&](std::size_t kernel) {
    return works[kernel].bytes_weights + works[kernel].bytes_out;
  });
}

/// Where a kernel was not measured itself, but another one that represents it was
/// (Family::stand_in), that one's row answers.
Status answer_by_stand_ins(const predict::Predictor& predictor, const Family& family,
                           double reuse_bytes, const estimate::ForeignBytes& foreign,
                           std::vector<KernelPrediction>& kernels) {
  std::vector<std::size_t> open;
  std::vector<std::string> words;
  std::vector<table::PlanKernel> questions;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const KernelPrediction& kernel = kernels[i];
    if (kernel.latency_ns && kernel.source == Source::Measured) continue;
    auto other = family.stand_in(kernel.key);
    if (!other) continue;
    open.push_back(i);
    words.push_back(std::move(other->words));
    questions.push_back({"", std::move(other->key), 1});
  }
  if (open.empty()) return {};
  OPLAT_TRY(others, predictor.estimate(questions, reuse_bytes, predict::MissingPolicy::Error, true,
                                       foreign));
  for (std::size_t i = 0; i < open.size(); ++i) {
    if (!others[i].latency_ns || others[i].source != Source::Measured) continue;
    others[i].key = kernels[open[i]].key;
    others[i].why += " " + words[i];
    kernels[open[i]] = std::move(others[i]);
  }
  return {};
}

Result<ResolutionLatencies> time_resolution(const predict::Predictor& predictor,
                                            const ir::Catalogue& catalogue,
                                            const SpaceLatencies& all, std::int64_t resolution,
                                            const Options& options) {
  ResolutionLatencies timed;
  OPLAT_TRY(expansion, expand(all.space, resolution));
  timed.expansion = std::move(expansion);
  timed.overhead_ns = all.composition.c0_ns;
  OPLAT_TRY(works, works_of(timed.expansion, catalogue));
  timed.reuse_bytes = options.reuse_bytes.value_or(mean_footprint(timed.expansion, works));
  std::vector<table::PlanKernel> questions;
  for (const std::string& key : timed.expansion.keys) questions.push_back({"", key, 1});
  // What others bring in while the mean network runs.
  const auto mean_ns = [&](double foreign_bytes) -> Result<double> {
    const estimate::ForeignBytes sure{foreign_bytes, 0};
    OPLAT_TRY(answers,
              predictor.estimate(questions, timed.reuse_bytes, options.missing, false, sure));
    OPLAT_CHECK(
        answer_by_stand_ins(predictor, *all.space.family, timed.reuse_bytes, sure, answers));
    return mean_sum(timed.expansion,
                    [&](std::size_t kernel) { return answers[kernel].latency_ns.value_or(0); });
  };
  OPLAT_TRY(foreign, predictor.foreign_bytes_while(mean_ns));
  OPLAT_TRY(kernels,
            predictor.estimate(questions, timed.reuse_bytes, options.missing, true, foreign));
  OPLAT_CHECK(
      answer_by_stand_ins(predictor, *all.space.family, timed.reuse_bytes, foreign, kernels));
  timed.kernels = std::move(kernels);
  for (const ir::Work& work : works) timed.flops.push_back(work.flops);
  for (const std::string& key : timed.expansion.keys)
    timed.parameters.push_back(parameters_of(key));
  const bool zero = options.missing == predict::MissingPolicy::Zero;
  for (std::size_t i = 0; i < timed.expansion.layers.size(); ++i) {
    std::vector<CellLatency>& cells = timed.cells.emplace_back();
    for (const Cell& cell : timed.expansion.layers[i].cells) {
      auto latency = sum_kernels(all, timed, cell.kernels, 0, zero);
      if (!latency)
        return fail_in(fmt::format("{}: layer {} at resolution {}", all.space.file,
                                   all.space.layers[i].name, resolution),
                       latency.error());
      cells.push_back(std::move(latency->latency));
    }
  }
  return timed;
}

}  // namespace

Result<KernelSum> sum_kernels(const SpaceLatencies& space, const ResolutionLatencies& timed,
                              std::span<const std::size_t> kernels, double fixed_ns,
                              bool zero_if_missing) {
  KernelSum sum;
  CellLatency& latency = sum.latency;
  std::unordered_map<std::size_t, double> parts;  // a kernel may stand in a block twice
  const predict::Composition& composition = space.composition;
  predict::KernelTimes times;
  double executed = 0;
  for (const std::size_t i : kernels) {
    const KernelPrediction& kernel = timed.kernels[i];
    if (kernel.source != Source::Free) ++executed;
    if (kernel.latency_ns) {
      parts[i] += *kernel.latency_ns;
      latency.shares[kernel.source] += *kernel.latency_ns;
    } else if (!sum.missing) {
      sum.missing = i;
    }
    times.add(kernel, composition);
  }
  for (auto& [source, share] : latency.shares) share = times.ns > 0 ? share / times.ns : 0;
  if (sum.missing && !zero_if_missing) return sum;

  // c1 is a residual of whole models and may be below zero, a block's time may not.
  const double all_ns = fixed_ns + times.scaled_ns + composition.c1_ns * executed +
                        composition.c2_ns_per_byte * times.evicted_bytes;
  if (!std::isfinite(all_ns)) return fail(Code::Input, "the sum of its kernel times is not finite");
  const double ns = std::max(0.0, all_ns);
  latency.ns = ns;
  if (!(times.ns > 0) || !(ns > 0)) {
    latency.interval = base::Interval{ns, ns};
    return sum;
  }
  // Shares of the whole time, overheads included, as predict takes them.
  const double scale = times.scaled_ns > 0 ? times.scaled_ns / times.ns : composition.scale;
  std::vector<predict::Term> terms;
  for (const auto& [i, part] : parts)
    terms.push_back(predict::term_of_kernel(timed.kernels[i], part * scale / ns));
  const predict::SumParts all{
      fixed_ns > 0 ? 1.0 : 0.0, executed,          times.evicted_bytes, times.ns, times.int8_ns,
      times.evicted_sd_bytes,   timed.reuse_bytes, times.touched_bytes};
  predict::SumVariance variance = composition.variance_of(terms, ns, all);
  for (const predict::Mismatch& one : space.mismatch) variance.add_unscored(one.sd_log);
  const predict::Calibration calibration{composition.calibration_models, composition.scores,
                                         variance.unscored_share()};
  OPLAT_TRY(bounds, predict::interval(ns, std::sqrt(variance.all()), space.level, calibration,
                                      times.floor_ns));
  latency.interval = bounds;
  return sum;
}

bool is_fixed(const Layer& layer, const ExpandedLayer& expanded) {
  return !layer.searched && expanded.cells.size() == 1;
}

Result<SpaceLatencies> time_space(const table::Table& table, const predict::Selection& selection,
                                  const SearchSpace& space,
                                  std::span<const std::int64_t> resolutions,
                                  const Options& options) {
  OPLAT_TRY(predictor, predict::Predictor::create(table, selection, options.profile));
  // A network without kernels shows how kernels add up under this selection.
  OPLAT_TRY(empty, predictor.predict({}, {options.level}));
  SpaceLatencies all;
  all.space = space;
  all.level = options.level;
  all.composition = empty.composition;
  all.device = selection.device;
  all.setting = selection.setting;
  all.mismatch = selection.mismatch;
  all.warnings = empty.warnings;
  std::unordered_set<std::string> missing;
  for (const std::int64_t resolution : resolutions) {
    OPLAT_TRY(timed, time_resolution(predictor, *selection.catalogue, all, resolution, options));
    for (const KernelPrediction& kernel : timed.kernels) {
      if (kernel.latency_ns || !missing.insert(kernel.key).second) continue;
      all.missing.push_back(kernel.key);
    }
    all.resolutions.push_back(std::move(timed));
  }
  if (!all.missing.empty() && options.missing == predict::MissingPolicy::Zero) {
    all.warnings.push_back(
        fmt::format("{} missing kernels count as zero: blocks with them are too fast, and their "
                    "intervals do not reflect that",
                    all.missing.size()));
  }
  return all;
}

}  // namespace oplat::search
