// SPDX-License-Identifier: Apache-2.0
/// The table format of mobile-vision.
#pragma once

#include "table/codec.hpp"

namespace oplat::compat::mobile_vision {

/// `lut`: the look-up tables of runtime_lut. Lives as long as the process.
const table::TableCodec& lut_codec();

}  // namespace oplat::compat::mobile_vision
