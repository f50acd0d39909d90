// SPDX-License-Identifier: Apache-2.0
/// Operators of Paddle-Lite as PaddleSlim's latency tables name them, and their keys in the domain
/// "paddle_lite".
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ir/dtype.hpp"
#include "ir/key.hpp"

namespace oplat::compat::paddleslim {

/// The key of a table's own text (printable ASCII), say
///   hard_swish in=(-1, 24, 112, 112) out=(-1, 24, 112, 112)
///   paddle_lite:hard_swish{}(f32[?,24,112,112])->(f32[?,24,112,112])
/// What the text does not say is "?": dimensions of -1, and of padding, stride, dilation and kernel
/// all but the number itself. `dtype` is that of activations where the text states no
/// bit length. A text that is of no known form, or not written as PaddleSlim writes it, becomes
/// paddle_lite:other{text="..."}(any[*])->(any[*]).
ir::Key paddle_key_of(std::string_view text, ir::Dtype dtype = ir::Dtype::F32);

/// The text that PaddleSlim looks up for a kernel, byte for byte: of a key that paddle_key_of made,
/// and of one that says more, as a model's kernels do: "?" filled in, further attributes and
/// operands. Of lists such as paddings the text tells the second number alone, and of an attribute
/// that the key lacks it says None. Nothing for operators that PaddleSlim has no text for, and for
/// keys that no text can say.
std::optional<std::string> paddle_text_of(const ir::Key& key);

/// Whether the key is no more than a text that was not understood.
bool is_paddle_text_alone(const ir::Key& key);

/// Whether a text or key of a product says that it computes in the precision: "fp32", "fp16" or
/// "int8".
bool states_paddle_precision(std::string_view text, std::string_view precision);
/// The words above.
std::span<const std::string_view> paddle_precisions();

/// The kernel in another precision, F32, F16 or I8: what its products read, and what their texts
/// say of it. Other operators, whose texts do not tell, read floats of either size, or stay as they
/// are next to integers.
ir::Key paddle_in_precision(ir::Key key, ir::Dtype precision);

}  // namespace oplat::compat::paddleslim
