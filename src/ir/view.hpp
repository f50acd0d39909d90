// SPDX-License-Identifier: Apache-2.0
/// Views by the text of a key. By the key itself: is_view() of ir/catalogue.hpp.
#pragma once

#include <string_view>

#include "ir/catalogue.hpp"

namespace oplat::ir {

/// Whether a key of this key's operator can be a view; the rest of the key is not looked at, since
/// parsing every key of a plan would take half of a prediction.
bool may_name_view(std::string_view key, const Catalogue& catalogue);
/// Whether the key is a view; a text that does not parse is not one.
bool names_view(std::string_view key, const Catalogue& catalogue);

}  // namespace oplat::ir
