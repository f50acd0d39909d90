// SPDX-License-Identifier: Apache-2.0
/// Trees in one array of small nodes.
#include "estimate/learned/forest.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/bytes.hpp"

namespace oplat::estimate {
namespace {

/// Offsets within a tree are 16 bits wide.
constexpr std::size_t kMaxNodes = 0xffff;
constexpr std::size_t kNodeBytes = 8;

Error broken(std::string_view what) { return {Code::Input, fmt::format("forest: {}", what)}; }

}  // namespace

Result<Forest> Forest::make(std::span<const TrainedTree> trees, float start, std::size_t features) {
  if (features >= kLeaf) return fail(broken("it has too many features"));
  Forest forest;
  forest.start_ = start;
  forest.features_ = features;
  for (const TrainedTree& tree : trees) OPLAT_CHECK(forest.add(tree));
  return forest;
}

Status Forest::add(const TrainedTree& tree) {
  if (tree.nodes.empty() || tree.nodes.size() > kMaxNodes)
    return fail(broken("a tree has no nodes or too many"));
  const std::size_t root = nodes_.size();
  roots_.push_back(static_cast<std::uint32_t>(root));
  nodes_.emplace_back();
  // In breadth, so that what is read first lies together; each node of the tree may be placed once.
  std::vector<std::pair<std::size_t, std::size_t>> pending{{0, root}};
  std::size_t placed = 1;
  for (std::size_t next = 0; next < pending.size(); ++next) {
    const auto [from, to] = pending[next];
    const TrainedTree::Node& node = tree.nodes[from];
    if (!std::isfinite(node.value)) return fail(broken("a value is not a finite number"));
    nodes_[to].value = node.value;
    nodes_[to].column = leaf_column();
    nodes_[to].left = static_cast<std::uint16_t>(to - root);
    if (node.left < 0) continue;
    const auto size = static_cast<std::int32_t>(tree.nodes.size());
    if (node.left >= size || node.right < 0 || node.right >= size || node.feature >= features_)
      return fail(broken("a node points outside its tree"));
    placed += 2;
    if (placed > tree.nodes.size()) return fail(broken("a node has two parents"));
    const std::size_t children = nodes_.size();
    nodes_[to].column = column_of(node.feature, node.missing_left);
    nodes_[to].left = static_cast<std::uint16_t>(children - root);
    nodes_.resize(children + 2);
    pending.emplace_back(static_cast<std::size_t>(node.left), children);
    pending.emplace_back(static_cast<std::size_t>(node.right), children + 1);
  }
  return {};
}

std::vector<float> Forest::columns_of(std::span<const float> features) const {
  constexpr float kMax = std::numeric_limits<float>::infinity();
  std::vector<float> columns(2 * features_ + 1, -kMax);
  for (std::size_t i = 0; i < features_; ++i) {
    const bool missing = std::isnan(features[i]);
    columns[i] = missing ? -kMax : features[i];
    columns[features_ + i] = missing ? kMax : features[i];
  }
  return columns;
}

float Forest::value(std::span<const float> features) const {
  // Several trees are walked in step: a walk waits for memory and comparisons, which those of the
  // others fill.
  constexpr std::size_t kAbreast = 8;
  const std::vector<float> columns = columns_of(features);
  double sum = start_;
  for (std::size_t tree = 0; tree < roots_.size(); tree += kAbreast) {
    const std::size_t count = std::min(kAbreast, roots_.size() - tree);
    const Node* roots[kAbreast];
    std::uint32_t at[kAbreast] = {};
    for (std::size_t i = 0; i < kAbreast; ++i)
      roots[i] = &nodes_[roots_[tree + (i < count ? i : 0)]];
    std::uint32_t moved = 1;
    while (moved != 0) {
      moved = 0;
      for (std::size_t i = 0; i < kAbreast; ++i) {
        const Node& node = roots[i][at[i]];
        const std::uint32_t next = node.left + (columns[node.column] < node.value ? 0U : 1U);
        moved |= next ^ at[i];
        at[i] = next;
      }
    }
    for (std::size_t i = 0; i < count; ++i) sum += roots[i][at[i]].value;
  }
  return static_cast<float>(sum);
}

std::string Forest::save() const {
  base::ByteWriter writer;
  writer.u64(features_);
  writer.f32(start_);
  writer.u64(roots_.size());
  for (std::size_t tree = 0; tree < roots_.size(); ++tree) {
    const std::size_t end = tree + 1 < roots_.size() ? roots_[tree + 1] : nodes_.size();
    writer.u16(static_cast<std::uint16_t>(end - roots_[tree]));
    for (std::size_t i = roots_[tree]; i < end; ++i) {
      const Node& node = nodes_[i];
      const bool leaf = node.column == leaf_column();
      const bool missing_left = node.column < features_;
      const std::size_t feature = missing_left ? node.column : node.column - features_;
      writer.f32(node.value);
      writer.u16(leaf ? kLeaf
                      : static_cast<std::uint16_t>(feature | (missing_left ? kMissingLeft : 0)));
      writer.u16(leaf ? 0 : node.left);
    }
  }
  return writer.take();
}

Result<Forest> Forest::load(std::string_view bytes) {
  base::ByteReader reader(bytes);
  Forest forest;
  forest.features_ = static_cast<std::size_t>(reader.u64());
  forest.start_ = reader.f32();
  const std::size_t trees = reader.count(2 + kNodeBytes);
  if (!reader.ok() || forest.features_ >= kLeaf || !std::isfinite(forest.start_))
    return fail(broken("its head is damaged"));
  forest.roots_.reserve(trees);
  for (std::size_t tree = 0; tree < trees; ++tree) {
    const std::size_t size = reader.u16();
    if (!reader.ok() || size == 0 || size * kNodeBytes > reader.left())
      return fail(broken("a tree is cut off"));
    const std::size_t root = forest.nodes_.size();
    forest.roots_.push_back(static_cast<std::uint32_t>(root));
    for (std::size_t i = 0; i < size; ++i) {
      const float value = reader.f32();
      const std::uint16_t flagged = reader.u16();
      const std::uint16_t left = reader.u16();
      if (!std::isfinite(value)) return fail(broken("a value is not a finite number"));
      const std::size_t feature = flagged & kLeaf;
      if (feature == kLeaf) {
        forest.nodes_.push_back({value, forest.leaf_column(), static_cast<std::uint16_t>(i)});
        continue;
      }
      // Children stand after their parent, so that every walk ends.
      if (feature >= forest.features_ || left <= i || std::size_t{left} + 1 >= size)
        return fail(broken("a node points outside its tree"));
      forest.nodes_.push_back(
          {value, forest.column_of(feature, (flagged & kMissingLeft) != 0), left});
    }
  }
  if (!reader.done()) return fail(broken("bytes follow its end"));
  return forest;
}

}  // namespace oplat::estimate
