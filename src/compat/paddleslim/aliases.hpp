// SPDX-License-Identifier: Apache-2.0
/// Keys under which PaddleSlim's tables hold a kernel of Paddle-Lite: their texts say less than
/// oplat's key does.
#pragma once

#include <optional>
#include <vector>

#include "ir/key.hpp"
#include "ir/key_domain.hpp"

namespace oplat::compat::paddleslim {

/// The keys that such a table may have of this kernel, best first: PaddleSlim's own text, then
/// texts that mean the same, then those that differ in whether they say the batch. Empty if
/// PaddleSlim has no text for the operator. `key` is of the domain "paddle_lite".
std::vector<ir::KeyAlias> aliases_in_table(const ir::Key& key);

/// The first of them if it says less than `key`: all that can be told from rows of such a table.
std::optional<ir::Key> table_form(const ir::Key& key);

}  // namespace oplat::compat::paddleslim
