// SPDX-License-Identifier: Apache-2.0
#include "search/scorer.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"

namespace oplat::search {
namespace {

/// Blocks and choices of channels are few: see read_space().
std::uint64_t cell_name(std::size_t choice, std::size_t in, std::size_t out) {
  return (static_cast<std::uint64_t>(choice) << 32) | (static_cast<std::uint64_t>(in) << 16) | out;
}

std::size_t index_of(const std::vector<std::int64_t>& values, std::int64_t value) {
  return static_cast<std::size_t>(std::find(values.begin(), values.end(), value) - values.begin());
}

}  // namespace

bool keeps_channels(const Layer& layer) { return layer.as_input || layer.channels.empty(); }

Scorer::Scorer(SpaceLatencies space, std::size_t resolution, bool zero_if_missing)
    : space_(std::move(space)), resolution_(resolution), zero_if_missing_(zero_if_missing) {
  for (const ExpandedLayer& layer : timed().expansion.layers) {
    auto& cells = cells_.emplace_back();
    for (std::size_t i = 0; i < layer.cells.size(); ++i) {
      const Cell& cell = layer.cells[i];
      cells.emplace(cell_name(cell.choice, cell.in, cell.out), i);
    }
  }
}

Result<CellLatency> Scorer::score(std::span<const LayerChoice> network) const {
  const Expansion& expansion = timed().expansion;
  const std::string file = base::printable(space_.space.file);
  if (network.size() != expansion.layers.size()) {
    return fail(Code::Usage, "{}: the network has choices for {} layers, the space has {}", file,
                network.size(), expansion.layers.size());
  }
  std::vector<std::size_t> kernels;
  std::size_t in = 0;
  std::int64_t channels = 0;  // that the layer before put out
  for (std::size_t i = 0; i < network.size(); ++i) {
    const ExpandedLayer& layer = expansion.layers[i];
    const Layer& asked = space_.space.layers[i];
    const std::size_t block = network[i].block;
    std::size_t out = network[i].channels;
    if (i > 0) in = index_of(layer.in_channels, channels);
    if (keeps_channels(asked)) {
      out = layer.out_channels.size() == 1 || in >= layer.in_channels.size()
                ? 0
                : index_of(layer.out_channels, layer.in_channels[in]);
    }
    if (block >= asked.choices.size() || out >= layer.out_channels.size()) {
      return fail(Code::Usage,
                  "{}: layer {}: block {} and channels {} are chosen; it has {} blocks and {} "
                  "choices of channels, counted from 0",
                  file, base::printable(asked.name), block, out, asked.choices.size(),
                  layer.out_channels.size());
    }
    const auto cell = cells_[i].find(cell_name(block, in, out));
    if (cell == cells_[i].end()) {
      const std::int64_t from = in < layer.in_channels.size() ? layer.in_channels[in] : 0;
      return fail(Code::Usage, "{}: layer {}: block {} does not exist from {} to {} channels", file,
                  base::printable(asked.name),
                  base::printable(space_.space.blocks[asked.choices[block]].name), from,
                  layer.out_channels[out]);
    }
    const std::vector<std::size_t>& more = layer.cells[cell->second].kernels;
    kernels.insert(kernels.end(), more.begin(), more.end());
    channels = layer.out_channels[out];
  }
  OPLAT_TRY(sum, sum_kernels(space_, timed(), kernels, timed().overhead_ns, zero_if_missing_));
  if (sum.missing && !zero_if_missing_) {
    return fail(Code::Missing, "no estimate for {}; measure it, or score with the roofline",
                expansion.keys[*sum.missing]);
  }
  return std::move(sum.latency);
}

}  // namespace oplat::search
