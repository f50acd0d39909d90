// SPDX-License-Identifier: Apache-2.0
/// The problem: an element-wise function is measured on random numbers between -1 and 1, and a
/// model gives it what it computes. Polynomials take the same time for both. But functions of the C
/// library and of Eigen branch: by sign, into ranges, to a slow end where a result underflows, and
/// a branch that goes either way costs more than one that always goes the same. ONNX Runtime 1.31.1
/// took 1.2 to 6 times as long for some values as for others on one processor
/// (bench/value_costs.py). The spreads below stand for what was seen there between -1000 and 1000:
/// a time within a factor of 1.6 or 2.3 in nine of ten cases.
///
/// Another matter is data that are the same in every run, as a benchmark's are. The processor then
/// knows how the branches of the last run went: PRelu of 20,000 numbers, half of them negative,
/// took 35 us on one input and 112 us on 32 in turn, NonMaxSuppression 26 and 79, TopK of 8,000 180
/// and 296, 500 trees 32 and 53 (bench/repeated_data.py, same processor). An application never sees
/// the former. ONNX Runtime's kernels of PRelu get fewer negative numbers (docs/adr/0089).
///
/// Runtimes whose operators have a domain of their own vary the data in their workers, which know
/// these operators; here are the spreads alone (bench/repeated_data_elsewhere.py).
#include "ir/value_costs.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "ir/key_head.hpp"
#include "ir/operand_values.hpp"

namespace oplat::ir {
namespace {

constexpr double kSome = 0.3;
constexpr double kMuch = 0.5;

struct ValueCost {
  std::string_view op;
  double single = 0;  ///< of 16 and 32 bits
  double wide = 0;    ///< of 64-bit numbers
};

/// Of the default domain unless named. Sorted, so that looking costs little.
constexpr std::array kCosts = {
    ValueCost{"Acosh", kSome, kSome},
    ValueCost{"Asin", kSome, kSome},
    ValueCost{"Asinh", kMuch, kMuch},
    ValueCost{"Atan", kSome, kSome},
    ValueCost{"Atanh", kMuch, kMuch},
    ValueCost{"Celu", kSome, kSome},
    ValueCost{"Cos", kSome, kSome},
    ValueCost{"Cosh", kMuch, kMuch},
    ValueCost{"Elu", kSome, kSome},
    ValueCost{"Exp", kSome, kSome},
    ValueCost{"GlobalLpPool", kSome, kSome},
    ValueCost{"Hardmax", kSome, kSome},
    ValueCost{"LogSoftmax", 0, kMuch},
    ValueCost{"LpPool", kMuch, kMuch},
    ValueCost{"MaxPool", kSome, kSome},
    ValueCost{"Mish", kSome, kSome},
    ValueCost{"Mod", kSome, kMuch},
    ValueCost{"PRelu", kMuch, kMuch},
    ValueCost{"Pow", kMuch, kMuch},
    ValueCost{"QuickGelu", 0, kMuch},
    ValueCost{"ReduceLogSumExp", kMuch, kMuch},
    ValueCost{"Selu", kSome, kSome},
    ValueCost{"Shrink", kMuch, kMuch},
    ValueCost{"Sigmoid", 0, kSome},
    ValueCost{"Sin", kSome, kSome},
    ValueCost{"Sinh", kMuch, kMuch},
    ValueCost{"Softmax", 0, kMuch},
    ValueCost{"Softplus", kSome, kSome},
    ValueCost{"Tan", kMuch, kMuch},
    ValueCost{"TopK", kMuch, kMuch},
};
static_assert(std::is_sorted(kCosts.begin(), kCosts.end(),
                             [](const ValueCost& a, const ValueCost& b) { return a.op < b.op; }));

struct OtherCost {
  std::string_view op;
  double sd = 0;
};
/// Of operators in any domain but those of ONNX and ONNX Runtime. Sorted.
constexpr std::array kOtherCosts = {
    OtherCost{"ELU", kMuch},           OtherCost{"NonMaxSuppressionV2", kMuch},
    OtherCost{"Select", kMuch},        OtherCost{"Selu", kMuch},
    OtherCost{"TopKV2", kMuch},        OtherCost{"hardshrink", kMuch},
    OtherCost{"masked_select", kSome}, OtherCost{"multiclass_nms3", kMuch},
    OtherCost{"nms", kSome},           OtherCost{"nonzero", kSome},
    OtherCost{"prelu", kSome},         OtherCost{"topk", kMuch},
    OtherCost{"where", kSome},
};
static_assert(std::is_sorted(kOtherCosts.begin(), kOtherCosts.end(),
                             [](const OtherCost& a, const OtherCost& b) { return a.op < b.op; }));

/// Of an operator that names its function in an attribute, in the same domains
/// (bench/value_costs_elsewhere.py). Sorted.
constexpr std::string_view kFunctionOperator = "UnaryOp";
constexpr std::string_view kFunctionAttribute = "opType";
constexpr std::array kFunctionCosts = {
    OtherCost{"ACOS", kMuch},          OtherCost{"ACOSH", kSome}, OtherCost{"ASIN", kMuch},
    OtherCost{"ASINH", kMuch},         OtherCost{"ATAN", kMuch},  OtherCost{"ATANH", kMuch},
    OtherCost{"BNLL", kMuch},          OtherCost{"COS", kMuch},   OtherCost{"COSH", kSome},
    OtherCost{"ERF", kMuch},           OtherCost{"ERFC", kMuch},  OtherCost{"ERFINV", kMuch},
    OtherCost{"GELU_STANDARD", kMuch}, OtherCost{"LOG", kSome},   OtherCost{"LOG1P", kMuch},
    OtherCost{"ROUND", kSome},         OtherCost{"SIN", kSome},   OtherCost{"SINH", kMuch},
    OtherCost{"TAN", kMuch},
};
static_assert(std::is_sorted(kFunctionCosts.begin(), kFunctionCosts.end(),
                             [](const OtherCost& a, const OtherCost& b) { return a.op < b.op; }));

/// Which elements of a table these read is said by another operand, whatever the domain. Sorted.
constexpr std::array<std::string_view, 15> kLookUps = {
    "EmbedLayerNormalization",
    "Embedding",
    "Gather",
    "GatherBlockQuantized",
    "GatherElements",
    "GatherND",
    "GatherV2",
    "QEmbedLayerNormalization",
    "embedding",
    "gather",
    "gather_nd",
    "index_select",
    "lookup_table",
    "lookup_table_v2",
    "take_along_axis",
};
static_assert(std::is_sorted(kLookUps.begin(), kLookUps.end()));

struct OperatorName {
  std::string_view domain;
  std::string_view op;
};
constexpr std::string_view kMl = "ai.onnx.ml";

/// That branch by their data; others are in operand_rules() for what they find in them.
constexpr std::array kBranching = {
    OperatorName{"", "Mod"},
    OperatorName{"", "PRelu"},
    OperatorName{"", "Shrink"},
    OperatorName{"", "StringNormalizer"},
    OperatorName{"", "TopK"},
    OperatorName{"", "TfIdfVectorizer"},
    OperatorName{kMl, "CategoryMapper"},
    OperatorName{kMl, "Imputer"},
    OperatorName{kMl, "LabelEncoder"},
    OperatorName{kMl, "TreeEnsemble"},
    OperatorName{kMl, "TreeEnsembleClassifier"},
    OperatorName{kMl, "TreeEnsembleRegressor"},
};

/// `constant`: which operands are constants.
bool is_quicker_on_repeated_data(std::string_view domain, std::string_view op,
                                 const std::vector<bool>& constant) {
  const auto is_named = [&](const OperatorName& one) {
    return one.domain == domain && one.op == op;
  };
  if (std::any_of(kBranching.begin(), kBranching.end(), is_named)) return true;
  // Indices that are computed, into a table.
  const bool has_table = std::find(constant.begin(), constant.end(), true) != constant.end();
  for (std::size_t i = 0; i < constant.size(); ++i) {
    const OperandRule* rule = constant[i] ? nullptr : operand_rule(domain, op, i);
    if (rule == nullptr) continue;
    if (rule->role == ValueRole::Data || (rule->role == ValueRole::Index && has_table)) return true;
  }
  return false;
}

/// A number of the first three letters, by which nearly every other operator is told apart at once:
/// a search asks this of every kernel of every model.
constexpr std::size_t beginning(std::string_view text) {
  return (static_cast<unsigned char>(text[0]) * 3U + static_cast<unsigned char>(text[1]) * 30U +
          static_cast<unsigned char>(text[2])) %
         256;
}
constexpr auto kBeginnings = [] {
  std::array<bool, 256> listed{};
  for (const ValueCost& cost : kCosts) listed[beginning(cost.op)] = true;
  for (const std::string_view op : kLookUps) listed[beginning(op)] = true;
  return listed;
}();

/// Of keys in other domains: the first letter of the operator's name.
constexpr auto kOtherLetters = [] {
  std::array<bool, 256> listed{};
  for (const OtherCost& cost : kOtherCosts) listed[static_cast<unsigned char>(cost.op[0])] = true;
  for (const std::string_view op : kLookUps) listed[static_cast<unsigned char>(op[0])] = true;
  listed[static_cast<unsigned char>(kFunctionOperator[0])] = true;
  return listed;
}();

/// Whether a printed key may be one of a listed operator.
bool may_be_listed(std::string_view text) {
  constexpr std::size_t kLongDomain = 32;
  if (text.size() < 3) return false;
  if (kBeginnings[beginning(text)]) return true;
  if (constexpr std::string_view kOwn = "com.microsoft:"; text.starts_with(kOwn)) {
    text.remove_prefix(kOwn.size());
    return text.size() >= 3 && kBeginnings[beginning(text)];
  }
  if (text[0] < 'a' || text[0] > 'z') return false;  // no domain
  const std::size_t colon = text.substr(0, kLongDomain).find(':');
  return colon != std::string_view::npos && colon + 1 < text.size() &&
         kOtherLetters[static_cast<unsigned char>(text[colon + 1])];
}

const ValueCost* find(std::string_view domain, std::string_view op) {
  if (!domain.empty() && !(domain == "com.microsoft" && op == "QuickGelu")) return nullptr;
  const auto at = std::lower_bound(kCosts.begin(), kCosts.end(), op,
                                   [](const ValueCost& a, std::string_view b) { return a.op < b; });
  return at == kCosts.end() || at->op != op ? nullptr : &*at;
}

/// Whether a domain is neither ONNX's nor ONNX Runtime's own.
bool is_other(std::string_view domain) {
  return !domain.empty() && !domain.starts_with("com.microsoft") && !domain.starts_with("ai.onnx");
}

template <class List>
const OtherCost* find_in(const List& list, std::string_view name) {
  const auto at = std::lower_bound(list.begin(), list.end(), name,
                                   [](const OtherCost& a, std::string_view b) { return a.op < b; });
  return at == list.end() || at->op != name ? nullptr : &*at;
}

const OtherCost* find_other(std::string_view domain, std::string_view op) {
  return is_other(domain) ? find_in(kOtherCosts, op) : nullptr;
}

/// Of the function that the operator computes.
double function_cost(const Key& key) {
  const Value* function = key.attribute(kFunctionAttribute);
  const std::string* name = function == nullptr ? nullptr : function->text();
  const OtherCost* cost = name == nullptr ? nullptr : find_in(kFunctionCosts, *name);
  return cost == nullptr ? 0 : cost->sd;
}

bool has_function(std::string_view domain, std::string_view op) {
  return op == kFunctionOperator && is_other(domain);
}

constexpr std::int64_t kLargeTableElements = std::int64_t{1} << 17;  // 512 KiB of single precision

/// Elements of a constant table, chosen by computed indices, of which the second-level cache may or
/// may not hold those that were read before: 800 rows of a table of 6 MiB took 18 us in one
/// campaign and 38 us in another, and words of a language come again sooner than random ones. Which
/// operand is the table depends on the operator; where indices are constant, all of it is.
bool looks_up_a_large_table(const Key& key) {
  bool large = false;
  bool computed = false;
  for (std::size_t i = 0; i < key.operands.size(); ++i) {
    const TensorEntry* operand = key.operand(i);
    if (operand == nullptr) continue;
    computed = computed || !operand->constant;
    large =
        large || (operand->constant && operand->shape.elements().value_or(0) > kLargeTableElements);
  }
  return large && computed;
}

}  // namespace

bool is_power_by_products(const Key& key) {
  const TensorEntry* exponent = key.operand(1);
  if (exponent == nullptr || !exponent->constant || !exponent->value) return false;
  const auto small = [](auto value) { return value == 2 || value == 3; };
  if (const double* real = exponent->value->real()) return small(*real);
  const std::int64_t* integer = exponent->value->integer();
  return integer != nullptr && small(*integer);
}

bool is_look_up(std::string_view op) {
  return std::binary_search(kLookUps.begin(), kLookUps.end(), op);
}

double value_cost_sd(const Key& key) {
  if (is_look_up(key.op)) return looks_up_a_large_table(key) ? kMuch : 0;
  if (const OtherCost* other = find_other(key.domain, key.op)) return other->sd;
  if (has_function(key.domain, key.op)) return function_cost(key);
  const ValueCost* cost = find(key.domain, key.op);
  const TensorEntry* operand = key.operand(0);
  if (cost == nullptr || operand == nullptr) return 0;
  if (key.op == "Pow" && is_power_by_products(key)) return 0;
  // Only the place of the greatest element is a matter of branches.
  if (key.op == "MaxPool" && key.result(1) == nullptr) return 0;
  const bool wide =
      operand->dtype == Dtype::F64 || operand->dtype == Dtype::I64 || operand->dtype == Dtype::U64;
  return wide ? cost->wide : cost->single;
}

double value_cost_sd(std::string_view text) {
  if (!may_be_listed(text)) return 0;
  const auto [domain, op] = head_of(text);
  if (is_look_up(op)) {
    if (text.find("c[") == std::string_view::npos) return 0;  // no constant
  } else if (const OtherCost* other = find_other(domain, op)) {
    return other->sd;
  } else if (!has_function(domain, op)) {
    const ValueCost* cost = find(domain, op);
    if (cost == nullptr) return 0;
    // What is frequent, and can be told without parsing.
    if (cost->single == 0 && text.find("(f64[") == std::string_view::npos) return 0;
    if (op == "MaxPool" && text.find(",i64[") == std::string_view::npos) return 0;
  }
  const auto key = parse(text);
  return key ? value_cost_sd(*key) : 0;
}

bool is_quicker_on_repeated_data(const Key& key) {
  std::vector<bool> constant;
  for (std::size_t i = 0; i < key.operands.size(); ++i) {
    const TensorEntry* operand = key.operand(i);
    constant.push_back(operand != nullptr && operand->constant);
  }
  return is_quicker_on_repeated_data(key.domain, key.op, constant);
}

bool is_quicker_on_repeated_data(const Graph& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const Node& node) {
    std::vector<bool> constant;
    for (const TensorId id : node.inputs)
      constant.push_back(id != kNoTensor && graph.tensors[static_cast<std::size_t>(id)].constant);
    return is_quicker_on_repeated_data(node.domain, node.op, constant) ||
           std::any_of(node.bodies.begin(), node.bodies.end(),
                       [](const auto& body) { return is_quicker_on_repeated_data(*body.second); });
  });
}

}  // namespace oplat::ir
