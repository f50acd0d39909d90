// SPDX-License-Identifier: Apache-2.0
/// Options, facts and flags as JSON cells, and the canonical text of a setting.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "table/records.hpp"

namespace oplat::table {

using TextMap = std::map<std::string, std::string>;

/// JSON object, names sorted bytewise, no spaces. Code::Input if a text is not UTF-8.
Result<std::string> json_object(const TextMap& map);
Result<std::string> json_array(const std::vector<std::string>& words);
/// std::nullopt if the text is not a JSON object whose values are all strings.
std::optional<TextMap> parse_json_object(std::string_view text);
std::optional<std::vector<std::string>> parse_json_array(std::string_view text);
/// Equal for equal settings only: the identity of a setting in a table.
Result<std::string> canonical_text(const Setting& setting);

}  // namespace oplat::table
