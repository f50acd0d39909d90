// SPDX-License-Identifier: Apache-2.0
/// The form of flags such as --shape, --input and --option.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "base/result.hpp"

namespace oplat::base {

/// "NAME=VALUE", split at the first "="; a name that holds one is quoted: "\"a=b\"=VALUE", in which
/// \" and \\ stand for " and \. Code::Usage, which begins with `flag`, if name or value is empty.
Result<std::pair<std::string, std::string>> name_value(const std::string& flag,
                                                       const std::string& text);

/// NAME=VALUE as name_value() reads it, as one word of a shell: for flags that a message suggests.
std::string name_value_word(const std::string& name, std::string_view value);

}  // namespace oplat::base
