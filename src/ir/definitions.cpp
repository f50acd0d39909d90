// SPDX-License-Identifier: Apache-2.0
/// Which operator-set version defined an operator, and the defaults of its attributes.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <span>
#include <unordered_map>

#include "ir/catalogue.hpp"

namespace oplat::ir {
namespace {

struct Definition {
  std::string_view domain;
  std::string_view op;
  std::int64_t since;
  std::string_view defaults;
};

constexpr Definition kDefinitions[] = {
#include "ir/onnx_definitions.inc"
};

/// Results that a definition lets a model leave out: bit i for result i.
struct OptionalResults {
  std::string_view domain;
  std::string_view op;
  std::int64_t since;
  std::uint32_t bits;
};

constexpr OptionalResults kOptionalResults[] = {
#include "ir/onnx_optional_results.inc"
};

/// Of an integer attribute; std::nullopt if it is missing or something else.
std::optional<std::int64_t> integer_attribute(const Key& key, std::string_view name) {
  const Value* value = key.attribute(name);
  if (value == nullptr || value->integer() == nullptr) return std::nullopt;
  return *value->integer();
}

/// In training mode it computes the statistics of the batch and writes them, wanted or not: ONNX
/// Runtime reads the addresses of results that its definition calls optional.
bool trains(const Key& key) {
  return key.domain.empty() && key.op == "BatchNormalization" &&
         integer_attribute(key, "training_mode").value_or(0) != 0;
}

/// Operators of ONNX's first versions that ONNX does not define any more and that ONNX Runtime
/// still executes, in models of operator sets below 10.
constexpr std::array<std::string_view, 7> kLegacy = {
    "Affine", "Crop", "DynamicSlice", "ImageScaler", "ParametricSoftplus", "Scale", "ScaledTanh"};

/// The domain whose definitions hold: ONNX's own has two spellings, and ONNX Runtime's
/// channels-last domain holds ONNX's operators under ONNX's versions.
std::string_view defining_domain(std::string_view domain) {
  return domain == "ai.onnx" || domain == "com.ms.internal.nhwc" ? "" : domain;
}

/// Every version of an operator, oldest first. The list is sorted by domain and operator.
std::span<const Definition> versions(std::string_view domain, std::string_view op) {
  using Index = std::unordered_multimap<std::string_view, std::span<const Definition>>;
  static const Index kIndex = [] {
    Index index;
    const Definition* first = std::begin(kDefinitions);
    while (first != std::end(kDefinitions)) {
      const Definition* last = std::find_if(first, std::end(kDefinitions), [&](const auto& one) {
        return one.op != first->op || one.domain != first->domain;
      });
      index.emplace(first->op, std::span(first, last));
      first = last;
    }
    return index;
  }();
  const std::string_view wanted = defining_domain(domain);
  const auto [first, last] = kIndex.equal_range(op);
  const auto found = std::find_if(
      first, last, [&](const auto& one) { return one.second.front().domain == wanted; });
  return found == last ? std::span<const Definition>() : found->second;
}

}  // namespace

std::optional<std::int64_t> since_version(std::string_view domain, std::string_view op,
                                          std::int64_t opset_version) {
  std::optional<std::int64_t> since;
  for (const Definition& definition : versions(domain, op)) {
    if (definition.since <= opset_version) since = definition.since;
  }
  // ONNX Runtime's own domains have only ever had version 1; an operator newer than our list is not
  // an exception.
  if (!since && domain.starts_with("com.microsoft") && opset_version >= 1) since = 1;
  constexpr std::int64_t kEndOfLegacy = 10;
  const bool legacy = defining_domain(domain).empty() && opset_version < kEndOfLegacy &&
                      std::find(kLegacy.begin(), kLegacy.end(), op) != kLegacy.end();
  if (!since && legacy && opset_version >= 1) since = 1;
  return since;
}

bool is_optional_result(const Key& key, std::size_t result) {
  if (trains(key)) return false;
  const std::string_view domain = defining_domain(key.domain);
  for (const OptionalResults& entry : kOptionalResults) {
    if (entry.domain == domain && entry.op == key.op && entry.since == key.since.value_or(1))
      return result < 32 && (entry.bits >> result & 1U) != 0;
  }
  return false;
}

std::size_t required_results(const Key& key) {
  constexpr std::size_t kTrainingResults = 3;
  return trains(key) ? std::max(kTrainingResults, key.results.size()) : key.results.size();
}

const std::vector<NamedValue>& default_attributes(std::string_view domain, std::string_view op,
                                                  std::int64_t since) {
  // Read when they are first asked for.
  struct Defaults {
    std::once_flag read;
    std::vector<NamedValue> attributes;
  };
  static std::array<Defaults, std::size(kDefinitions)> all;
  static const std::vector<NamedValue> kNone;
  for (const Definition& definition : versions(domain, op)) {
    if (definition.since != since) continue;
    Defaults& defaults = all[static_cast<std::size_t>(&definition - std::begin(kDefinitions))];
    std::call_once(defaults.read, [&] {
      // The list is in the grammar of keys, so the parser of keys reads it; a test reads every
      // line.
      if (auto key = parse(fmt::format("defaults{{{}}}()->()", definition.defaults)))
        defaults.attributes = std::move(key->attributes);
    });
    return defaults.attributes;
  }
  return kNone;
}

}  // namespace oplat::ir
