// SPDX-License-Identifier: Apache-2.0
/// The built-in rule sets, and sets by name.
#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "plan/rules.hpp"
#include "plan/rules/built_in.hpp"

namespace oplat::plan {
namespace {

struct BuiltIn {
  std::string_view file;
  std::string_view (*text)();
};
constexpr std::array kBuiltIn = {BuiltIn{"paddle-lite.yaml", rules::paddle_lite_rules}};

/// Read once; Code::Internal where a file does not hold what it should.
const Result<std::vector<RuleSet>>& built_in_sets() {
  static const Result<std::vector<RuleSet>> sets = []() -> Result<std::vector<RuleSet>> {
    std::vector<RuleSet> all;
    for (const BuiltIn& one : kBuiltIn) {
      auto read =
          read_rules(base::Source::from_bytes(std::string(one.file), std::string(one.text())));
      if (!read) return fail(Code::Internal, "built-in rules: {}", read.error().message);
      all.insert(all.end(), read->begin(), read->end());
    }
    return all;
  }();
  return sets;
}

std::string_view without_version(std::string_view name) { return name.substr(0, name.rfind('@')); }

/// The one called `name`, or the first (newest) whose name without version is that.
const RuleSet* find_set(const std::vector<RuleSet>& sets, std::string_view name) {
  const auto found = std::find_if(sets.begin(), sets.end(), [&](const RuleSet& set) {
    return set.name == name || without_version(set.name) == name;
  });
  return found == sets.end() ? nullptr : &*found;
}

}  // namespace

std::vector<std::string> rule_set_names() {
  std::vector<std::string> names;
  if (!built_in_sets()) return names;
  for (const RuleSet& set : *built_in_sets()) names.push_back(set.name);
  return names;
}

Result<RuleSet> built_in_rules(std::string_view name) {
  OPLAT_TRY(sets, built_in_sets());
  if (const RuleSet* found = find_set(sets, name)) return *found;
  return fail(Code::Usage,
              "there are no rules '{}'; there are {}, or give a file (rules:FILE.yaml)",
              base::printable(name), base::join(rule_set_names(), ", "));
}

Result<RuleSet> rules_named(std::string_view name) {
  constexpr std::string_view kSuffix = ".yaml";
  const std::size_t end = name.find(std::string(kSuffix) + "@");
  const std::string_view path =
      end == std::string_view::npos ? name : name.substr(0, end + kSuffix.size());
  if (!path.ends_with(kSuffix)) return built_in_rules(name);
  OPLAT_TRY(source, base::Source::open(std::string(path)));
  OPLAT_TRY(sets, read_rules(source));
  if (path == name) return sets.front();
  const std::string_view version = name.substr(path.size() + 1);
  const auto found = std::find_if(sets.begin(), sets.end(),
                                  [&](const RuleSet& set) { return set.version == version; });
  if (found != sets.end()) return *found;
  std::vector<std::string> versions;
  for (const RuleSet& set : sets) versions.push_back(set.version);
  return fail(Code::Usage, "{} has no version '{}'; it has {}", path, base::printable(version),
              base::join(versions, ", "));
}

}  // namespace oplat::plan
