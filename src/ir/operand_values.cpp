// SPDX-License-Identifier: Apache-2.0
/// Values that suit a key.
///
/// The problem: a kernel is built again from its key, which holds shapes but no values of operands
/// that are not constants. Where these are sizes, lengths or masks, arbitrary ones make another
/// kernel: an LSTM over sequences of length 1, a Slice of nothing. So each such operand has a rule
/// (operand_rules/). Sizes follow from the result that the key states, indices and divisors from
/// what is legal. What no shape shows (lengths) is recorded by the planner, as a tag of the key;
/// without the tag it is the greatest legal length, and value_caveat() says so. Whether the rule
/// was right is checked after the kernel's run: its results have the key's shapes, or the row fails
/// (docs/adr/0042).
#include "ir/operand_values.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "base/text.hpp"
#include "ir/key_head.hpp"
#include "ir/operand_rules/fills.hpp"

namespace oplat::ir {
namespace {

using fills::attribute;
using fills::count_of;
using fills::each;
using fills::expanded;
using fills::Fill;
using fills::kMs;
using Role = ValueRole;

constexpr std::size_t kMaxListed = 64;  // as many values as a key prints of a constant
constexpr std::size_t kMaxSteps = 16;

const std::vector<OperandRule>& rules_once() {
  static const std::vector<OperandRule> kRules = [] {
    std::vector<OperandRule> all;
    for (const auto* rules : {&fills::rules_of_indices(), &fills::rules_of_sizes(),
                              &fills::rules_of_lengths(), &fills::rules_of_data()})
      all.insert(all.end(), rules->begin(), rules->end());
    return all;
  }();
  return kRules;
}

using RuleIndex =
    std::map<std::pair<std::string_view, std::string_view>, std::vector<const OperandRule*>>;
const RuleIndex& rule_index() {
  static const RuleIndex kIndex = [] {
    RuleIndex index;
    for (const OperandRule& rule : rules_once()) index[{rule.domain, rule.op}].push_back(&rule);
    return index;
  }();
  return kIndex;
}

std::span<const OperandRule* const> rules_of(std::string_view domain, std::string_view op) {
  const auto at = rule_index().find({domain, op});
  if (at == rule_index().end()) return {};
  return at->second;
}

/// Steps of [value,count] as values.
Fill from_histogram(const List& steps, std::int64_t count) {
  constexpr std::int64_t kMaxRecorded = std::int64_t{1} << 26;
  if (count > kMaxRecorded) return std::nullopt;
  OperandFill fill;
  for (const Value& step : steps) {
    const List* pair = step.list();
    if (pair == nullptr || pair->size() != 2 || (*pair)[0].integer() == nullptr ||
        (*pair)[1].integer() == nullptr)
      return std::nullopt;
    const std::int64_t repeats = *(*pair)[1].integer();
    if (repeats < 0 || repeats > count - static_cast<std::int64_t>(fill.values.size()))
      return std::nullopt;
    fill.values.insert(fill.values.end(), static_cast<std::size_t>(repeats),
                       static_cast<double>(*(*pair)[0].integer()));
  }
  return static_cast<std::int64_t>(fill.values.size()) == count ? Fill(std::move(fill))
                                                                : std::nullopt;
}

Fill recorded_fill(const Key& key, std::size_t operand) {
  const Value* tag = key.tag(values_tag(operand));
  const auto count = count_of(key, operand);
  if (tag == nullptr || !count) return std::nullopt;
  if (const List* list = tag->list();
      list != nullptr && !list->empty() && list->front().list() != nullptr)
    return from_histogram(*list, *count);
  if (tag->integer() != nullptr) return each(static_cast<double>(*tag->integer()));
  OperandFill fill;
  const auto values = expanded(*tag, *count);
  if (!values) return std::nullopt;
  fill.values = *values;
  return fill;
}

/// How far times of kernels that find `kept` of `all` elements may lie apart, by where they lie: a
/// processor foresees runs, and mistakes random places.
double pattern_sd(std::int64_t kept, std::int64_t all) {
  if (all <= 0 || kept < 0 || kept > all) return 0;
  const double share = static_cast<double>(kept) / static_cast<double>(all);
  constexpr double kMaxPatternSd = 0.5;
  return kMaxPatternSd * 4 * share * (1 - share);
}

constexpr double kLengthSd = 0.7;  // half to twice the work
constexpr double kWalkSd = 0.9;    // boxes and regions of any size, order of values
constexpr double kTreeSd = 0.7;    // paths through trees, and whether a processor foresees them

constexpr double kStepSd = 0.9;  // runs that are copied, or each element by itself

/// Whether an operand's values decide if runs of elements are copied.
bool decides_runs(const OperandRule& rule) { return rule.op == "Slice" && rule.operand == 4; }

/// Kernels that walk decision trees, whose operands need no values of a special kind.
bool walks_trees(std::string_view domain, std::string_view op) {
  return domain == "ai.onnx.ml" && op.starts_with("TreeEnsemble");
}

std::optional<ValueCaveat> caveat_of(const Key& key, const OperandRule& rule) {
  const TensorEntry* entry = key.operand(rule.operand);
  if (entry == nullptr || key.tag(values_tag(rule.operand)) != nullptr) return std::nullopt;
  if (entry->constant && entry->value) return std::nullopt;
  if (rule.role == Role::Length) {
    if (!is_recorded(rule)) return std::nullopt;
    return ValueCaveat{kLengthSd, fmt::format("the lengths in operand {} are not known and were "
                                              "taken as the greatest possible",
                                              rule.operand)};
  }
  if (decides_runs(rule))
    return ValueCaveat{kStepSd, fmt::format("the steps in operand {} are not known and were taken "
                                            "as 1",
                                            rule.operand)};
  if (rule.role != Role::Data) return std::nullopt;
  const auto decided = [&](double sd) {
    return ValueCaveat{sd,
                       fmt::format("its time depends on the values of operand {}", rule.operand)};
  };
  if (key.op == "RoiAlign")
    return attribute(key, "sampling_ratio", 0) > 0 ? std::nullopt : std::optional(decided(kWalkSd));
  if (key.op == "NonZero" || key.op == "Compress") {
    const auto all = count_of(key, rule.operand);
    const auto fill = rule.fill(key, rule.operand);
    const double sd = fill && fill->nonzero && all ? pattern_sd(*fill->nonzero, *all) : 0;
    constexpr double kNegligible = 0.05;
    return sd > kNegligible ? std::optional(decided(sd)) : std::nullopt;
  }
  if (key.op == "NonMaxSuppression" && rule.operand != 0) return std::nullopt;
  return decided(kWalkSd);
}

}  // namespace

std::span<const OperandRule> operand_rules() { return rules_once(); }

const OperandRule* operand_rule(std::string_view domain, std::string_view op, std::size_t operand) {
  for (const OperandRule* rule : rules_of(domain, op))
    if (rule->operand == operand) return rule;
  return nullptr;
}

std::optional<OperandFill> operand_fill(const Key& key, std::size_t operand) {
  if (auto recorded = recorded_fill(key, operand)) return recorded;
  const OperandRule* rule = operand_rule(key.domain, key.op, operand);
  return rule == nullptr ? std::nullopt : rule->fill(key, operand);
}

bool is_recorded(const OperandRule& rule) {
  // Masks of com.microsoft's attention are added to all scores, whatever they hold.
  const bool mask = rule.op == "QAttention" || rule.op == "EmbedLayerNormalization" ||
                    rule.op == "QEmbedLayerNormalization" ||
                    (rule.domain == kMs && rule.op == "Attention" && rule.operand == 3) ||
                    (rule.op == "MultiHeadAttention" && rule.operand == 4);
  return (rule.role == Role::Length && !mask) ||
         (rule.role == Role::Choice && rule.op != "Resize" && rule.op != "NonMaxSuppression") ||
         decides_runs(rule);
}

std::string values_tag(std::size_t operand) { return fmt::format("values{}", operand); }

Value values_summary(std::span<const std::int64_t> values) {
  if (values.empty()) return Value(List{});
  if (std::all_of(values.begin(), values.end(), [&](auto v) { return v == values.front(); }))
    return Value(values.front());
  if (values.size() <= kMaxListed) {
    List list;
    for (const std::int64_t value : values) list.emplace_back(value);
    return Value(std::move(list));
  }
  std::vector<std::int64_t> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  std::vector<std::pair<std::int64_t, std::int64_t>> steps;
  for (const std::int64_t value : sorted) {
    if (steps.empty() || steps.back().first != value) steps.emplace_back(value, 0);
    ++steps.back().second;
  }
  if (steps.size() > kMaxSteps) {
    // Minimum and maximum by themselves, between them steps of as many elements each.
    steps.clear();
    steps.emplace_back(sorted.front(), 1);
    const std::size_t inner = sorted.size() - 2;
    for (std::size_t s = 0; s < kMaxSteps - 2; ++s) {
      const std::size_t from = 1 + inner * s / (kMaxSteps - 2);
      const std::size_t to = 1 + inner * (s + 1) / (kMaxSteps - 2);
      if (from == to) continue;
      double sum = 0;
      for (std::size_t i = from; i < to; ++i) sum += static_cast<double>(sorted[i]);
      const auto n = static_cast<std::int64_t>(to - from);
      steps.emplace_back(std::llround(sum / static_cast<double>(n)), n);
    }
    steps.emplace_back(sorted.back(), 1);
  }
  List list;
  for (const auto& [value, count] : steps) list.emplace_back(List{Value(value), Value(count)});
  return Value(std::move(list));
}

std::optional<ValueCaveat> value_caveat(const Key& key) {
  std::optional<ValueCaveat> worst;
  for (const OperandRule* rule : rules_of(key.domain, key.op)) {
    auto found = caveat_of(key, *rule);
    if (found && (!worst || found->sd_log > worst->sd_log)) worst = std::move(found);
  }
  if (!worst && walks_trees(key.domain, key.op))
    return ValueCaveat{kTreeSd, "its time depends on the values of operand 0"};
  return worst;
}

std::optional<ValueCaveat> value_caveat(std::string_view text) {
  const auto [domain, op] = head_of(text);
  const auto rules = rules_of(domain, op);
  const bool any = std::any_of(rules.begin(), rules.end(), [](const OperandRule* rule) {
    return rule->role == Role::Data || rule->role == Role::Length || decides_runs(*rule);
  });
  if (!any && !walks_trees(domain, op)) return std::nullopt;
  const auto key = parse(text);
  return key ? value_caveat(*key) : std::nullopt;
}

}  // namespace oplat::ir
