// SPDX-License-Identifier: Apache-2.0
/// Axes that stay together, and which of them moved.
#include "ir/operators/permuted.hpp"

#include <algorithm>
#include <cstddef>

namespace oplat::ir::ops {
namespace {

/// Neighbours in operand and result, as one axis.
struct Run {
  std::size_t first;  ///< axis of the operand
  double length;
  std::size_t axes = 1;
};

bool in_order(const std::vector<Run>& runs) {
  return std::is_sorted(runs.begin(), runs.end(),
                        [](const Run& a, const Run& b) { return a.first < b.first; });
}

bool is_permutation(std::size_t rank, const std::vector<std::int64_t>& perm) {
  if (perm.size() != rank) return false;
  std::vector<bool> seen(rank, false);
  for (const std::int64_t axis : perm) {
    if (axis < 0 || axis >= static_cast<std::int64_t>(rank)) return false;
    if (seen[static_cast<std::size_t>(axis)]) return false;
    seen[static_cast<std::size_t>(axis)] = true;
  }
  return true;
}

}  // namespace

std::optional<Permuted> permuted(const DimSizes& sizes, const std::vector<std::int64_t>& perm) {
  if (!is_permutation(sizes.size(), perm)) return std::nullopt;
  Permuted out;
  std::vector<Run> runs;     // as the result has them
  std::vector<Run> lengths;  // of those of more than one element, each axis
  std::size_t last = 0;
  for (const std::int64_t axis : perm) {
    const auto place = static_cast<std::size_t>(axis);
    if (!runs.empty() && place == last + 1) {
      runs.back().length *= sizes[place];
      ++runs.back().axes;
    } else {
      runs.push_back({place, sizes[place]});
    }
    if (sizes[place] > 1) lengths.push_back({place, sizes[place]});
    last = place;
  }
  if (!lengths.empty()) {
    out.stride = product_of(sizes, lengths.back().first + 1, sizes.size());
    out.rows = lengths.back().length;
  }
  if (in_order(lengths)) {
    out.behind = product_of(sizes, 0, sizes.size());
    return out;
  }

  std::vector<Run> operand = runs;
  std::sort(operand.begin(), operand.end(),
            [](const Run& a, const Run& b) { return a.first < b.first; });
  const auto same = [](const Run& a, const Run& b) { return a.first == b.first; };
  const auto differs = std::mismatch(runs.begin(), runs.end(), operand.begin(), same);
  const auto begin = static_cast<std::size_t>(differs.first - runs.begin());
  std::size_t end = runs.size();
  while (end > begin && same(runs[end - 1], operand[end - 1])) --end;
  for (std::size_t i = end; i < runs.size(); ++i) out.behind *= runs[i].length;

  // What one axis passes over stays together, so that it changes places with one run.
  if (end - begin == 2) {
    out.way = Permuted::Way::AxisMoved;
    for (std::size_t i = 0; i < begin; ++i) out.before *= runs[i].length;
    out.first = operand[begin].length;
    out.second = operand[begin + 1].length;
    out.outwards = operand[begin + 1].axes == 1;
    return out;
  }
  out.way = Permuted::Way::EachBlock;
  out.blocks = product_of(sizes, 0, sizes.size()) / out.behind;
  out.axes = static_cast<double>(std::count_if(runs.begin(),
                                               runs.begin() + static_cast<std::ptrdiff_t>(end),
                                               [](const Run& run) { return run.length > 1; }));
  return out;
}

}  // namespace oplat::ir::ops
