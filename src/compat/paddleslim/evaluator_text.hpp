// SPDX-License-Identifier: Apache-2.0
/// Operator texts of PaddleSlim's TableLatencyEvaluator, fields joined by commas, and their keys.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "compat/paddleslim/text_kernels.hpp"
#include "ir/key.hpp"

namespace oplat::compat::paddleslim {

/// The key of an operator text, say
///   conv,1,1,1,3,224,224,32,1,3,1,2,1
///   paddle_lite:conv2d{activation=relu,bias=true,...}(f32[1,3,224,224],f32c[32,3,3,3])->(f32[1,32,112,112])
/// Where kernels, paddings, strides or dilations are not square, the text appends the other number
/// without saying of which it is: what cannot be told is "?". Fully connected layers are written as
/// convolutions, and stay so. Texts of operators that the original does not write become
/// paddle_lite:other{text=...}. Code::Input: implausible fields.
Result<ir::Key> evaluator_key_of(std::string_view text, PaddlePrecision precision);

/// The text of a key; std::nullopt for what such a table cannot say, a batch other than one among
/// it.
std::optional<std::string> evaluator_text_of(const ir::Key& key);

}  // namespace oplat::compat::paddleslim
