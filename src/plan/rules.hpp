// SPDX-License-Identifier: Apache-2.0
/// Plans without a runtime: rule files (data/fusion, docs/reference/fusion-rules.md) say what its
/// optimiser makes of a graph.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"
#include "formats/format_reader.hpp"
#include "ir/catalogue.hpp"
#include "ir/graph.hpp"
#include "plan/records.hpp"

namespace oplat::plan {

struct RulePass;  // src/plan/rules

/// One version of what one runtime's optimiser does, in the order in which it does it.
struct RuleSet {
  std::string name;     ///< "runtime@2.12"
  std::string runtime;  ///< Setting::runtime of the rows that it is for
  std::string version;  ///< of the runtime, "2.12"
  std::string reads;    ///< domain of the nodes that it understands
  std::string makes;    ///< domain of what it leaves: a KeyDomain
  std::string hash;     ///< of the file that holds it
  bool depth_first =
      false;  ///< kernels in the order in which a depth-first walk from the results leaves them
  std::set<std::string> options;  ///< names that passes may ask for
  /// Operators of models whose plans were compared with the runtime's own; empty: not said.
  std::set<std::string> compared;
  /// Newest operator sets that the runtime knows, by domain; one that is not listed may be any.
  std::map<std::string, std::int64_t> opsets;
  std::vector<std::shared_ptr<const RulePass>> passes;
};

/// What is asked of an optimiser beyond its defaults: names of RuleSet::options. The user asks for
/// a precision ("fp16"); the machine decides the blocks of a layout (block_option()).
using RuleOptions = std::set<std::string>;

/// Names of the sets, newest version of each runtime first.
std::vector<std::string> rule_set_names(std::span<const RuleSet> built_in);
/// One of `built_in` (compat::rule_sets()): the name without a version is its newest version.
/// Code::Usage lists those that there are.
Result<RuleSet> built_in_rules(std::string_view name, std::span<const RuleSet> built_in);
/// Reads and checks a rule file: one set a version, newest first. Code::Input names line, rule and
/// what is wrong: unknown words, patterns that cannot match, replacements that use what the pattern
/// does not bind, rules that would apply to their own result for ever.
Result<std::vector<RuleSet>> read_rules(const base::Source& source);
/// What stands behind `--plan rules:`: a built-in set, or of "FILE.yaml" or "FILE.yaml@VERSION"
/// that file's.
Result<RuleSet> rules_named(std::string_view name, std::span<const RuleSet> built_in);

/// Operators of the graph that the set was never compared with the runtime on, each once.
std::vector<std::string> not_compared(const ir::Graph& graph, const RuleSet& rules);

/// Whether the set's kernels depend on the instruction set, by the size of blocks of channels.
bool depends_on_blocks(const RuleSet& rules);
/// The option for a machine: "block16", "block8". Code::Refused where the set depends on blocks and
/// `architecture` and `isa` (Device::isa) do not say which; std::nullopt where it does not.
Result<std::optional<std::string>> block_option(const RuleSet& rules, std::string_view architecture,
                                                std::string_view isa);

/// The graph that is left: nodes are what the runtime executes, in its order. Code::Usage where the
/// set is for graphs of another domain or does not know an option; Code::Refused where the graph is
/// of an operator set that the runtime does not know; Code::Input where the work would be without
/// bounds.
Result<ir::Graph> fuse(const ir::Graph& graph, const RuleSet& rules,
                       const RuleOptions& options = {});
/// Its kernels: a plan without `model`, `batch` and `identity`. `source` of the plan is
/// "rules:NAME".
Result<Plan> plan_by_rules(const ir::Graph& graph, const RuleSet& rules,
                           const ir::Catalogue& catalogue, const RuleOptions& options = {});
/// The kernels of a graph that fuse() left with the same options, their keys made by the domain
/// RuleSet::makes of the catalogue or, of ONNX, as those of a run. Code::Usage if it has no such
/// domain; Code::Refused where only a run knows a key.
Result<Plan> plan_of_fused(const ir::Graph& fused, const RuleSet& rules,
                           const ir::Catalogue& catalogue, const RuleOptions& options = {});
/// Plan::identity of such a plan; `shapes` resolved (plan/identity.hpp).
std::string rules_identity(std::string_view model_hash, const formats::ShapeOptions& shapes,
                           const RuleSet& rules, const RuleOptions& options = {});

/// A fused node in words: operator, "32x3x3x3" of its filter, "strides=2,2 paddings=1,1 ..." of its
/// attributes.
struct FusedWords {
  std::string op;
  std::string filter;
  std::string attributes;
};
FusedWords fused_words(const ir::Graph& fused, const ir::Node& node);
/// The same of a key: its operator, the sizes of its first constant of two dimensions or more, its
/// attributes.
FusedWords key_words(std::string_view key);

}  // namespace oplat::plan
