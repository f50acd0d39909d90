// SPDX-License-Identifier: Apache-2.0
/// Fusion rules of Paddle-Lite.
#pragma once

#include <string_view>

namespace oplat::compat::paddleslim {

/// Text of data/fusion/paddle-lite.yaml.
std::string_view lite_rules();

}  // namespace oplat::compat::paddleslim
