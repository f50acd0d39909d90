// SPDX-License-Identifier: Apache-2.0
/// Mixtures of experts: each token goes through a few of many layers.
#pragma once

#include <optional>

#include "ir/key.hpp"

namespace oplat::ir::ops {

struct Experts {
  double experts = 0;
  double weights = 0;   ///< of one
  double channels = 0;  ///< between its layers
  double tokens = 0;    ///< times the experts that each goes through
  /// Experts that any token goes to, where each is as likely as another.
  double touched = 0;
};
/// std::nullopt: the key is not of such a layer, or sizes are unknown.
std::optional<Experts> experts_of(const Key& key);

}  // namespace oplat::ir::ops
