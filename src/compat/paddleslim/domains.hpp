// SPDX-License-Identifier: Apache-2.0
/// Key domains of PaddleSlim's tables and of Paddle itself.
#pragma once

#include "ir/key_domain.hpp"

namespace oplat::compat::paddleslim {

/// "paddle_lite": kernels of Paddle-Lite, as PaddleSlim's latency tables and models name them.
const ir::KeyDomain& lite_domain();
/// "paddle": kernels of Paddle Inference, its own.
const ir::KeyDomain& runtime_domain();
/// "paddle.onednn": kernels of oneDNN that Paddle Inference calls.
const ir::KeyDomain& onednn_domain();

}  // namespace oplat::compat::paddleslim
