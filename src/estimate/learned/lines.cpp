// SPDX-License-Identifier: Apache-2.0
/// Lines in one sorted array, found by hash.
#include "estimate/learned/lines.hpp"

#include <algorithm>
#include <bit>

namespace oplat::estimate {
namespace {

/// splitmix64's finisher: every bit of the result depends on every bit of the argument.
std::uint64_t mix(std::uint64_t value) {
  value ^= value >> 30;
  value *= 0xbf58476d1ce4e5b9ULL;
  value ^= value >> 27;
  value *= 0x94d049bb133111ebULL;
  return value ^ value >> 31;
}

std::uint64_t part(std::size_t axis, double at) {
  return mix(std::bit_cast<std::uint64_t>(at + 0.0) + 0x9e3779b97f4a7c15ULL * (axis + 1));
}

/// A line along `axis` through a point of this hash.
std::uint64_t line_of(std::uint64_t point_hash, std::size_t axis, double at) {
  return mix(point_hash - part(axis, at)) + axis + 1;
}

}  // namespace

std::uint64_t hash_of(const Point& point, std::size_t axes) {
  std::uint64_t sum = mix(point.slice + 0x51ceULL);
  for (std::size_t axis = 0; axis < axes; ++axis) sum += part(axis, point.at[axis]);
  return sum;
}

Lines::Lines(std::vector<Point> sites, std::size_t axes, std::size_t slices)
    : sites_(std::move(sites)), axes_(axes), levels_(slices * axes), max_levels_(axes, 0) {
  struct OnLine {
    std::uint64_t line;
    Neighbour entry;
  };
  std::vector<OnLine> all;
  all.reserve(sites_.size() * axes);
  for (std::size_t i = 0; i < sites_.size(); ++i) {
    const std::uint64_t hash = hash_of(sites_[i], axes_);
    for (std::size_t axis = 0; axis < axes_; ++axis) {
      const double at = sites_[i].at[axis];
      all.push_back({line_of(hash, axis, at), {static_cast<Site>(i), at}});
      levels_[sites_[i].slice * axes_ + axis].push_back(at);
    }
  }
  std::sort(all.begin(), all.end(), [](const OnLine& a, const OnLine& b) {
    return a.line != b.line ? a.line < b.line : a.entry.at < b.entry.at;
  });
  std::vector<Bucket> lines;
  entries_.reserve(all.size());
  for (const OnLine& each : all) {
    if (lines.empty() || lines.back().line != each.line) {
      lines.push_back({each.line, static_cast<std::uint32_t>(entries_.size()), 0});
    }
    ++lines.back().count;
    entries_.push_back(each.entry);
  }
  buckets_.resize(std::bit_ceil(2 * lines.size() + 2));
  for (const Bucket& line : lines) {
    std::size_t slot = line.line & (buckets_.size() - 1);
    while (buckets_[slot].count != 0) slot = (slot + 1) & (buckets_.size() - 1);
    buckets_[slot] = line;
  }
  for (std::size_t i = 0; i < levels_.size(); ++i) {
    std::sort(levels_[i].begin(), levels_[i].end());
    levels_[i].erase(std::unique(levels_[i].begin(), levels_[i].end()), levels_[i].end());
    max_levels_[i % axes_] = std::max(max_levels_[i % axes_], levels_[i].size());
  }
}

const Lines::Bucket* Lines::find(std::uint64_t line) const {
  std::size_t slot = line & (buckets_.size() - 1);
  while (buckets_[slot].count != 0) {
    if (buckets_[slot].line == line) return &buckets_[slot];
    slot = (slot + 1) & (buckets_.size() - 1);
  }
  return nullptr;
}

Neighbours Lines::along(const Point& point, std::size_t axis) const {
  const Bucket* line = find(line_of(hash_of(point, axes_), axis, point.at[axis]));
  return line == nullptr ? Neighbours{} : along(*line, point.at[axis]);
}

Surroundings Lines::around(const Point& point) const {
  const std::uint64_t hash = hash_of(point, axes_);
  std::array<std::uint64_t, kMaxAxes> lines;
  for (std::size_t axis = 0; axis < axes_; ++axis) {
    lines[axis] = line_of(hash, axis, point.at[axis]);
    __builtin_prefetch(&buckets_[lines[axis] & (buckets_.size() - 1)]);
  }
  std::array<const Bucket*, kMaxAxes> found;
  for (std::size_t axis = 0; axis < axes_; ++axis) {
    found[axis] = find(lines[axis]);
    if (found[axis] != nullptr) __builtin_prefetch(&entries_[found[axis]->begin]);
  }
  Surroundings all;
  for (std::size_t axis = 0; axis < axes_; ++axis) {
    if (found[axis] != nullptr) all[axis] = along(*found[axis], point.at[axis]);
  }
  return all;
}

Neighbours Lines::along(const Bucket& line, double at) const {
  Neighbours found;
  const auto begin = entries_.begin() + line.begin;
  const auto end = begin + line.count;
  const auto low = std::lower_bound(
      begin, end, at, [](const Neighbour& entry, double value) { return entry.at < value; });
  auto high = low;
  while (high != end && high->at == at) ++high;
  if (low != begin) found.low = *(low - 1);
  if (low - begin > 1) found.low2 = *(low - 2);
  if (high != end) found.high = *high;
  if (end - high > 1) found.high2 = *(high + 1);
  return found;
}

std::span<const double> Lines::levels(std::uint32_t slice, std::size_t axis) const {
  return levels_[slice * axes_ + axis];
}

}  // namespace oplat::estimate
