// SPDX-License-Identifier: Apache-2.0
/// Keys of the nodes of a fused Paddle-Lite graph.
#pragma once

#include "base/result.hpp"
#include "ir/graph.hpp"
#include "ir/key.hpp"

namespace oplat::compat::paddleslim {

/// The key of a node in the domain "paddle_lite": the form that paddle_key_of (paddle_key.hpp)
/// makes of a table's text, with everything that the model says in place of "?". Of an operator
/// that PaddleSlim's tables do not know, the key holds all its attributes, operands and results.
/// Code::Input if the node lacks an operand or result that its operator has.
///   paddle_lite:conv2d{activation=relu,bias=true,bit_length=None,dilations=[1,1],group=1,pads=[1,1,1,1],quant=None,strides=[2,2]}
///     (f32[1,3,224,224],f32c[24,3,3,3])->(f32[1,24,112,112])
Result<ir::Key> paddle_kernel_key(const ir::Graph& graph, const ir::Node& node);

}  // namespace oplat::compat::paddleslim
