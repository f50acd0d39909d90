// SPDX-License-Identifier: Apache-2.0
/// Kernels that the runtime `paddle` measured, as PaddleSlim's latency tables would say them.
#pragma once

#include <optional>
#include <string>

#include "ir/key.hpp"

namespace oplat::compat::paddleslim {

/// The text of a key in the domains "paddle" and "paddle.onednn" (python/oplat/workers/paddle), say
///   paddle.onednn:fused_conv2d{dilations=[1,1],fuse_activation=relu,groups=1,paddings=[1,1],strides=[2,2]}(f32[1,3,...
///   conv2d in=(1, 3, 224, 224) weight=(32, 3, 3, 3) out=(1, 32, 112, 112) pad=1 stride=2 group=1
///   dilation=1 ...
/// Such texts say less than keys: that of a convolution does not name its activation. Nothing for
/// kernels that they have no words for.
std::optional<std::string> paddle_runtime_text(const ir::Key& key);

}  // namespace oplat::compat::paddleslim
