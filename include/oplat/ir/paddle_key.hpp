// SPDX-License-Identifier: Apache-2.0
/// Operators of Paddle-Lite as PaddleSlim's latency tables name them, and their keys in the domain "paddle_lite".
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "oplat/ir/dtype.hpp"
#include "oplat/ir/key.hpp"

namespace oplat::ir {

/// The key of a table's own text (printable ASCII), say
///   hard_swish in=(-1, 24, 112, 112) out=(-1, 24, 112, 112)
///   paddle_lite:hard_swish{}(f32[?,24,112,112])->(f32[?,24,112,112])
/// What the text does not say is "?": dimensions of -1, and of padding, stride, dilation and kernel all but the number
/// that stands there. `dtype` is that of activations where the text states no bit length. A text that is of no known
/// form, or not spelt as PaddleSlim spells it, becomes paddle_lite:other{text="..."}(any[*])->(any[*]).
Key paddle_key_of(std::string_view text, Dtype dtype = Dtype::F32);

/// Back again, byte for byte. Nothing for a key that paddle_key_of cannot have made.
std::optional<std::string> paddle_text_of(const Key& key);

}  // namespace oplat::ir
