// SPDX-License-Identifier: Apache-2.0
/// Use case: which fusion rules there are, or whether a file of rules is well-formed.
#pragma once

#include <string>
#include <vector>

#include "app/events.hpp"
#include "base/result.hpp"
#include "plan/rules.hpp"
#include "report/lists.hpp"

namespace oplat::app {

struct RulesRequest {
  std::string file = {};  ///< a rule file (YAML); empty: the built-in rule sets
};

/// The rule sets. Code::Input: the file, with line and reason.
Result<std::vector<plan::RuleSet>> rules(const RulesRequest& request, Events& events);

/// What `oplat rules` says of them.
report::RuleList rule_list(const std::vector<plan::RuleSet>& sets);

}  // namespace oplat::app
