// SPDX-License-Identifier: Apache-2.0
/// Texts of the built-in rule files.
#pragma once

#include <string_view>

namespace oplat::plan::rules {

std::string_view paddle_lite_rules();  ///< data/fusion/paddle-lite.yaml

}  // namespace oplat::plan::rules
