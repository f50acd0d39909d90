// SPDX-License-Identifier: Apache-2.0
/// Rule sets by name.
#include <algorithm>

#include "base/text.hpp"
#include "plan/rules.hpp"

namespace oplat::plan {
namespace {

std::string_view without_version(std::string_view name) { return name.substr(0, name.rfind('@')); }

/// The one called `name`, or the first (newest) whose name without version is that.
const RuleSet* find_set(std::span<const RuleSet> sets, std::string_view name) {
  const auto found = std::find_if(sets.begin(), sets.end(), [&](const RuleSet& set) {
    return set.name == name || without_version(set.name) == name;
  });
  return found == sets.end() ? nullptr : &*found;
}

}  // namespace

std::vector<std::string> rule_set_names(std::span<const RuleSet> built_in) {
  std::vector<std::string> names;
  for (const RuleSet& set : built_in) names.push_back(set.name);
  return names;
}

Result<RuleSet> built_in_rules(std::string_view name, std::span<const RuleSet> built_in) {
  if (const RuleSet* found = find_set(built_in, name)) return *found;
  return fail(Code::Usage,
              "there are no rules '{}'; there are {}, or give a file (rules:FILE.yaml)",
              base::printable(name), base::join(rule_set_names(built_in), ", "));
}

Result<RuleSet> rules_named(std::string_view name, std::span<const RuleSet> built_in) {
  constexpr std::string_view kSuffix = ".yaml";
  const std::size_t end = name.find(std::string(kSuffix) + "@");
  const std::string_view path =
      end == std::string_view::npos ? name : name.substr(0, end + kSuffix.size());
  if (!path.ends_with(kSuffix)) return built_in_rules(name, built_in);
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
