// SPDX-License-Identifier: Apache-2.0
/// Key domain of mobile-vision's look-up tables.
#pragma once

#include "ir/key_domain.hpp"

namespace oplat::compat::mobile_vision {

/// "caffe2": operators as runtime_lut names them.
const ir::KeyDomain& caffe2_domain();

}  // namespace oplat::compat::mobile_vision
