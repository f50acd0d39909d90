// SPDX-License-Identifier: Apache-2.0
/// oplat rules [FILE]: the built-in fusion rules, or a file of one's own, checked
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/options.hpp"
#include "cli/output.hpp"
#include "compat/registry.hpp"
#include "plan/rules.hpp"

namespace oplat::cli {
namespace {

Result<std::vector<plan::RuleSet>> sets_of(const std::string& file) {
  if (!file.empty()) {
    OPLAT_TRY(source, base::Source::open(file));
    return plan::read_rules(source);
  }
  std::vector<plan::RuleSet> sets;
  for (const std::string& name : plan::rule_set_names(compat::rule_sets())) {
    OPLAT_TRY(set, plan::built_in_rules(name, compat::rule_sets()));
    sets.push_back(std::move(set));
  }
  return sets;
}

Result<int> run_rules(const std::string& file, bool json) {
  OPLAT_TRY(sets, sets_of(file));
  if (json) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const plan::RuleSet& set : sets)
      list.push_back({{"name", set.name},
                      {"runtime", set.runtime},
                      {"version", set.version},
                      {"reads", set.reads},
                      {"passes", set.passes.size()},
                      {"options", set.options},
                      {"hash", set.hash}});
    print_json({{"schema", "oplat.rules/1"}, {"rules", std::move(list)}});
    return kDone;
  }
  for (const plan::RuleSet& set : sets)
    fmt::print("{:<24} for models of {}, rows of {}: {} passes\n", set.name, set.reads, set.runtime,
               set.passes.size());
  return kDone;
}

}  // namespace

void add_rules(const Command& app) {
  struct RulesFlags {
    std::string file;
    bool json = false;
  };
  const Command command = app.add_subcommand(
      "rules",
      "list the fusion rules for 'oplat plan --plan rules:NAME', or check a file of rules");
  const auto flags = std::make_shared<RulesFlags>();
  command.add_option("FILE", flags->file, "rule file (docs/reference/fusion-rules.md)");
  command.add_flag("--json", flags->json, "print JSON");
  command.runs([flags] { return run_rules(flags->file, flags->json); });
}

}  // namespace oplat::cli
