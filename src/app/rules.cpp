// SPDX-License-Identifier: Apache-2.0
#include "app/rules.hpp"

#include <filesystem>
#include <utility>

#include "base/files.hpp"
#include "compat/registry.hpp"

namespace oplat::app {

Result<std::vector<plan::RuleSet>> rules(const RulesRequest& request, Events& events) {
  static_cast<void>(events);  // takes milliseconds and has nothing to report
  if (!request.file.empty()) {
    std::error_code error;
    if (!request.file.ends_with(".yaml") && !std::filesystem::exists(request.file, error)) {
      OPLAT_TRY(known, plan::built_in_rules(request.file, compat::rule_sets()));
      return std::vector<plan::RuleSet>{std::move(known)};
    }
    OPLAT_TRY(source, base::Source::open(request.file));
    return plan::read_rules(source);
  }
  std::vector<plan::RuleSet> sets;
  for (const std::string& name : plan::rule_set_names(compat::rule_sets())) {
    OPLAT_TRY(set, plan::built_in_rules(name, compat::rule_sets()));
    sets.push_back(std::move(set));
  }
  return sets;
}

report::RuleList rule_list(const std::vector<plan::RuleSet>& sets) {
  report::RuleList list;
  for (const plan::RuleSet& set : sets) {
    list.rules.push_back(
        {set.name, set.runtime, set.version, set.reads, set.passes.size(), set.options, set.hash});
  }
  return list;
}

}  // namespace oplat::app
