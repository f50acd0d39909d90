// SPDX-License-Identifier: Apache-2.0
/// Trees in one array of small nodes.
#include "estimate/learned/forest.hpp"

#include <cmath>
#include <limits>

#include "estimate/learned/bytes.hpp"

namespace oplat::estimate {
namespace {

/// Offsets within a tree are 16 bits wide.
constexpr std::size_t kMostNodes = 0xffff;
constexpr std::size_t kNodeBytes = 8;

Error broken(std::string_view what) { return {Code::Input, fmt::format("forest: {}", what)}; }

}  // namespace

Result<Forest> Forest::make(std::span<const TrainedTree> trees, float start, std::size_t features) {
  if (features >= kLeaf) return fail(broken("too many features"));
  Forest forest;
  forest.start_ = start;
  forest.features_ = features;
  for (const TrainedTree& tree : trees) {
    if (tree.nodes.empty() || tree.nodes.size() > kMostNodes) return fail(broken("a tree of no or too many nodes"));
    const std::size_t root = forest.nodes_.size();
    forest.roots_.push_back(static_cast<std::uint32_t>(root));
    forest.nodes_.emplace_back();
    // In breadth, so that what is read first lies together; each node of the tree may be placed once.
    std::vector<std::pair<std::size_t, std::size_t>> pending{{0, root}};
    std::size_t placed = 1;
    for (std::size_t next = 0; next < pending.size(); ++next) {
      const auto [from, to] = pending[next];
      const TrainedTree::Node& node = tree.nodes[from];
      if (!std::isfinite(node.value)) return fail(broken("a value that is no number"));
      forest.nodes_[to].value = node.value;
      if (node.left < 0) continue;
      const auto size = static_cast<std::int32_t>(tree.nodes.size());
      if (node.left >= size || node.right < 0 || node.right >= size || node.feature >= features)
        return fail(broken("a node that points nowhere"));
      placed += 2;
      if (placed > tree.nodes.size()) return fail(broken("a node with two parents"));
      const std::size_t children = forest.nodes_.size();
      forest.nodes_[to].feature = static_cast<std::uint16_t>(node.feature | (node.missing_left ? kMissingLeft : 0));
      forest.nodes_[to].left = static_cast<std::uint16_t>(children - root);
      forest.nodes_.resize(children + 2);
      pending.emplace_back(static_cast<std::size_t>(node.left), children);
      pending.emplace_back(static_cast<std::size_t>(node.right), children + 1);
    }
  }
  return forest;
}

float Forest::value(std::span<const float> features) const {
  // Several trees are walked in step: a walk waits for memory and comparisons, which those of the others fill.
  constexpr std::size_t kAbreast = 8;
  double sum = start_;
  const std::size_t count = roots_.size();
  std::size_t tree = 0;
  for (; tree + kAbreast <= count; tree += kAbreast) {
    const Node* roots[kAbreast];
    const Node* nodes[kAbreast];
    for (std::size_t i = 0; i < kAbreast; ++i) nodes[i] = roots[i] = &nodes_[roots_[tree + i]];
    bool walking = true;
    while (walking) {
      walking = false;
      for (std::size_t i = 0; i < kAbreast; ++i) {
        const bool inner = (nodes[i]->feature & kLeaf) != kLeaf;
        nodes[i] = inner ? child(roots[i], *nodes[i], features) : nodes[i];
        walking = walking || inner;
      }
    }
    for (const Node* leaf : nodes) sum += leaf->value;
  }
  for (; tree < count; ++tree) {
    const Node* const root = &nodes_[roots_[tree]];
    const Node* node = root;
    while ((node->feature & kLeaf) != kLeaf) node = child(root, *node, features);
    sum += node->value;
  }
  return static_cast<float>(sum);
}

std::string Forest::save() const {
  ByteWriter writer;
  writer.u64(features_);
  writer.f32(start_);
  writer.u64(roots_.size());
  for (std::size_t tree = 0; tree < roots_.size(); ++tree) {
    const std::size_t end = tree + 1 < roots_.size() ? roots_[tree + 1] : nodes_.size();
    writer.u16(static_cast<std::uint16_t>(end - roots_[tree]));
    for (std::size_t i = roots_[tree]; i < end; ++i) {
      writer.f32(nodes_[i].value);
      writer.u16(nodes_[i].feature);
      writer.u16(nodes_[i].left);
    }
  }
  return writer.take();
}

Result<Forest> Forest::load(std::string_view bytes) {
  ByteReader reader(bytes);
  Forest forest;
  forest.features_ = static_cast<std::size_t>(reader.u64());
  forest.start_ = reader.f32();
  const std::size_t trees = reader.count(2 + kNodeBytes);
  if (!reader.ok() || forest.features_ >= kLeaf || !std::isfinite(forest.start_)) return fail(broken("its head is damaged"));
  forest.roots_.reserve(trees);
  for (std::size_t tree = 0; tree < trees; ++tree) {
    const std::size_t size = reader.u16();
    if (!reader.ok() || size == 0 || size * kNodeBytes > reader.left()) return fail(broken("a tree is cut off"));
    const std::size_t root = forest.nodes_.size();
    forest.roots_.push_back(static_cast<std::uint32_t>(root));
    for (std::size_t i = 0; i < size; ++i) {
      Node node;
      node.value = reader.f32();
      node.feature = reader.u16();
      node.left = reader.u16();
      if (!std::isfinite(node.value)) return fail(broken("a value that is no number"));
      const std::size_t feature = node.feature & kLeaf;
      // Children stand after their parent, so that every walk ends.
      const bool inner = feature != kLeaf;
      if (inner && (feature >= forest.features_ || node.left <= i || std::size_t{node.left} + 1 >= size))
        return fail(broken("a node points out of its tree"));
      forest.nodes_.push_back(node);
    }
  }
  if (!reader.done()) return fail(broken("bytes after its end"));
  return forest;
}

}  // namespace oplat::estimate
