// SPDX-License-Identifier: Apache-2.0
/// Operators that slide a window over an image: their attributes in full, padding as numbers.
#pragma once

#include <optional>

#include "ir/key.hpp"

namespace oplat::ir::ops {

/// How one operator says what its window is.
struct WindowForm {
  /// Operand that holds the kernel's weights, [M, C/group, spatial...]; std::nullopt for pooling.
  std::optional<std::size_t> weights = {};
  /// Activations are [N, spatial..., C]; weights are not.
  bool channels_last = false;
  /// ConvTranspose: the window slides over the result.
  bool transposed = false;
  /// Whether this version of the operator knows dilations.
  bool dilations = true;
};

/// Fills kernel_shape, strides, dilations and pads, and replaces auto_pad by the pads it comes to.
/// What the shapes do not decide stays as it was.
void canonicalise_window(Key& key, const WindowForm& form);

}  // namespace oplat::ir::ops
