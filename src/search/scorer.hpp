// SPDX-License-Identifier: Apache-2.0
/// Scorer: the latency of whole networks of a search space, from the kernels of its blocks.
///
/// A search asks for thousands of networks that share their blocks. The blocks are estimated once
/// (time_space()); a network is then the kernels of one cell a layer, added up as
/// predict::predict() adds up a model's kernels: with the fixed overhead of a network, and with
/// an interval of all its kernels. Intervals of single cells cannot simply be added, since errors
/// of kernels within a group go together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/result.hpp"
#include "search/latencies.hpp"

namespace oplat::search {

/// What a network has at one layer.
struct LayerChoice {
  std::size_t block = 0;     ///< in Layer::choices
  std::size_t channels = 0;  ///< in ExpandedLayer::out_channels; not looked at if the layer puts
                             ///< out as many channels as come in
};

/// Whether a layer puts out as many channels as come in, so that there is nothing to choose.
bool keeps_channels(const Layer& layer);

/// Thread-safe once it is made.
class Scorer {
 public:
  /// `resolution`: index into `space.resolutions`.
  Scorer(SpaceLatencies space, std::size_t resolution, bool zero_if_missing);
  [[nodiscard]] const SpaceLatencies& space() const { return space_; }
  [[nodiscard]] const ResolutionLatencies& timed() const { return space_.resolutions[resolution_]; }
  /// The network with one choice for each layer. Code::Usage names the layer if the number of
  /// choices differs, an index is out of range, or the block does not exist between these channels.
  /// Code::Missing names a kernel without an estimate, unless those count as zero.
  [[nodiscard]] Result<CellLatency> score(std::span<const LayerChoice> network) const;

 private:
  SpaceLatencies space_;
  std::size_t resolution_;
  bool zero_if_missing_;
  std::vector<std::unordered_map<std::uint64_t, std::size_t>> cells_;  ///< of each layer
};

}  // namespace oplat::search
