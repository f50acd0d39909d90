// SPDX-License-Identifier: Apache-2.0
/// The subcommands: each file cmd_NAME.cpp adds one to the application (recipe: HACKING.md "Add a subcommand").
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "oplat/base/result.hpp"

namespace oplat::cli {

/// Set by the subcommand that the command line names; runs it. The value is the exit status.
using Action = std::function<Result<int>()>;

void add_predict(CLI::App& app, Action& action);
void add_profile(CLI::App& app, Action& action);
void add_measure(CLI::App& app, Action& action);
void add_validate(CLI::App& app, Action& action);
void add_fit(CLI::App& app, Action& action);
void add_accuracy(CLI::App& app, Action& action);
void add_verify(CLI::App& app, Action& action);
void add_plan(CLI::App& app, Action& action);
void add_estimate(CLI::App& app, Action& action);
void add_compare(CLI::App& app, Action& action);
void add_import(CLI::App& app, Action& action);
void add_export(CLI::App& app, Action& action);
void add_table_commands(CLI::App& app, Action& action);
void add_tinynas_commands(CLI::App& app, Action& action);
void add_lut_commands(CLI::App& app, Action& action);
void add_space_commands(CLI::App& app, Action& action);
void add_runtimes(CLI::App& app, Action& action);
void add_worker(CLI::App& app, Action& action);
void add_version(CLI::App& app, Action& action);

}  // namespace oplat::cli
