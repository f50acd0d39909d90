// SPDX-License-Identifier: Apache-2.0
/// Axes as ONNX and its kin count them: from the end where negative.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace oplat::ir {

/// The dimension that `axis` names among `rank` of them; std::nullopt outside -rank to rank - 1.
inline std::optional<std::size_t> axis_index(std::int64_t axis, std::size_t rank) {
  const auto count = static_cast<std::int64_t>(rank);
  if (axis < -count || axis >= count) return std::nullopt;
  return static_cast<std::size_t>(axis < 0 ? axis + count : axis);
}

}  // namespace oplat::ir
