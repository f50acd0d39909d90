// SPDX-License-Identifier: Apache-2.0
/// The catalogue: the list of its families, look-up, and the canonical form of keys.
#include "ir/catalogue.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/text.hpp"
#include "ir/onnx_domain.hpp"
#include "ir/operators/arguments.hpp"
#include "ir/operators/list.hpp"
#include "ir/view.hpp"

namespace oplat::ir {
namespace {

/// Constants of more elements are weights, whose values a key does not hold.
constexpr std::int64_t kMaxPrintedElements = 64;

/// Attributes of any operator that no kernel reads: left over from ONNX's first versions, or for
/// people.
constexpr std::array<std::string_view, 2> kInertEverywhere = {"consumed_inputs", "doc_string"};

/// ONNX stores floats in 32 bits; as doubles, 0.01F would print as 0.009999999776482582. Keys hold
/// the double that the shortest text of the 32-bit number reads back to, which gives the same
/// 32-bit number.
double shortest_float32(double value) {
  if (!(std::fabs(value) <= double{std::numeric_limits<float>::max()})) return value;
  constexpr double kWhole = 1e6;  // whole numbers below have the same shortest text in any size
  if (std::fabs(value) < kWhole && value == std::trunc(value)) return value;
  const auto narrow = static_cast<float>(value);
  if (double{narrow} != value) return value;
  char text[64];
  const auto end = std::to_chars(text, text + sizeof text, narrow).ptr;
  return base::parse_double(std::string_view(text, static_cast<std::size_t>(end - text)))
      .value_or(value);
}

void shorten_floats(Value& value) {
  if (auto* list = std::get_if<List>(&value.data)) {
    for (Value& element : *list) shorten_floats(element);
  } else if (auto* real = std::get_if<double>(&value.data)) {
    *real = shortest_float32(*real);
  }
}

/// One value if all of several are equal; a list of one for a shape with dimensions; a plain value
/// for a scalar.
void compact(Value& value, const Shape& shape) {
  const auto elements = shape.elements();
  if (!elements) return;
  if (auto* list = std::get_if<List>(&value.data)) {
    // Values of constants are flat; what untrusted input nested stays as it is.
    if (list->empty() || list->front().list() != nullptr) return;
    const bool alike =
        std::all_of(list->begin(), list->end(), [&](const Value& v) { return v == list->front(); });
    const bool scalar = shape.dims.empty() && list->size() == 1;
    if (scalar || (list->size() > 1 && static_cast<std::uint64_t>(*elements) == list->size() &&
                   alike && !list->front().unknown())) {
      Value first = std::move(list->front());
      value = std::move(first);
    }
  } else if (*elements == 1 && !shape.dims.empty() && !value.unknown()) {
    List one;
    one.push_back(std::move(value));
    value = std::move(one);
  }
}

bool is_printed(const TensorEntry& tensor, std::size_t index, const OperatorInfo* info) {
  if (!tensor.constant) return false;
  const auto elements = tensor.shape.elements();
  // One value for all elements is short whatever their number: zero points of many channels that
  // are all zero.
  if (elements && *elements > kMaxPrintedElements && tensor.value &&
      tensor.value->list() != nullptr)
    return false;
  const auto lists = [&](const std::vector<std::size_t>& operands) {
    return std::find(operands.begin(), operands.end(), index) != operands.end();
  };
  if (is_float(tensor.dtype)) return info != nullptr && lists(info->printed_float_operands);
  return info == nullptr || !lists(info->unprinted_operands);
}

void canonicalise_operands(Key& key, const OperatorInfo* info) {
  for (std::size_t i = 0; i < key.operands.size(); ++i) {
    if (const auto* alias = std::get_if<AliasEntry>(&key.operands[i])) {
      const std::size_t index = alias->index;
      const TensorEntry* target = key.operand(i);
      if (target == nullptr) continue;
      if (target->constant) {
        // "&i" is for tensors that move; a constant used twice is written twice.
        key.operands[i] = TensorEntry(*target);
      } else if (const auto* next = std::get_if<AliasEntry>(&key.operands[index])) {
        key.operands[i] = AliasEntry(*next);
      }
    }
    auto* tensor = std::get_if<TensorEntry>(&key.operands[i]);
    if (tensor == nullptr || !tensor->value) continue;
    if (!is_printed(*tensor, i, info)) {
      tensor->value.reset();
      continue;
    }
    if (tensor->dtype == Dtype::F32) shorten_floats(*tensor->value);
    compact(*tensor->value, tensor->shape);
  }
  for (Entry& result : key.results) {
    const auto* alias = std::get_if<AliasEntry>(&result);
    if (alias == nullptr || alias->index >= key.operands.size()) continue;
    if (const auto* next = std::get_if<AliasEntry>(&key.operands[alias->index]))
      result = AliasEntry(*next);
  }
}

/// A Cast to the type that its operand has, over which it may write: the runtime compares the two
/// addresses and does nothing.
bool casts_nothing(const Key& key) {
  return key.domain.empty() && key.op == "Cast" && key.results.size() == 1 &&
         std::holds_alternative<AliasEntry>(key.results[0]);
}

}  // namespace

Catalogue::Catalogue(std::span<const KeyDomain* const> domains)
    : domains_(domains.begin(), domains.end()) {
  const auto add = [&](std::vector<OperatorInfo> list) {
    for (OperatorInfo& info : list) operators_.push_back(std::move(info));
  };
  for (const auto family : ops::kFamilies) add(family());
  for (const KeyDomain* domain : domains_) add(domain->operators());
  for (const OperatorInfo& info : operators_)
    if (find(info.domain, info.op) == nullptr) index_.emplace(info.op, &info);
}

const OperatorInfo* Catalogue::find(std::string_view domain, std::string_view op) const {
  const std::string_view wanted = domain == "ai.onnx" ? "" : domain;
  const auto [first, last] = index_.equal_range(op);
  const auto found =
      std::find_if(first, last, [&](const auto& one) { return one.second->domain == wanted; });
  return found == last ? nullptr : found->second;
}

const KeyDomain* Catalogue::domain(std::string_view name) const {
  for (const KeyDomain* domain : domains_)
    if (domain->name() == name) return domain;
  return nullptr;
}

const KeyDomain* Catalogue::domain_of(std::string_view key) const {
  for (const KeyDomain* domain : domains_) {
    const std::string_view name = domain->name();
    if (key.size() > name.size() && key[name.size()] == ':' && key.starts_with(name)) return domain;
  }
  return nullptr;
}

const KeyDomain* Catalogue::aliasing_domain_of(std::string_view key) const {
  const KeyDomain* domain = domain_of(key);
  return domain != nullptr && domain->has_aliases() ? domain : nullptr;
}

const Catalogue& Catalogue::own() {
  static const Catalogue catalogue;
  return catalogue;
}

Result<Key> KeyDomain::kernel_key(const Graph&, const Node& node) const {
  return fail(Code::Input, "{}: nodes of the domain '{}' have no key", base::printable(node.op),
              name());
}

void canonicalise(Key& key) { canonicalise(key, Catalogue::own().find(key.domain, key.op)); }

void canonicalise(Key& key, const OperatorInfo* info) {
  if (key.domain == "ai.onnx") key.domain.clear();
  if (is_onnx_family(key.domain)) {
    for (NamedValue& attribute : key.attributes) shorten_floats(attribute.second);
    if (key.since) {
      for (const auto& [name, value] : default_attributes(key.domain, key.op, *key.since)) {
        if (key.attribute(name) == nullptr) key.attributes.emplace_back(name, value);
      }
    }
    if (info != nullptr && info->canonicalise != nullptr) info->canonicalise(key);
    std::erase_if(key.attributes, [&](const NamedValue& attribute) {
      const auto inert = [&](const auto& names) {
        return std::find(names.begin(), names.end(), attribute.first) != names.end();
      };
      return inert(kInertEverywhere) || (info != nullptr && inert(info->inert));
    });
    canonicalise_operands(key, info);
  }
  key.canonicalise();
}

bool may_name_view(std::string_view key, const Catalogue& catalogue) {
  const std::string_view head = key.substr(0, key.find_first_of("/@{("));
  const std::size_t colon = head.rfind(':');
  const bool own = colon == std::string_view::npos;
  const std::string_view op = own ? head : head.substr(colon + 1);
  const OperatorInfo* info = catalogue.find(own ? std::string_view() : head.substr(0, colon), op);
  return info != nullptr && (info->view || (own && op == "Cast"));
}

bool names_view(std::string_view key, const Catalogue& catalogue) {
  if (!may_name_view(key, catalogue)) return false;
  const auto parsed = parse(key);
  return parsed && is_view(*parsed, catalogue);
}

bool is_view(const Key& key, const Catalogue& catalogue) {
  const OperatorInfo* info = catalogue.find(key.domain, key.op);
  if (info == nullptr || key.tag(kCopiedTag) != nullptr) return false;
  return info->view || casts_nothing(key);
}

}  // namespace oplat::ir
