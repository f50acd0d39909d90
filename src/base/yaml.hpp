// SPDX-License-Identifier: Apache-2.0
/// YAML as a tree of texts, lists and maps; the only header behind which yaml-cpp stands
/// (docs/adr/0012-yaml-cpp.md).
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.hpp"

namespace oplat::base {

struct YamlEntry;

/// What an entry of a file says and the line where it stands. Numbers stay text: who reads an entry
/// knows what it expects.
struct Yaml {
  using List = std::vector<Yaml>;
  using Map = std::vector<YamlEntry>;  ///< in the file's order, every name once
  std::variant<std::string, List, Map> data;
  int line = 0;
  bool quoted = false;  ///< a text in quotes, which stands for no number, truth value or null

  [[nodiscard]] const std::string* text() const { return std::get_if<std::string>(&data); }
  [[nodiscard]] const List* list() const { return std::get_if<List>(&data); }
  [[nodiscard]] const Map* map() const { return std::get_if<Map>(&data); }
  /// "'abc'", "a list", "a map", "nothing": for messages.
  [[nodiscard]] std::string described() const;
};
struct YamlEntry {
  std::string name;
  int line = 0;
  Yaml value;
};

/// One document. Code::Input names file, line and what is wrong; so do anchors, aliases and tags,
/// which no file of ours needs, and whatever is larger than kMaxYamlBytes, nested deeper than 16 or
/// of more than 20,000 entries.
Result<Yaml> parse_yaml(std::string_view name, std::string_view bytes);

inline constexpr std::size_t kMaxYamlBytes = 2 << 20;

}  // namespace oplat::base
