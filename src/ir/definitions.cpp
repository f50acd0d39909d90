// SPDX-License-Identifier: Apache-2.0
/// Which operator-set version defined an operator, and the defaults of its attributes.
#include <fmt/format.h>

#include <algorithm>
#include <array>

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

/// The domain whose definitions hold: ONNX's own has two spellings, and ONNX Runtime's
/// channels-last domain holds ONNX's operators under ONNX's versions.
std::string_view defining_domain(std::string_view domain) {
  return domain == "ai.onnx" || domain == "com.ms.internal.nhwc" ? "" : domain;
}

/// Every version of an operator, oldest first.
std::span<const Definition> versions(std::string_view domain, std::string_view op) {
  struct ByName {
    bool operator()(const Definition& d, std::pair<std::string_view, std::string_view> name) const {
      return std::pair(d.domain, d.op) < name;
    }
    bool operator()(std::pair<std::string_view, std::string_view> name, const Definition& d) const {
      return name < std::pair(d.domain, d.op);
    }
  };
  const auto name = std::pair(defining_domain(domain), op);
  const auto [first, last] =
      std::equal_range(std::begin(kDefinitions), std::end(kDefinitions), name, ByName{});
  return {first, last};
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
  return since;
}

std::vector<NamedValue> default_attributes(std::string_view domain, std::string_view op,
                                           std::int64_t since) {
  for (const Definition& definition : versions(domain, op)) {
    if (definition.since != since) continue;
    // The list is in the grammar of keys, so the parser of keys reads it; a test reads every line.
    auto key = parse(fmt::format("defaults{{{}}}()->()", definition.defaults));
    return key ? std::move(key->attributes) : std::vector<NamedValue>{};
  }
  return {};
}

}  // namespace oplat::ir
