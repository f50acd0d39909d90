// SPDX-License-Identifier: Apache-2.0
/// Averaging rows of one point.
#include "estimate/learned/sites.hpp"

#include <unordered_map>

#include "estimate/learned/lines.hpp"

namespace oplat::estimate {

Sites sites_of(std::span<const ir::Description> rows, std::span<const double> log_ns,
               const Space& space) {
  Sites sites;
  std::vector<double> counts;
  std::unordered_map<std::uint64_t, std::size_t> known;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto point = space.place(rows[i]);
    if (!point) continue;
    const auto [at, added] = known.emplace(hash_of(*point, space.axes()), sites.points.size());
    if (added) {
      sites.points.push_back(*point);
      sites.descriptions.push_back(rows[i]);
      sites.log_ns.push_back(0);
      counts.push_back(0);
    }
    sites.log_ns[at->second] += log_ns[i];
    counts[at->second] += 1;
  }
  for (std::size_t i = 0; i < counts.size(); ++i) sites.log_ns[i] /= counts[i];
  return sites;
}

}  // namespace oplat::estimate
