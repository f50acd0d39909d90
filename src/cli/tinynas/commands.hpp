// SPDX-License-Identifier: Apache-2.0
/// The subcommands of `oplat tinynas`: each file cmd_tinynas_NAME.cpp adds one to the group.
#pragma once

#include "cli/commands/commands.hpp"

namespace oplat::cli {

void add_tinynas_convs(const Command& group);
void add_tinynas_onnx(const Command& group);
void add_tinynas_predict(const Command& group);
void add_tinynas_sample(const Command& group);
void add_tinynas_collect(const Command& group);
void add_tinynas_bench(const Command& group);
void add_tinynas_keys(const Command& group);

}  // namespace oplat::cli
