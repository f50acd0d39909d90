// SPDX-License-Identifier: Apache-2.0
/// oplat runtimes
#include "app/runtimes.hpp"
#include "cli/commands/commands.hpp"

namespace oplat::cli {
namespace {

Result<int> run_runtimes(const FormOptions& form) {
  TerminalEvents events({});
  OPLAT_TRY(list, app::list_runtimes({}, events));
  OPLAT_CHECK(print_document(form, std::move(list)));
  return kDone;
}

}  // namespace

void add_runtimes(const Command& app) {
  const auto [command, form] = add_command(
      app, "runtimes", "list the runtimes of this machine, and how to install missing ones",
      run_runtimes);
  add_form<report::RuntimeList>(command, *form);
}

}  // namespace oplat::cli
