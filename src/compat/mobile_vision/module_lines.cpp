// SPDX-License-Identifier: Apache-2.0
/// JSON Lines of layers.
#include "compat/mobile_vision/module_lines.hpp"

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/text.hpp"

namespace oplat::compat::mobile_vision {
namespace {

using ModuleJson = nlohmann::json;

constexpr std::uint64_t kMaxModuleLinesBytes = std::uint64_t{1} << 30;
constexpr std::size_t kMaxLineBytes = 1 << 20;
constexpr std::size_t kMaxShapes = 16;

std::string shown(const ModuleJson& json) {
  return base::printable(json.dump(-1, ' ', true, ModuleJson::error_handler_t::replace));
}

/// Whether lists and objects are nested deeper than any line of ours: messages print what was
/// found, level by level.
bool too_deep(std::string_view text) {
  constexpr int kMaxDepth = 8;
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '\\') {
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && (c == '[' || c == '{')) {
      if (++depth > kMaxDepth) return true;
    } else if (!quoted && (c == ']' || c == '}')) {
      --depth;
    }
  }
  return false;
}

/// Arguments are flat: numbers, words, or lists of numbers.
Result<ir::Value> value_of(const ModuleJson& json) {
  if (json.is_boolean()) return ir::Value(json.get<bool>() ? 1 : 0);
  if (json.is_number_unsigned() &&
      json.get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX))
    return fail(Code::Input, "{} is too large; expected an integer of 64 bits", shown(json));
  if (json.is_number_integer()) return ir::Value(json.get<std::int64_t>());
  if (json.is_string()) return ir::Value(json.get<std::string>());
  if (json.is_null()) return ir::Value(ir::Unknown{});
  if (!json.is_array())
    return fail(
        Code::Input,
        "{} is not an argument; expected an integer, true, false, a word or a list of numbers",
        shown(json));
  ir::List list;
  for (const ModuleJson& one : json) {
    if (one.is_array())
      return fail(Code::Input, "{} is a list of lists; expected a list of numbers", shown(json));
    OPLAT_TRY(value, value_of(one));
    list.push_back(std::move(value));
  }
  return ir::Value(std::move(list));
}

Result<std::vector<std::vector<std::int64_t>>> shapes_of(const ModuleJson& json) {
  std::vector<std::vector<std::int64_t>> shapes;
  bool good = json.is_array() && json.size() <= kMaxShapes;
  for (auto shape = json.begin(); good && shape != json.end(); ++shape) {
    good = shape->is_array();
    auto& dims = shapes.emplace_back();
    for (auto dim = shape->begin(); good && dim != shape->end(); ++dim) {
      good = dim->is_number_integer() &&
             (!dim->is_number_unsigned() ||
              dim->get<std::uint64_t>() <= static_cast<std::uint64_t>(INT64_MAX));
      if (good) dims.push_back(dim->get<std::int64_t>());
    }
  }
  if (!good)
    return fail(Code::Input,
                "'input_shapes' is {}; expected a list of shapes such as [[1,3,224,224]]",
                shown(json));
  return shapes;
}

Status check_names(const ModuleJson& json, bool table) {
  if (!json.is_object())
    return fail(Code::Input,
                "{} is not an object; expected {{\"op\": ..., \"args\": {{...}}, \"input_shapes\": "
                "[[...]]}}",
                shown(json));
  for (const auto& [name, value] : json.items()) {
    if (name == "op" || name == "args" || name == "input_shapes" || name == "latency_us") continue;
    return fail(Code::Input, "'{}' is not known; expected op, args, input_shapes{}",
                base::printable(name), table ? ", latency_us" : "");
  }
  for (const std::string_view name : {"op", "input_shapes", "latency_us"}) {
    if ((name != "latency_us" || table) && !json.contains(name))
      return fail(Code::Input, "'{}' is missing", name);
  }
  return {};
}

Result<ModuleLine> line_of(const ModuleJson& json, bool table) {
  OPLAT_CHECK(check_names(json, table));
  ModuleQuery query;
  if (!json["op"].is_string())
    return fail(Code::Input, "'op' is {}; expected a name such as \"Conv2d\"", shown(json["op"]));
  query.op = json["op"].get<std::string>();
  if (const auto args = json.find("args"); args != json.end()) {
    if (!args->is_object())
      return fail(Code::Input, "'args' is {}; expected an object", shown(*args));
    for (const auto& [name, value] : args->items()) {
      OPLAT_TRY(made, value_of(value));
      query.args.emplace_back(name, std::move(made));
    }
  }
  OPLAT_TRY(shapes, shapes_of(json["input_shapes"]));
  query.input_shapes = std::move(shapes);
  ModuleLine line;
  OPLAT_TRY(canonical, canonical(query));
  line.query = std::move(canonical);
  OPLAT_TRY(facts, facts_of(line.query));
  line.facts = std::move(facts);
  OPLAT_TRY(key, key_of(line.query));
  line.key = ir::print(key);
  if (!table) return line;
  const ModuleJson& latency = json["latency_us"];
  if (!latency.is_number() || !std::isfinite(latency.get<double>()) || latency.get<double>() < 0) {
    return fail(Code::Input, "'latency_us' is {}; expected a time in microseconds, 0 or more",
                shown(latency));
  }
  line.latency_us = latency.get<double>();
  return line;
}

}  // namespace

Result<std::vector<ModuleLine>> read_module_lines(const base::Source& source, bool table) {
  if (source.bytes().size() > kMaxModuleLinesBytes)
    return fail(Code::Input, "{}: has {} bytes; the limit is {}", source.name(),
                source.bytes().size(), kMaxModuleLinesBytes);
  std::vector<ModuleLine> lines;
  std::string_view left = source.bytes();
  for (std::size_t number = 1; !left.empty(); ++number) {
    const std::size_t end = left.find('\n');
    const std::string_view text = left.substr(0, end);
    left.remove_prefix(end == std::string_view::npos ? left.size() : end + 1);
    if (text.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    const std::string place = fmt::format("{}:{}", source.name(), number);
    if (text.size() > kMaxLineBytes)
      return fail(Code::Input, "{}: has {} bytes; the limit for a line is {}", place, text.size(),
                  kMaxLineBytes);
    if (too_deep(text))
      return fail(Code::Input, "{}: nests lists too deeply; expected an operator", place);
    const ModuleJson json = ModuleJson::parse(text, nullptr, false);
    if (json.is_discarded())
      return fail(Code::Input, "{}: not JSON: '{}'", place, base::printable(text));
    auto line = line_of(json, table);
    if (!line) return fail_in(place, line.error());
    line->line = number;
    lines.push_back(std::move(*line));
  }
  if (lines.empty()) return fail(Code::Input, "{}: holds no operators", source.name());
  return lines;
}

ModuleTable::ModuleTable(const std::vector<ModuleLine>& lines) {
  for (const ModuleLine& line : lines) {
    Sum& sum = sums_[line.key];
    sum.latency_us += line.latency_us.value_or(0);
    ++sum.lines;
  }
}

Result<std::optional<ModuleTable::Answer>> ModuleTable::find(const ModuleLine& line,
                                                             bool mirror_bias) const {
  auto found = sums_.find(line.key);
  bool mirrored = false;
  if (found == sums_.end() && mirror_bias) {
    if (const auto other = with_other_bias(line.query)) {
      OPLAT_TRY(key, key_of(*other));
      found = sums_.find(ir::print(key));
      mirrored = true;
    }
  }
  if (found == sums_.end()) return std::optional<Answer>();
  const Sum& sum = found->second;
  return std::optional(
      Answer{sum.latency_us / static_cast<double>(sum.lines), sum.lines, mirrored});
}

}  // namespace oplat::compat::mobile_vision
