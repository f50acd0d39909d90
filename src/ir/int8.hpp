// SPDX-License-Identifier: Apache-2.0
/// Which kernels compute in 8-bit integers, told from their keys' texts.
#pragma once

#include <string_view>

namespace oplat::ir {

/// Whether a tensor of a printed key, operand or result, is of i8 or u8. The key is not parsed: a
/// prediction asks this of every kernel.
bool has_int8_tensor(std::string_view key);

}  // namespace oplat::ir
