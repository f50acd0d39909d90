// SPDX-License-Identifier: Apache-2.0
/// The order of ONNX Runtime's GraphViewer (core/graph/graph_viewer.cc).
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace oplat::plan::ort {

/// Nodes 0 to `count` - 1, each behind what it reads: a walk begins at each of the `ends`, the last
/// first, and goes on to the latest of the nodes that were made before. `add_sources(node, list)`
/// adds the nodes that `node` reads.
template <typename Id, typename AddSources>
std::vector<Id> walk_order(std::size_t count, const std::vector<Id>& ends, AddSources add_sources) {
  struct Step {
    Id node;
    bool leave;
  };
  std::vector<Step> stack;
  for (const Id end : ends) stack.push_back({end, false});
  std::vector<bool> seen(count, false);
  std::vector<Id> order;
  order.reserve(count);
  std::vector<Id> sources;
  while (!stack.empty()) {
    const Step step = stack.back();
    stack.pop_back();
    if (step.leave) {
      order.push_back(step.node);
      continue;
    }
    if (seen[static_cast<std::size_t>(step.node)]) continue;
    seen[static_cast<std::size_t>(step.node)] = true;
    stack.push_back({step.node, true});
    sources.clear();
    add_sources(step.node, sources);
    std::sort(sources.begin(), sources.end());
    for (const Id one : sources)
      if (!seen[static_cast<std::size_t>(one)]) stack.push_back({one, false});
  }
  return order;
}

}  // namespace oplat::plan::ort
