// SPDX-License-Identifier: Apache-2.0
/// The entries of one map of a file: each asked for by name, bounded, and no other ones left.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "base/yaml.hpp"

namespace oplat::base {

struct Bounds {
  std::int64_t least = 1;
  std::int64_t most = 1;
};

/// Text as a number within bounds. `what` names it in the message.
inline Result<std::int64_t> number_of(std::string_view file, const Yaml& node,
                                      std::string_view what, Bounds bounds) {
  const std::string* text = node.text();
  const auto number = text != nullptr ? parse_int(*text) : std::nullopt;
  if (!number || *number < bounds.least || *number > bounds.most) {
    return fail(Code::Input, "{}:{}: {} is {}; expected a number from {} to {}", file, node.line,
                what, node.described(), bounds.least, bounds.most);
  }
  return *number;
}

/// One number or a list of at most `max_count` different ones.
inline Result<std::vector<std::int64_t>> numbers_of(std::string_view file, const Yaml& node,
                                                    std::string_view what, Bounds bounds,
                                                    std::size_t max_count) {
  std::vector<std::int64_t> numbers;
  if (node.list() == nullptr) {
    OPLAT_TRY(number, number_of(file, node, what, bounds));
    numbers.push_back(number);
    return numbers;
  }
  for (const Yaml& one : *node.list()) {
    OPLAT_TRY(number, number_of(file, one, what, bounds));
    for (const std::int64_t before : numbers) {
      if (before == number)
        return fail(Code::Input, "{}:{}: {} lists {} twice", file, one.line, what, number);
    }
    numbers.push_back(number);
    if (numbers.size() > max_count)
      return fail(Code::Input, "{}:{}: {} lists more than {} numbers", file, one.line, what,
                  max_count);
  }
  if (numbers.empty())
    return fail(Code::Input, "{}:{}: {} is an empty list", file, node.line, what);
  return numbers;
}

/// A name that can stand in a column's head: letters, digits, "_", "-", ".".
inline Result<std::string> name_of(std::string_view file, const Yaml& node, std::string_view what) {
  constexpr std::size_t kMaxLetters = 64;
  const std::string* text = node.text();
  constexpr std::string_view kLetters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
  if (text == nullptr || text->empty() || text->size() > kMaxLetters ||
      text->find_first_not_of(kLetters) != std::string::npos) {
    return fail(Code::Input,
                "{}:{}: {} is {}; expected a name of at most {} letters, digits, '_', '-' and '.'",
                file, node.line, what, node.described(), kMaxLetters);
  }
  return *text;
}

class Fields {
 public:
  /// `what` the map describes, for messages. Code::Input if it is not a map or holds a name that is
  /// not among `known`.
  static Result<Fields> of(std::string_view file, const Yaml& node, std::string what,
                           const std::vector<std::string>& known) {
    if (node.map() == nullptr)
      return fail(Code::Input, "{}:{}: {} is {}; expected a map", file, node.line, what,
                  node.described());
    for (const YamlEntry& entry : *node.map()) {
      bool found = false;
      for (const std::string& one : known) found = found || one == entry.name;
      if (found) continue;
      const auto meant = nearest_word(entry.name, known);
      return fail(Code::Input, "{}:{}: {} has no '{}'{}; it has {}", file, entry.line, what,
                  printable(entry.name), meant ? fmt::format(" (do you mean {}?)", *meant) : "",
                  join(known, ", "));
    }
    return Fields(file, node, std::move(what));
  }

  [[nodiscard]] const Yaml* find(std::string_view name) const {
    for (const YamlEntry& entry : *node_->map()) {
      if (entry.name == name) return &entry.value;
    }
    return nullptr;
  }
  [[nodiscard]] Result<const Yaml*> need(std::string_view name) const {
    const Yaml* found = find(name);
    if (found == nullptr)
      return fail(Code::Input, "{}:{}: {} lacks '{}'", file_, node_->line, what_, name);
    return found;
  }
  [[nodiscard]] Result<std::int64_t> number(std::string_view name, Bounds bounds,
                                            std::int64_t otherwise) const {
    const Yaml* found = find(name);
    if (found == nullptr) return otherwise;
    return number_of(file_, *found, fmt::format("'{}' of {}", name, what_), bounds);
  }
  [[nodiscard]] Result<bool> truth(std::string_view name, bool otherwise) const {
    const Yaml* found = find(name);
    if (found == nullptr) return otherwise;
    const std::string* text = found->text();
    if (text != nullptr && (*text == "true" || *text == "false")) return *text == "true";
    return fail(Code::Input, "{}:{}: '{}' of {} is {}; expected true or false", file_, found->line,
                name, what_, found->described());
  }
  [[nodiscard]] const std::string& what() const { return what_; }
  [[nodiscard]] int line() const { return node_->line; }

 private:
  Fields(std::string_view file, const Yaml& node, std::string what)
      : file_(file), node_(&node), what_(std::move(what)) {}

  std::string file_;
  const Yaml* node_;
  std::string what_;
};

}  // namespace oplat::base
