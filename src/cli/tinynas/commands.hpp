// SPDX-License-Identifier: Apache-2.0
/// The subcommands of `oplat tinynas`: each file cmd_tinynas_NAME.cpp adds one to the group.
#pragma once

#include <cstdint>
#include <vector>

#include "cli/commands/commands.hpp"

namespace oplat::cli {

void add_tinynas_convs(const Command& group);
void add_tinynas_onnx(const Command& group);
void add_tinynas_predict(const Command& group);
void add_tinynas_sample(const Command& group);
void add_tinynas_collect(const Command& group);
void add_tinynas_bench(const Command& group);
void add_tinynas_keys(const Command& group);

/// Each number once, in the order of their first places: what --batch 1,8,1 asks for.
std::vector<std::int64_t> without_repeats(const std::vector<std::int64_t>& numbers);

}  // namespace oplat::cli
