// SPDX-License-Identifier: Apache-2.0
/// Which layers and choices a written space has.
#include "search/axes.hpp"

#include <algorithm>
#include <set>

namespace oplat::search {

Axes axes_of(const SpaceLatencies& latencies) {
  Axes axes;
  std::set<std::size_t> choices;
  if (latencies.resolutions.empty()) return axes;
  const std::vector<ExpandedLayer>& expanded = latencies.resolutions.front().expansion.layers;
  for (std::size_t i = 0; i < expanded.size(); ++i) {
    const Layer& layer = latencies.space.layers[i];
    if (is_fixed(layer, expanded[i])) {
      axes.fixed.push_back(i);
      continue;
    }
    axes.layers.push_back(i);
    choices.insert(layer.choices.begin(), layer.choices.end());
    axes.max_in = std::max(axes.max_in, expanded[i].in_channels.size());
    axes.max_out = std::max(axes.max_out, expanded[i].out_channels.size());
  }
  axes.choices.assign(choices.begin(), choices.end());
  return axes;
}

}  // namespace oplat::search
