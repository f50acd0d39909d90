// SPDX-License-Identifier: Apache-2.0
/// oplat rules [FILE]: the built-in fusion rules, or a file of one's own, checked
#include <memory>

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

Result<int> run_rules(const std::string& file, const FormOptions& form) {
  OPLAT_CHECK(check_out(form, {file}));
  OPLAT_TRY(sets, sets_of(file));
  report::RuleList list;
  for (const plan::RuleSet& set : sets) {
    list.rules.push_back(
        {set.name, set.runtime, set.version, set.reads, set.passes.size(), set.options, set.hash});
  }
  OPLAT_CHECK(print_report(form, report::ReportModel{std::move(list), {}}));
  return kDone;
}

}  // namespace

void add_rules(const Command& app) {
  struct RulesFlags {
    std::string file;
    FormOptions form;
  };
  const Command command = app.add_subcommand(
      "rules",
      "list the fusion rules for 'oplat plan --plan rules:NAME', or check a file of rules");
  const auto flags = std::make_shared<RulesFlags>();
  command.add_option("FILE", flags->file, "rule file (docs/reference/fusion-rules.md)");
  add_form<report::RuleList>(command, flags->form);
  command.runs([flags] { return run_rules(flags->file, flags->form); });
}

}  // namespace oplat::cli
