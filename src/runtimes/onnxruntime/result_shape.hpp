// SPDX-License-Identifier: Apache-2.0
/// Whether a kernel computes what its key says.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ir/key.hpp"

namespace oplat::runtimes::onnxruntime {

/// The results that the key has, by their place; others nobody uses.
std::vector<std::size_t> present_results(const ir::Key& key);

/// What is wrong if result `result` of the kernel had the shape `found` and the key says another.
/// Only sizes that the key knows are compared. Operands whose values decide about the shape are
/// filled so that it is the key's (ir::operand_fill()); if that did not work, there is no time.
std::optional<std::string> wrong_result(const ir::Key& key, std::size_t result,
                                        std::span<const std::int64_t> found);

}  // namespace oplat::runtimes::onnxruntime
