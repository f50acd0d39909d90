// SPDX-License-Identifier: Apache-2.0
/// Element types, under the names that keys use.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace oplat::ir {

enum class Dtype : std::uint8_t {
  F64,
  F32,
  F16,
  BF16,
  F8E4M3FN,
  F8E4M3FNUZ,
  F8E5M2,
  F8E5M2FNUZ,
  F4E2M1,
  I64,
  I32,
  I16,
  I8,
  I4,
  U64,
  U32,
  U16,
  U8,
  U4,
  Bool,
  C64,
  C128,
  String,
  Any,
};

/// "f32", "i8", "bool", "any", ...
std::string_view name(Dtype dtype);
std::optional<Dtype> parse_dtype(std::string_view text);
/// Bits of one element; std::nullopt for String and Any.
std::optional<int> bits(Dtype dtype);
bool is_float(Dtype dtype);
bool is_integer(Dtype dtype);  ///< signed and unsigned integers, not bool

}  // namespace oplat::ir
