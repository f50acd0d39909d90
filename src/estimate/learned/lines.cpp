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
    : sites_(std::move(sites)), axes_(axes), levels_(slices * axes), most_levels_(axes, 0) {
  entries_.reserve(sites_.size() * axes);
  for (std::size_t i = 0; i < sites_.size(); ++i) {
    const std::uint64_t hash = hash_of(sites_[i], axes_);
    for (std::size_t axis = 0; axis < axes_; ++axis) {
      const double at = sites_[i].at[axis];
      entries_.push_back({line_of(hash, axis, at), at, static_cast<Site>(i)});
      levels_[sites_[i].slice * axes_ + axis].push_back(at);
    }
  }
  std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
    return a.line != b.line ? a.line < b.line : a.at < b.at;
  });
  buckets_.resize(std::bit_ceil(2 * entries_.size() + 2));
  for (std::size_t begin = 0; begin < entries_.size();) {
    std::size_t end = begin;
    while (end < entries_.size() && entries_[end].line == entries_[begin].line) ++end;
    std::size_t slot = entries_[begin].line & (buckets_.size() - 1);
    while (buckets_[slot].count != 0) slot = (slot + 1) & (buckets_.size() - 1);
    buckets_[slot] = {entries_[begin].line, static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end - begin)};
    begin = end;
  }
  for (std::size_t i = 0; i < levels_.size(); ++i) {
    std::sort(levels_[i].begin(), levels_[i].end());
    levels_[i].erase(std::unique(levels_[i].begin(), levels_[i].end()), levels_[i].end());
    most_levels_[i % axes_] = std::max(most_levels_[i % axes_], levels_[i].size());
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
  return along(point, axis, hash_of(point, axes_));
}

Surroundings Lines::around(const Point& point) const {
  const std::uint64_t hash = hash_of(point, axes_);
  Surroundings all;
  for (std::size_t axis = 0; axis < axes_; ++axis) all[axis] = along(point, axis, hash);
  return all;
}

Neighbours Lines::along(const Point& point, std::size_t axis, std::uint64_t point_hash) const {
  const double at = point.at[axis];
  const Bucket* bucket = find(line_of(point_hash, axis, at));
  Neighbours found;
  if (bucket == nullptr) return found;
  const auto begin = entries_.begin() + bucket->begin;
  const auto end = begin + bucket->count;
  const auto low = std::lower_bound(begin, end, at, [](const Entry& entry, double value) { return entry.at < value; });
  auto high = low;
  while (high != end && high->at == at) ++high;
  if (low != begin) found.low = (low - 1)->site;
  if (low - begin > 1) found.low2 = (low - 2)->site;
  if (high != end) found.high = high->site;
  if (end - high > 1) found.high2 = (high + 1)->site;
  return found;
}

std::optional<Site> Lines::at(const Point& point) const {
  if (axes_ == 0) return std::nullopt;
  const Bucket* bucket = find(line_of(hash_of(point, axes_), 0, point.at[0]));
  if (bucket == nullptr) return std::nullopt;
  for (std::uint32_t i = 0; i < bucket->count; ++i) {
    if (entries_[bucket->begin + i].at == point.at[0]) return entries_[bucket->begin + i].site;
  }
  return std::nullopt;
}

std::span<const double> Lines::levels(std::uint32_t slice, std::size_t axis) const {
  return levels_[slice * axes_ + axis];
}

}  // namespace oplat::estimate
