// SPDX-License-Identifier: Apache-2.0
/// The subcommands: each file commands/NAME.cpp adds one to the application (recipe: HACKING.md
/// "Add a use case and its command"); and what all of them are written with.
#pragma once

#include "cli/command_line.hpp"
#include "cli/events_terminal.hpp"
#include "cli/options.hpp"
#include "cli/output.hpp"
#include "cli/prediction_options.hpp"
#include "cli/terminal.hpp"

namespace oplat::cli {

void add_predict(const Command& app);
void add_profile(const Command& app);
void add_measure(const Command& app);
void add_validate(const Command& app);
void add_fit(const Command& app);
void add_accuracy(const Command& app);
void add_check(const Command& app);
void add_verify(const Command& app);
void add_plan(const Command& app);
void add_rules(const Command& app);
void add_estimate(const Command& app);
void add_compare(const Command& app);
void add_import(const Command& app);
void add_export(const Command& app);
void add_table_commands(const Command& app);
void add_tinynas_commands(const Command& app);
void add_lut_commands(const Command& app);
void add_paddleslim_commands(const Command& app);
void add_search_commands(const Command& app);
void add_advise(const Command& app);
void add_inspect(const Command& app);
void add_machine(const Command& app);
void add_runtimes(const Command& app);
void add_worker(const Command& app);

}  // namespace oplat::cli
