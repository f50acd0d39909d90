// SPDX-License-Identifier: Apache-2.0
/// Sizes that no kernel of Paddle-Lite has.
#pragma once

#include <optional>
#include <string>

#include "ir/key.hpp"

namespace oplat::compat::paddleslim {

/// What is wrong with the sizes of an operator of Paddle-Lite; std::nullopt if nothing is.
std::optional<std::string> wrong_sizes(const ir::Key& key);

}  // namespace oplat::compat::paddleslim
