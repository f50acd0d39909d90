// SPDX-License-Identifier: Apache-2.0
/// Whether a kernel computes what its key says.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "ir/key.hpp"

namespace oplat::runtimes::onnxruntime {

/// What is wrong where the kernel's first result had the shape `found` and the key says another.
/// Only sizes that the key knows are compared. Operands whose values decide about the shape are
/// filled so that it is the key's (ir::operand_fill()); if that did not work, there is no time.
std::optional<std::string> wrong_result(const ir::Key& key, std::span<const std::int64_t> found);

}  // namespace oplat::runtimes::onnxruntime
