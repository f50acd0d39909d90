// SPDX-License-Identifier: Apache-2.0
/// Key domain of TinyNAS's latency libraries.
#pragma once

#include "ir/key_domain.hpp"

namespace oplat::compat::tinynas {

/// "tinynas": convolutions as op_profiler names them.
const ir::KeyDomain& conv_domain();

}  // namespace oplat::compat::tinynas
