// SPDX-License-Identifier: Apache-2.0
/// How many there are of something, in a sentence.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace oplat::base {

/// "1 row", "2 rows"; `many` where that is more than `one` with an s: "2 processes".
std::string counted(std::int64_t count, std::string_view one, std::string_view many = {});
/// What a sentence says of so many: "is" or "are", "it" or "them".
std::string_view one_or_many(std::int64_t count, std::string_view one, std::string_view many);

}  // namespace oplat::base
