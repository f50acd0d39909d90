// SPDX-License-Identifier: Apache-2.0
/// oplat rules [FILE]: the built-in fusion rules, or a check of your own file
#include <memory>

#include "app/rules.hpp"
#include "cli/commands/commands.hpp"

namespace oplat::cli {
namespace {

Result<int> run_rules_command(const std::string& file, const FormOptions& form) {
  OPLAT_CHECK(check_out(form, {file}));
  app::Events events;
  OPLAT_TRY(sets, app::rules({file}, events));
  OPLAT_CHECK(print_document(form, app::rule_list(sets)));
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
  command.runs([flags] { return run_rules_command(flags->file, flags->form); });
}

}  // namespace oplat::cli
