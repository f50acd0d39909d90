// SPDX-License-Identifier: Apache-2.0
/// From attributes full of numbers to what a key says of them. See parameters.hpp for why.
///
/// Trees are summed up by what their evaluation costs: how many there are, how many nodes and
/// weights lie in memory, how deep they are. A forest built again has the same sums; its trees are
/// alike and balanced with one long branch, which is where random data go in trees of other shapes
/// too: half of the samples leave a long branch at each of its nodes.
#include "ir/parameters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <unordered_map>

#include "base/hash.hpp"
#include "base/text.hpp"

namespace oplat::ir {
namespace {

constexpr std::string_view kValues = "values:";
constexpr std::string_view kHash = "hash:";
constexpr std::size_t kPrintedLabels = 64;
/// Lists up to these sizes stand in a key element by element.
constexpr std::size_t kMaxListElements = 1024;
constexpr std::size_t kMaxTextBytes = 16384;
/// Sizes in ONNX Runtime's memory: a weight of a leaf, a string.
constexpr double kLeafWeightBytes = 8;
constexpr double kStringBytes = 32;

enum class Role : std::uint8_t {
  Coefficients,  ///< any numbers do: never printed
  Labels,        ///< any numbers do that differ from each other: printed while few
};

struct Parameter {
  std::string_view op;
  std::string_view attribute;
  Role role;
};

constexpr std::array kParameters = {
    Parameter{"CategoryMapper", "cats_int64s", Role::Labels},
    Parameter{"CategoryMapper", "cats_strings", Role::Labels},
    Parameter{"LabelEncoder", "keys_floats", Role::Labels},
    Parameter{"LabelEncoder", "keys_int64s", Role::Labels},
    Parameter{"LabelEncoder", "keys_strings", Role::Labels},
    Parameter{"LabelEncoder", "values_floats", Role::Labels},
    Parameter{"LabelEncoder", "values_int64s", Role::Labels},
    Parameter{"LabelEncoder", "values_strings", Role::Labels},
    Parameter{"LinearClassifier", "classlabels_ints", Role::Labels},
    Parameter{"LinearClassifier", "classlabels_strings", Role::Labels},
    Parameter{"LinearClassifier", "coefficients", Role::Coefficients},
    Parameter{"LinearClassifier", "intercepts", Role::Coefficients},
    Parameter{"LinearRegressor", "coefficients", Role::Coefficients},
    Parameter{"LinearRegressor", "intercepts", Role::Coefficients},
    Parameter{"OneHotEncoder", "cats_int64s", Role::Labels},
    Parameter{"OneHotEncoder", "cats_strings", Role::Labels},
    Parameter{"SVMClassifier", "classlabels_ints", Role::Labels},
    Parameter{"SVMClassifier", "classlabels_strings", Role::Labels},
    Parameter{"SVMClassifier", "coefficients", Role::Coefficients},
    Parameter{"SVMClassifier", "prob_a", Role::Coefficients},
    Parameter{"SVMClassifier", "prob_b", Role::Coefficients},
    Parameter{"SVMClassifier", "rho", Role::Coefficients},
    Parameter{"SVMClassifier", "support_vectors", Role::Coefficients},
    Parameter{"SVMRegressor", "coefficients", Role::Coefficients},
    Parameter{"SVMRegressor", "rho", Role::Coefficients},
    Parameter{"SVMRegressor", "support_vectors", Role::Coefficients},
    Parameter{"Scaler", "offset", Role::Coefficients},
    Parameter{"Scaler", "scale", Role::Coefficients},
    Parameter{"TfIdfVectorizer", "ngram_indexes", Role::Labels},
    Parameter{"TfIdfVectorizer", "pool_int64s", Role::Labels},
    Parameter{"TfIdfVectorizer", "pool_strings", Role::Labels},
    Parameter{"TfIdfVectorizer", "weights", Role::Coefficients},
    Parameter{"TreeEnsembleClassifier", "base_values", Role::Coefficients},
    Parameter{"TreeEnsembleClassifier", "classlabels_int64s", Role::Labels},
    Parameter{"TreeEnsembleClassifier", "classlabels_strings", Role::Labels},
    Parameter{"TreeEnsembleRegressor", "base_values", Role::Coefficients},
};

const Parameter* parameter_of(std::string_view op, std::string_view attribute) {
  const auto at = std::find_if(kParameters.begin(), kParameters.end(), [&](const Parameter& p) {
    return p.op == op && p.attribute == attribute;
  });
  return at == kParameters.end() ? nullptr : &*at;
}

/// The one type of a list's elements; Any if they differ or are neither numbers nor texts.
Dtype element_type(const List& list) {
  const auto type_of = [](const Value& value) {
    return value.integer() != nullptr ? Dtype::I64
           : value.real() != nullptr  ? Dtype::F32
           : value.text() != nullptr  ? Dtype::String
                                      : Dtype::Any;
  };
  const Dtype first = list.empty() ? Dtype::Any : type_of(list.front());
  const bool alike = std::all_of(list.begin(), list.end(),
                                 [&](const Value& value) { return type_of(value) == first; });
  return alike ? first : Dtype::Any;
}

std::size_t text_bytes(const List& list) {
  std::size_t bytes = 0;
  for (const Value& value : list) bytes += value.text() != nullptr ? value.text()->size() : 0;
  return bytes;
}

void hash_value(const Value& value, base::Hasher& hasher) {
  if (const auto* text = value.text()) {
    hasher.add(*text);
  } else if (const auto* number = value.integer()) {
    hasher.add(std::to_string(*number));
  } else if (const auto* real = value.real()) {
    hasher.add(base::float_text(*real));
  } else if (const auto* list = value.list()) {
    for (const Value& each : *list) hash_value(each, hasher);
  }
  hasher.add(";");
}

std::string hashed(const Value& value) {
  base::Hasher hasher;
  hash_value(value, hasher);
  const List* list = value.list();
  return fmt::format("{}{}[{}]={}", kHash, list != nullptr ? name(element_type(*list)) : "text",
                     list != nullptr ? list->size() : value.text()->size(),
                     hasher.finish().hex().substr(0, 16));
}

/// Whether the n-gram of number i has the column i, or another order of the same columns: only then
/// a made-up vocabulary gives a result of the same width.
bool is_permutation(const List& list) {
  std::vector<bool> seen(list.size(), false);
  for (const Value& value : list) {
    const std::int64_t* number = value.integer();
    if (number == nullptr || *number < 0 || *number >= static_cast<std::int64_t>(seen.size()) ||
        seen[static_cast<std::size_t>(*number)])
      return false;
    seen[static_cast<std::size_t>(*number)] = true;
  }
  return true;
}

void summarise(std::string_view domain, std::string_view op, NamedValue& attribute) {
  Value& value = attribute.second;
  if (const auto* text = value.text(); text != nullptr && text->size() > kMaxTextBytes) {
    value = hashed(value);
    return;
  }
  const List* list = value.list();
  if (list == nullptr) return;
  const bool learned = domain == "ai.onnx.ml" || op == "TfIdfVectorizer";
  const Parameter* parameter = learned ? parameter_of(op, attribute.first) : nullptr;
  const Dtype type = element_type(*list);
  const bool countable = parameter != nullptr && type != Dtype::Any &&
                         (parameter->role == Role::Coefficients ? type == Dtype::F32
                                                                : list->size() > kPrintedLabels) &&
                         (attribute.first != "ngram_indexes" || is_permutation(*list));
  if (countable) {
    value = fmt::format("{}{}[{}]", kValues, name(type), list->size());
  } else if (list->size() > kMaxListElements || text_bytes(*list) > kMaxTextBytes) {
    value = hashed(value);
  }
}

const Value* find(const std::vector<NamedValue>& attributes, std::string_view name) {
  for (const auto& [each, value] : attributes) {
    if (each == name) return &value;
  }
  return nullptr;
}

const List* find_list(const std::vector<NamedValue>& attributes, std::string_view name) {
  const Value* value = find(attributes, name);
  return value == nullptr ? nullptr : value->list();
}

std::int64_t integer_at(const List& list, std::size_t i) {
  const std::int64_t* number = list[i].integer();
  return number == nullptr ? -1 : *number;
}

struct NodeId {
  std::int64_t tree;
  std::int64_t node;
  friend bool operator==(const NodeId&, const NodeId&) = default;
};
struct NodeIdHash {
  std::size_t operator()(const NodeId& id) const {
    return static_cast<std::size_t>(id.tree) * 0x9E3779B97F4A7C15U ^
           static_cast<std::size_t>(id.node);
  }
};

/// Adds up the trees of a node of TreeEnsemble*; std::nullopt if they are not trees.
class ForestReader {
 public:
  explicit ForestReader(const std::vector<NamedValue>& attributes)
      : attributes_(attributes),
        trees_(find_list(attributes, "nodes_treeids")),
        ids_(find_list(attributes, "nodes_nodeids")),
        modes_(find_list(attributes, "nodes_modes")),
        true_(find_list(attributes, "nodes_truenodeids")),
        false_(find_list(attributes, "nodes_falsenodeids")),
        features_(find_list(attributes, "nodes_featureids")) {}

  std::optional<Forest> read() {
    if (trees_ == nullptr) return std::nullopt;
    for (const List* list : {ids_, modes_, true_, false_, features_}) {
      if (list == nullptr || list->size() != trees_->size()) return std::nullopt;
    }
    for (std::size_t i = 0; i < trees_->size(); ++i) {
      if (!at_.emplace(NodeId{integer_at(*trees_, i), integer_at(*ids_, i)}, i).second)
        return std::nullopt;
    }
    forest_.nodes = static_cast<std::int64_t>(trees_->size());
    if (!read_nodes() || !read_depth() || !read_weights()) return std::nullopt;
    forest_.doubles = find(attributes_, "nodes_values_as_tensor") != nullptr;
    return forest_;
  }

 private:
  bool is_leaf(std::size_t i) const {
    return (*modes_)[i].text() != nullptr && *(*modes_)[i].text() == "LEAF";
  }

  bool read_nodes() {
    std::set<std::string> modes;
    std::set<std::int64_t> trees;
    for (std::size_t i = 0; i < trees_->size(); ++i) {
      trees.insert(integer_at(*trees_, i));
      if ((*modes_)[i].text() == nullptr) return false;
      if (is_leaf(i)) continue;
      modes.insert(*(*modes_)[i].text());
      forest_.features = std::max(forest_.features, integer_at(*features_, i) + 1);
    }
    forest_.trees = static_cast<std::int64_t>(trees.size());
    for (const std::string& mode : modes) forest_.modes.emplace_back(mode);
    return true;
  }

  /// Walks from every node that is nobody's child. A node that is met twice does not belong to a
  /// tree.
  bool read_depth() {
    std::vector<bool> child(trees_->size(), false);
    std::vector<std::array<std::size_t, 2>> children(trees_->size());
    for (std::size_t i = 0; i < trees_->size(); ++i) {
      if (is_leaf(i)) continue;
      for (const auto& [list, slot] : {std::pair(true_, 0U), std::pair(false_, 1U)}) {
        const auto at = at_.find({integer_at(*trees_, i), integer_at(*list, i)});
        if (at == at_.end() || child[at->second] || at->second == i) return false;
        child[at->second] = true;
        children[i][slot] = at->second;
      }
    }
    std::size_t met = 0;
    std::int64_t roots = 0;
    std::vector<std::pair<std::size_t, std::int64_t>> open;
    for (std::size_t i = 0; i < trees_->size(); ++i) {
      if (child[i]) continue;
      ++roots;
      open.emplace_back(i, 0);
      while (!open.empty()) {
        const auto [node, depth] = open.back();
        open.pop_back();
        ++met;
        forest_.depth = std::max(forest_.depth, depth);
        if (is_leaf(node)) continue;
        for (const std::size_t next : children[node]) open.emplace_back(next, depth + 1);
      }
    }
    return met == trees_->size() && roots == forest_.trees;
  }

  bool read_weights() {
    const List* ids = find_list(attributes_, "class_ids");
    if (ids == nullptr) ids = find_list(attributes_, "target_ids");
    if (ids == nullptr) return false;
    std::set<std::int64_t> distinct;
    for (std::size_t i = 0; i < ids->size(); ++i) distinct.insert(integer_at(*ids, i));
    forest_.weights = static_cast<std::int64_t>(ids->size());
    forest_.ids = static_cast<std::int64_t>(distinct.size());
    return true;
  }

  const std::vector<NamedValue>& attributes_;
  const List* trees_;
  const List* ids_;
  const List* modes_;
  const List* true_;
  const List* false_;
  const List* features_;
  std::unordered_map<NodeId, std::size_t, NodeIdHash> at_;
  Forest forest_;
};

bool is_part_of_trees(std::string_view name) {
  if (name == "n_targets") return false;
  return name.starts_with("nodes_") || name.starts_with("class_") || name.starts_with("target_");
}

void summarise_trees(std::vector<NamedValue>& attributes) {
  const auto forest = ForestReader(attributes).read();
  if (!forest) return;
  std::erase_if(attributes, [](const NamedValue& named) { return is_part_of_trees(named.first); });
  attributes.emplace_back("forest_depth", forest->depth);
  attributes.emplace_back("forest_features", forest->features);
  attributes.emplace_back("forest_ids", forest->ids);
  attributes.emplace_back("forest_modes", forest->modes);
  attributes.emplace_back("forest_nodes", forest->nodes);
  attributes.emplace_back("forest_trees", forest->trees);
  attributes.emplace_back("forest_weights", forest->weights);
  if (forest->doubles) attributes.emplace_back("forest_type", "f64");
}

/// Of "tensor:f64c[1000]": what an attribute that is a tensor takes.
double tensor_bytes(std::string_view text) {
  const auto key = parse(fmt::format("T{{}}({})->()", text));
  const TensorEntry* entry = key ? key->operand(0) : nullptr;
  if (entry == nullptr) return 0;
  const double elements = static_cast<double>(entry->shape.elements().value_or(0));
  return entry->dtype == Dtype::String ? elements * kStringBytes
                                       : elements * bits(entry->dtype).value_or(0) / 8;
}

}  // namespace

std::optional<CountedValues> counted_values(std::string_view text) {
  if (!text.starts_with(kValues) || !text.ends_with(']')) return std::nullopt;
  text.remove_prefix(kValues.size());
  text.remove_suffix(1);
  const std::size_t bracket = text.find('[');
  if (bracket == std::string_view::npos) return std::nullopt;
  const auto dtype = parse_dtype(text.substr(0, bracket));
  const auto count = base::parse_int(text.substr(bracket + 1));
  if (!dtype || !count || *count < 0) return std::nullopt;
  if (*dtype != Dtype::F32 && *dtype != Dtype::I64 && *dtype != Dtype::String) return std::nullopt;
  return CountedValues{*dtype, *count};
}

bool is_hashed_list(std::string_view text) { return text.starts_with(kHash); }

std::optional<Forest> forest_of(const Key& key) {
  Forest forest;
  for (const auto& [name, target] :
       {std::pair("forest_depth", &forest.depth), std::pair("forest_features", &forest.features),
        std::pair("forest_ids", &forest.ids), std::pair("forest_nodes", &forest.nodes),
        std::pair("forest_trees", &forest.trees), std::pair("forest_weights", &forest.weights)}) {
    const Value* value = key.attribute(name);
    if (value == nullptr || value->integer() == nullptr || *value->integer() < 0)
      return std::nullopt;
    *target = *value->integer();
  }
  const Value* modes = key.attribute("forest_modes");
  if (modes == nullptr || modes->list() == nullptr) return std::nullopt;
  forest.modes = *modes->list();
  const Value* type = key.attribute("forest_type");
  forest.doubles = type != nullptr && type->text() != nullptr && *type->text() == "f64";
  return forest;
}

void summarise_parameters(std::string_view domain, std::string_view op,
                          std::vector<NamedValue>& attributes) {
  if (domain == "ai.onnx.ml" && (op == "TreeEnsembleRegressor" || op == "TreeEnsembleClassifier")) {
    summarise_trees(attributes);
  }
  for (NamedValue& attribute : attributes) summarise(domain, op, attribute);
}

double parameter_bytes(std::span<const NamedValue> attributes) {
  double bytes = 0;
  for (const auto& [name, value] : attributes) {
    if (const auto* text = value.text()) {
      if (const auto counted = counted_values(*text)) {
        const double size = counted->dtype == Dtype::String ? kStringBytes
                            : counted->dtype == Dtype::I64  ? 8.0
                                                            : 4.0;
        bytes += static_cast<double>(counted->count) * size;
      } else if (text->starts_with("tensor:")) {
        bytes += tensor_bytes(std::string_view(*text).substr(7));
      }
    } else if (const auto* number = value.integer()) {
      if (name == "forest_nodes") bytes += static_cast<double>(*number) * kNodeBytes;
      if (name == "forest_weights") bytes += static_cast<double>(*number) * kLeafWeightBytes;
    }
  }
  return bytes;
}

}  // namespace oplat::ir
