// SPDX-License-Identifier: Apache-2.0
/// Sizes that no kernel has.
#pragma once

#include <optional>
#include <string>

#include "ir/key.hpp"

namespace oplat::estimate {

/// What is wrong with the sizes of an operator of Paddle-Lite; nothing where nothing is, or where
/// it is another's.
std::optional<std::string> wrong_sizes(const ir::Key& key);

}  // namespace oplat::estimate
