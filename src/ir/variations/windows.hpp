// SPDX-License-Identifier: Apache-2.0
/// Convolutions and pools of other sizes, windows, steps, dilations, groups and activations.
#pragma once

#include <optional>

#include "ir/key.hpp"
#include "ir/variations/sizes.hpp"

namespace oplat::ir::variations {

/// Whether the operator moves a window over an image or a signal.
bool has_window(const Key& key);
/// std::nullopt where the results of the key are not those that its numbers give.
std::optional<Key> vary_window(const Key& key, Draw& draw);

}  // namespace oplat::ir::variations
