// SPDX-License-Identifier: Apache-2.0
/// Latencies of the blocks of a search space: what a latency loss sums up, and what a search scores
/// networks by.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/interval.hpp"
#include "base/result.hpp"
#include "predict/prediction.hpp"
#include "search/expansion.hpp"
#include "search/search_space.hpp"

namespace oplat::search {

struct Options {
  double level = 0.9;  ///< of the intervals
  predict::MissingPolicy missing = predict::MissingPolicy::Error;
  estimate::Profile profile = estimate::Profile::Accurate;
  /// Bytes touched between two uses of a weight. Nothing: those of a network of the space
  /// (ResolutionLatencies::reuse_bytes).
  std::optional<double> reuse_bytes = {};
};

/// One block at one place. What its kernels take, and what a network takes beyond the sum of its
/// kernels for each of them.
struct CellLatency {
  std::optional<double> ns;  ///< std::nullopt if a kernel has no estimate
  std::optional<base::Interval> interval;
  /// of the time that is known; empty where there is none
  std::map<estimate::Source, double> shares;
};

/// Parallel to an Expansion.
struct ResolutionLatencies {
  Expansion expansion;
  std::vector<predict::KernelPrediction> kernels;  ///< parallel to Expansion::keys
  std::vector<std::optional<double>> flops;        ///< likewise, of one execution
  std::vector<double> parameters;                  ///< constant elements, likewise
  std::vector<std::vector<CellLatency>> cells;  ///< parallel to ExpandedLayer::cells of each layer
  double overhead_ns = 0;                       ///< of a whole network, whatever its blocks
  double reuse_bytes = 0;  ///< unless given: weights and results of a network, the mean of its
                           ///< choices in every layer
};

struct SpaceLatencies {
  SearchSpace space;
  std::vector<ResolutionLatencies> resolutions;
  double level = 0.9;
  predict::Composition composition;  ///< how kernels add up; of no network
  table::Device device;
  table::Setting setting;
  std::vector<predict::Mismatch> mismatch;
  std::vector<std::string> missing;  ///< distinct keys without an estimate
  std::vector<std::string> warnings;
};

/// Kernels without an estimate are not errors here: see CellLatency::ns and
/// SpaceLatencies::missing.
Result<SpaceLatencies> time_space(const table::Table& table, const predict::Selection& selection,
                                  const SearchSpace& space,
                                  std::span<const std::int64_t> resolutions,
                                  const Options& options);

/// Kernels of a network, or of a part of it, summed up.
struct KernelSum {
  CellLatency latency;
  std::optional<std::size_t> missing;  ///< one that has no estimate, in Expansion::keys
};
/// What these kernels take together: `kernels` are indices into Expansion::keys, `fixed_ns` is
/// added to their sum. No time if one has no estimate, unless `zero_if_missing`. Code::Input if the
/// sum is not finite. Thread-safe.
Result<KernelSum> sum_kernels(const SpaceLatencies& space, const ResolutionLatencies& timed,
                              std::span<const std::size_t> kernels, double fixed_ns,
                              bool zero_if_missing);

/// Whether a layer is a part of every network and always the same kernels: it has no choice at all.
bool is_fixed(const Layer& layer, const ExpandedLayer& expanded);

}  // namespace oplat::search
