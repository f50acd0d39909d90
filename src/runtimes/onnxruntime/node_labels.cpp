// SPDX-License-Identifier: Apache-2.0
/// Nodes run under names that are unique in the whole model, "n0", "n1" and so on, since profiles
/// show nothing else of a node. People know a node by what their model calls it, and exporters put
/// the module's path there (/layer1/0/conv1/Conv). A node that the runtime left alone has its name.
/// One that it made of several often has the name of one of them and more behind it
/// ("/mlp/0/MatMul/MatMulAddFusion", "/conv/Conv_token_7"). Else it has the result of the last of
/// them, or, in a blocked layout, is called after it ("/layer1/0/relu/Relu_output_0_nchwc"). Before
/// that last one is the one that it is called after here: the nearest of its own operator, the
/// convolution of Conv and Relu.
#include "runtimes/onnxruntime/node_labels.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_set>

namespace oplat::runtimes::onnxruntime {
namespace {

using formats::onnx::NodeEnds;

constexpr std::string_view kBlockedSuffix = "_nchwc";
constexpr std::string_view kFusedPrefix = "Fused";
constexpr std::string_view kCopySuffix = "_token_";
/// That the runtime inserts around what it made: they have no part in the work of the model's
/// nodes.
constexpr std::array<std::string_view, 3> kInserted = {"Cast", "Reshape", "Transpose"};
constexpr std::size_t kMaxLabelBytes = 200;
/// Nodes that are looked at before the last of those that were fused.
constexpr std::size_t kMaxFusedNodes = 24;
/// Fusions of fusions add up in a name.
constexpr int kMaxCuts = 16;

/// Not one that could be taken for a name that nodes run under, nor what no terminal shows.
bool is_label(std::string_view name) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  if (name.empty() || name.size() > kMaxLabelBytes) return false;
  if (name.size() > 1 && name[0] == 'n' && digit(name[1])) return false;
  return std::all_of(name.begin(), name.end(), [](char c) { return c > ' ' && c <= '~'; });
}

class Labels {
 public:
  /// Both must outlive this.
  Labels(const std::vector<NodeEnds>& model, const std::vector<NodeEnds>& executed) {
    for (const NodeEnds& node : model) {
      const auto [at, added] = nodes_.emplace(node.name, &node);
      if (!added) at->second = nullptr;  // two nodes of one name say nothing
      for (const std::string& result : node.results)
        if (!result.empty()) producers_.emplace(result, &node);
    }
    for (const NodeEnds& node : executed) results_.insert(node.results.begin(), node.results.end());
  }

  /// Of a node that ran and that the runtime called `name` before; empty: none is known.
  [[nodiscard]] std::string_view find(std::string_view name, const NodeEnds& ran) const {
    if (const NodeEnds* own = named(name)) return label(own);
    const NodeEnds* last = nullptr;
    if (name.ends_with(kBlockedSuffix))
      last = producer(name.substr(0, name.size() - kBlockedSuffix.size()));
    for (std::size_t i = 0; last == nullptr && i < ran.results.size(); ++i)
      last = producer(ran.results[i]);
    return last == nullptr ? std::string_view() : label(of_operator(ran.op, last));
  }

 private:
  /// The node of this name, or the one whose name it begins with: "NAME/what was made of it" or
  /// "NAME_token_7".
  [[nodiscard]] const NodeEnds* named(std::string_view name) const {
    const std::size_t copy = name.rfind(kCopySuffix);
    if (copy != std::string_view::npos &&
        name.find_first_not_of("0123456789", copy + kCopySuffix.size()) == std::string_view::npos)
      if (const auto own = nodes_.find(name.substr(0, copy)); own != nodes_.end())
        return own->second;
    for (int cuts = 0; !name.empty() && cuts < kMaxCuts; ++cuts) {
      if (const auto own = nodes_.find(name); own != nodes_.end()) return own->second;
      const std::size_t cut = name.rfind('/');
      if (cut == std::string_view::npos) break;
      name = name.substr(0, cut);
    }
    return nullptr;
  }

  [[nodiscard]] const NodeEnds* producer(std::string_view tensor) const {
    const auto made = producers_.find(tensor);
    return made == producers_.end() ? nullptr : made->second;
  }

  /// The nearest node of the operator, from the last of the fused ones backwards. If there is none:
  /// that last one, but nullptr for what the runtime inserts. What another node that ran makes is
  /// not of this one.
  [[nodiscard]] const NodeEnds* of_operator(std::string_view op, const NodeEnds* last) const {
    if (op.starts_with(kFusedPrefix)) op.remove_prefix(kFusedPrefix.size());
    std::vector<const NodeEnds*> fused = {last};
    for (std::size_t i = 0; i < fused.size() && fused.size() < kMaxFusedNodes; ++i) {
      if (fused[i]->op == op) return fused[i];
      for (const std::string& operand : fused[i]->operands) {
        const NodeEnds* before = results_.contains(operand) ? nullptr : producer(operand);
        if (before != nullptr && std::find(fused.begin(), fused.end(), before) == fused.end())
          fused.push_back(before);
      }
    }
    const bool inserted = std::find(kInserted.begin(), kInserted.end(), op) != kInserted.end();
    return inserted ? nullptr : last;
  }

  [[nodiscard]] std::string_view label(const NodeEnds* node) const {
    if (node == nullptr || !is_label(node->name) || nodes_.at(node->name) == nullptr) return {};
    return node->name;
  }

  std::unordered_map<std::string_view, const NodeEnds*> nodes_;  ///< of the model, by name
  std::unordered_map<std::string_view, const NodeEnds*> producers_;
  std::unordered_set<std::string_view> results_;  ///< of what ran
};

}  // namespace

std::unordered_map<std::string, std::string> node_labels(const std::vector<NodeEnds>& model,
                                                         const std::vector<NodeEnds>& optimized,
                                                         const std::vector<NodeEnds>& executed) {
  const Labels known(model, executed);
  const bool same_nodes = optimized.size() == executed.size();
  std::unordered_map<std::string, std::string> labels;
  std::unordered_set<std::string_view> taken;
  for (std::size_t i = 0; i < executed.size(); ++i) {
    if (executed[i].bodied || executed[i].op.starts_with("Reorder")) continue;
    const std::string_view label = known.find(
        same_nodes ? std::string_view(optimized[i].name) : std::string_view(), executed[i]);
    if (!label.empty() && taken.insert(label).second) labels.emplace(executed[i].name, label);
  }
  return labels;
}

}  // namespace oplat::runtimes::onnxruntime
