// SPDX-License-Identifier: Apache-2.0
/// Which domains are ONNX's and ONNX Runtime's own.
#pragma once

#include <string_view>

namespace oplat::ir {

/// Whether keys of `domain` have ONNX's attributes and operands. Keys of foreign systems are kept
/// as their source wrote them.
inline bool is_onnx_family(std::string_view domain) {
  return domain.empty() || domain.starts_with("ai.onnx") || domain.starts_with("com.microsoft") ||
         domain.starts_with("com.ms.");
}

}  // namespace oplat::ir
