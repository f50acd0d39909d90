// SPDX-License-Identifier: Apache-2.0
/// The only file of this layer that names the JSON library.
#include "table/json_text.hpp"

#include <nlohmann/json.hpp>

#include "base/text.hpp"

namespace oplat::table {
namespace {

using nlohmann::json;

Result<std::string> dump(const json& value) {
  try {
    return value.dump();
  } catch (const json::exception&) {
    const std::string lossy = value.dump(-1, ' ', false, json::error_handler_t::replace);
    return fail(Code::Input, "{}: holds text that is not UTF-8", base::printable(lossy));
  }
}

/// Parses a value of depth one; deeper ones, which no table of ours holds, are cut before they cost
/// memory.
std::optional<json> parse_flat(std::string_view text) {
  bool flat = true;
  const auto callback = [&flat](int depth, json::parse_event_t event, json&) {
    const bool opens =
        event == json::parse_event_t::object_start || event == json::parse_event_t::array_start;
    if (opens && depth > 0) flat = false;
    return flat;
  };
  json value = json::parse(text, callback, false);
  if (value.is_discarded() || !flat) return std::nullopt;
  return value;
}

}  // namespace

Result<std::string> json_object(const TextMap& map) {
  json value = json::object();
  for (const auto& [name, text] : map) value[name] = text;
  return dump(value);
}

Result<std::string> json_array(const std::vector<std::string>& words) {
  json value = json::array();
  for (const auto& word : words) value.push_back(word);
  return dump(value);
}

std::optional<TextMap> parse_json_object(std::string_view text) {
  const auto value = parse_flat(text);
  if (!value || !value->is_object()) return std::nullopt;
  TextMap map;
  for (const auto& [name, item] : value->items()) {
    if (!item.is_string()) return std::nullopt;
    map[name] = item.get<std::string>();
  }
  return map;
}

std::optional<std::vector<std::string>> parse_json_array(std::string_view text) {
  const auto value = parse_flat(text);
  if (!value || !value->is_array()) return std::nullopt;
  std::vector<std::string> words;
  for (const auto& item : *value) {
    if (!item.is_string()) return std::nullopt;
    words.push_back(item.get<std::string>());
  }
  return words;
}

Result<std::string> canonical_text(const Setting& setting) {
  json options = json::object();
  for (const auto& [name, text] : setting.options) options[name] = text;
  return dump(json{{"build", setting.build},
                   {"options", std::move(options)},
                   {"precision", setting.precision},
                   {"runtime", setting.runtime},
                   {"threads", setting.threads},
                   {"version", setting.version}});
}

}  // namespace oplat::table
