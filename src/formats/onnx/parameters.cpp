// SPDX-License-Identifier: Apache-2.0
/// Made-up coefficients, labels and trees.
///
/// Trees are balanced but for one branch that is as deep as the key says. Thresholds are 0 and the
/// inputs of kernels have either sign, so a sample takes either side of a node as often as the
/// other: the long branch, as the one of a tree grown leaf by leaf, is rarely walked to its end.
#include "formats/onnx/parameters.hpp"

#include <algorithm>
#include <deque>

#include "base/random.hpp"
#include "base/text.hpp"
#include "formats/onnx/types.hpp"

namespace oplat::formats::onnx {
namespace {

wire::Attribute& named_attribute(wire::Node& node, std::string_view name, int type) {
  wire::Attribute& attribute = *node.add_attribute();
  attribute.set_name(std::string(name));
  attribute.set_type(type);
  return attribute;
}

constexpr int kFloatsType = 6;
constexpr int kIntsType = 7;
constexpr int kStringsType = 8;
constexpr int kTensorType = 4;

/// Numbers as a list of floats, or as a tensor of doubles under the name that says so.
class RealList {
 public:
  RealList(wire::Node& node, const std::string& name, bool doubles) {
    if (doubles) {
      wire::Attribute& attribute = named_attribute(node, name + "_as_tensor", kTensorType);
      tensor_ = attribute.mutable_t();
      tensor_->set_data_type(onnx_type_of(ir::Dtype::F64));
      tensor_->add_dims(0);
    } else {
      floats_ = &named_attribute(node, name, kFloatsType);
    }
  }
  void add(double value) {
    if (floats_ != nullptr) {
      floats_->add_floats(static_cast<float>(value));
    } else {
      tensor_->add_double_data(value);
      tensor_->set_dims(0, tensor_->double_data_size());
    }
  }

 private:
  wire::Attribute* floats_ = nullptr;
  wire::Tensor* tensor_ = nullptr;
};

/// One tree: for each node its children, or none.
struct TreeNode {
  std::int64_t depth = 0;
  std::int64_t left = -1;
  std::int64_t right = -1;
};

/// A tree of `splits` inner nodes, one leaf of which lies `depth` deep if there are as many.
std::vector<TreeNode> grow(std::int64_t splits, std::int64_t depth, base::Random& random) {
  std::vector<TreeNode> nodes(1);
  std::deque<std::size_t> leaves;
  const auto split = [&](std::size_t at) {
    const std::int64_t below = nodes[at].depth + 1;
    nodes[at].left = static_cast<std::int64_t>(nodes.size());
    nodes[at].right = nodes[at].left + 1;
    nodes.push_back({below, -1, -1});
    nodes.push_back({below, -1, -1});
  };
  std::size_t branch = 0;
  const std::int64_t spine = splits >= depth ? depth : 0;
  for (std::int64_t i = 0; i < spine; ++i) {
    split(branch);
    const bool left = (random.next() >> 63U) != 0;
    leaves.push_back(static_cast<std::size_t>(left ? nodes[branch].right : nodes[branch].left));
    branch = static_cast<std::size_t>(left ? nodes[branch].left : nodes[branch].right);
  }
  leaves.push_back(branch);
  // Leaves in the order of their depth: children are deeper than all that waited before them but
  // for those of the spine, which are sorted already.
  std::stable_sort(leaves.begin(), leaves.end(),
                   [&](std::size_t a, std::size_t b) { return nodes[a].depth < nodes[b].depth; });
  for (std::int64_t rest = splits - spine; rest > 0 && !leaves.empty(); --rest) {
    const std::size_t at = leaves.front();
    leaves.pop_front();
    if (nodes[at].depth >= depth) break;
    split(at);
    const auto place =
        std::upper_bound(leaves.begin(), leaves.end(), nodes[at].depth + 1,
                         [&](std::int64_t d, std::size_t leaf) { return d < nodes[leaf].depth; });
    const auto where = place - leaves.begin();
    leaves.insert(place, static_cast<std::size_t>(nodes[at].left));
    leaves.insert(leaves.begin() + where, static_cast<std::size_t>(nodes[at].right));
  }
  return nodes;
}

/// How many inner nodes each tree has: alike, but for a first one that is deep enough.
std::vector<std::int64_t> splits_of(const ir::Forest& forest) {
  const std::int64_t splits = (forest.nodes - forest.trees) / 2;
  std::vector<std::int64_t> all(static_cast<std::size_t>(forest.trees));
  const auto spread = [&](std::size_t from, std::int64_t sum) {
    const auto trees = static_cast<std::int64_t>(all.size() - from);
    for (std::size_t t = from; t < all.size(); ++t) {
      const auto i = static_cast<std::int64_t>(t - from);
      all[t] = sum / trees + (i < sum % trees ? 1 : 0);
    }
  };
  spread(0, splits);
  if (all.front() < forest.depth) {
    all.front() = forest.depth;
    if (all.size() > 1) spread(1, splits - forest.depth);
  }
  return all;
}

Status check_forest(const ir::Forest& forest) {
  const auto refuse = [&](std::string_view why) {
    return fail(Code::Refused, "no trees have {} nodes in {} trees, {} deep: {}", forest.nodes,
                forest.trees, forest.depth, why);
  };
  if (forest.nodes > kMaxMadeUp || forest.weights > kMaxMadeUp)
    return fail(Code::Refused, "a forest of {} nodes and {} weights is larger than is made up",
                forest.nodes, forest.weights);
  if (forest.depth > kMaxForestDepth)
    return fail(Code::Refused, "trees {} deep are deeper than is made up", forest.depth);
  if (forest.trees < 1 || forest.trees > forest.nodes) return refuse("each needs a root");
  if ((forest.nodes - forest.trees) % 2 != 0) return refuse("every inner node has two children");
  const std::int64_t splits = (forest.nodes - forest.trees) / 2;
  if (splits < forest.depth) return refuse("they are too few for this depth");
  constexpr std::int64_t kDeep = 40;
  const std::int64_t each = (splits + forest.trees - 1) / forest.trees;
  if (forest.depth < kDeep && each > (std::int64_t{1} << forest.depth) - 1)
    return refuse("they are too many for this depth");
  if (splits > 0 && (forest.features < 1 || forest.modes.empty()))
    return refuse("inner nodes look at a feature in some mode");
  for (const ir::Value& mode : forest.modes) {
    if (mode.text() == nullptr) return refuse("a mode is not a text");
  }
  if (forest.ids < 1 || forest.ids > forest.weights) return refuse("leaves hold weights");
  return {};
}

/// The lists of one node of the operator, filled tree by tree.
class ForestWriter {
 public:
  ForestWriter(wire::Node& node, const ir::Forest& forest, std::uint64_t seed)
      : forest_(forest),
        random_(seed),
        prefix_(node.op_type() == "TreeEnsembleClassifier" ? "class" : "target"),
        tree_ids_(named_attribute(node, "nodes_treeids", kIntsType)),
        node_ids_(named_attribute(node, "nodes_nodeids", kIntsType)),
        features_(named_attribute(node, "nodes_featureids", kIntsType)),
        modes_(named_attribute(node, "nodes_modes", kStringsType)),
        true_(named_attribute(node, "nodes_truenodeids", kIntsType)),
        false_(named_attribute(node, "nodes_falsenodeids", kIntsType)),
        thresholds_(node, "nodes_values", forest.doubles),
        weight_trees_(named_attribute(node, prefix_ + "_treeids", kIntsType)),
        weight_nodes_(named_attribute(node, prefix_ + "_nodeids", kIntsType)),
        weight_ids_(named_attribute(node, prefix_ + "_ids", kIntsType)),
        weights_(node, prefix_ + "_weights", forest.doubles) {}

  void write() {
    const std::vector<std::int64_t> splits = splits_of(forest_);
    for (std::size_t t = 0; t < splits.size(); ++t)
      add_tree(static_cast<std::int64_t>(t), grow(splits[t], forest_.depth, random_));
  }

 private:
  void add_tree(std::int64_t tree, const std::vector<TreeNode>& nodes) {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const TreeNode& node = nodes[i];
      const auto id = static_cast<std::int64_t>(i);
      const bool leaf = node.left < 0;
      tree_ids_.add_ints(tree);
      node_ids_.add_ints(id);
      features_.add_ints(leaf ? 0 : next_feature());
      modes_.add_strings(leaf ? std::string("LEAF") : next_mode());
      true_.add_ints(std::max<std::int64_t>(0, node.left));
      false_.add_ints(std::max<std::int64_t>(0, node.right));
      thresholds_.add(0);
      if (leaf) add_weights(tree, id);
    }
  }

  std::int64_t next_feature() {
    const auto features = static_cast<std::uint64_t>(forest_.features);
    // The first looks at the last feature, so that the key of this kernel says as many.
    if (inner_ == 0) return forest_.features - 1;
    return static_cast<std::int64_t>(random_.next() % features);
  }

  const std::string& next_mode() {
    const auto& mode = forest_.modes[inner_++ % forest_.modes.size()];
    return *mode.text();
  }

  void add_weights(std::int64_t tree, std::int64_t node) {
    const std::int64_t leaves = (forest_.nodes + forest_.trees) / 2;
    const std::int64_t each =
        forest_.weights / leaves + (leaf_++ < forest_.weights % leaves ? 1 : 0);
    for (std::int64_t i = 0; i < each; ++i) {
      weight_trees_.add_ints(tree);
      weight_nodes_.add_ints(node);
      // Every id is met; else the trees of boosting take turns, and leaves of several list all.
      const std::int64_t id = weight_ < forest_.ids ? weight_ : (each > 1 ? i : tree) % forest_.ids;
      ++weight_;
      weight_ids_.add_ints(id);
      weights_.add(0.5 + 0.5 * static_cast<double>(random_.next() >> 12U) * 0x1p-52);
    }
  }

  const ir::Forest& forest_;
  base::Random random_;
  std::string prefix_;
  wire::Attribute& tree_ids_;
  wire::Attribute& node_ids_;
  wire::Attribute& features_;
  wire::Attribute& modes_;
  wire::Attribute& true_;
  wire::Attribute& false_;
  RealList thresholds_;
  wire::Attribute& weight_trees_;
  wire::Attribute& weight_nodes_;
  wire::Attribute& weight_ids_;
  RealList weights_;
  std::size_t inner_ = 0;
  std::int64_t leaf_ = 0;
  std::int64_t weight_ = 0;
};

}  // namespace

Status fill_counted(wire::Attribute& attribute, const ir::CountedValues& counted, bool labels,
                    std::uint64_t seed) {
  if (counted.count > kMaxMadeUp)
    return fail(Code::Refused, "attribute {} of {} values is larger than is made up",
                base::printable(attribute.name()), counted.count);
  base::Random random(seed);
  attribute.set_type(counted.dtype == ir::Dtype::F32   ? kFloatsType
                     : counted.dtype == ir::Dtype::I64 ? kIntsType
                                                       : kStringsType);
  for (std::int64_t i = 0; i < counted.count; ++i) {
    if (counted.dtype == ir::Dtype::I64) {
      attribute.add_ints(i);
    } else if (counted.dtype == ir::Dtype::String) {
      attribute.add_strings(std::to_string(i));
    } else if (labels) {
      attribute.add_floats(static_cast<float>(i));
    } else {
      const std::uint64_t bits = random.next();
      const double size = 0.75 + 0.5 * static_cast<double>(bits >> 12U) * 0x1p-52;
      attribute.add_floats(static_cast<float>((bits & 1U) != 0 ? -size : size));
    }
  }
  return {};
}

Status add_forest(wire::Node& node, const ir::Forest& forest, std::uint64_t seed) {
  OPLAT_CHECK(check_forest(forest));
  ForestWriter(node, forest, seed).write();
  return {};
}

}  // namespace oplat::formats::onnx
