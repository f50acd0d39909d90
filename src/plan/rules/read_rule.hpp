// SPDX-License-Identifier: Apache-2.0
/// One pass of a rule file.
#pragma once

#include <string>

#include "base/yaml_fields.hpp"
#include "plan/rules/rule.hpp"

namespace oplat::plan::rules {

/// A rule from its entries, variables replaced. Code::Input names the line.
Result<Rule> read_rule(const std::string& file, const base::Fields& fields,
                       const std::string& name);
Result<CastRule> read_casts(const std::string& file, const base::Yaml& node);
/// What no graph can show: patterns that cannot match and rules without an end.
Status check_rule(const std::string& file, const Rule& rule);

}  // namespace oplat::plan::rules
