// SPDX-License-Identifier: Apache-2.0
/// The subcommands of `oplat tinynas`: each file cmd_tinynas_NAME.cpp adds one to the group.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/command.hpp"

namespace oplat::cli {

void add_tinynas_convs(CLI::App& group, Action& action);
void add_tinynas_onnx(CLI::App& group, Action& action);
void add_tinynas_predict(CLI::App& group, Action& action);
void add_tinynas_sample(CLI::App& group, Action& action);
void add_tinynas_collect(CLI::App& group, Action& action);
void add_tinynas_bench(CLI::App& group, Action& action);
void add_tinynas_keys(CLI::App& group, Action& action);

}  // namespace oplat::cli
