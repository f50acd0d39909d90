// SPDX-License-Identifier: Apache-2.0
/// oplat rules [NAME|FILE]: the built-in fusion rules, or a check of your own file
#include "app/rules.hpp"
#include "cli/commands/commands.hpp"

namespace oplat::cli {
namespace {

struct RulesFlags {
  std::string file;
  FormOptions form;
};

Result<int> run_rules_command(const RulesFlags& flags) {
  OPLAT_CHECK(check_out(flags.form, {flags.file}));
  app::Events events;
  OPLAT_TRY(sets, app::rules({flags.file}, events));
  OPLAT_CHECK(print_document(flags.form, app::rule_list(sets)));
  return kDone;
}

}  // namespace

void add_rules(const Command& app) {
  const auto [command, flags] = add_command(
      app, "rules",
      "list the fusion rules for 'oplat plan --plan rules:NAME', or check a file of rules",
      run_rules_command);
  command.add_option("FILE", flags->file, "rule file or name (docs/reference/fusion-rules.md)");
  add_form<report::RuleList>(command, flags->form);
}

}  // namespace oplat::cli
