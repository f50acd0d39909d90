// SPDX-License-Identifier: Apache-2.0
/// Variants of rules, bounded.
#include "plan/rules/variables.hpp"

#include "base/text.hpp"

namespace oplat::plan::rules {
namespace {

constexpr std::size_t kMaxVariants = 256;

bool is_word_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

Result<std::vector<std::string>> values_of(std::string_view file, const base::YamlEntry& entry) {
  std::vector<std::string> values;
  if (const std::string* one = entry.value.text()) {
    values.push_back(*one);
  } else if (const auto* list = entry.value.list()) {
    for (const base::Yaml& each : *list) {
      if (each.text() == nullptr)
        return fail(Code::Input, "{}:{}: a value of '{}' is {}; expected a text", file, each.line,
                    base::printable(entry.name), each.described());
      values.push_back(*each.text());
    }
  }
  if (values.empty()) {
    return fail(Code::Input, "{}:{}: '{}' of 'for' is {}; expected a text or a list of texts", file,
                entry.line, base::printable(entry.name), entry.value.described());
  }
  return values;
}

Status add_variants(std::string_view file, const base::Yaml& node, std::vector<Variables>& all) {
  if (node.map() == nullptr)
    return fail(Code::Input,
                "{}:{}: 'for' is {}; expected a map of variables, or a list of such maps", file,
                node.line, node.described());
  std::vector<Variables> some = {{}};
  for (const base::YamlEntry& entry : *node.map()) {
    OPLAT_TRY(values, values_of(file, entry));
    if (some.size() * values.size() > kMaxVariants)
      return fail(Code::Input, "{}:{}: 'for' makes more than {} rules of one", file, node.line,
                  kMaxVariants);
    std::vector<Variables> longer;
    for (const Variables& before : some) {
      for (const std::string& value : values) {
        longer.push_back(before);
        longer.back()[entry.name] = value;
      }
    }
    some = std::move(longer);
  }
  if (all.size() + some.size() > kMaxVariants)
    return fail(Code::Input, "{}:{}: 'for' makes more than {} rules of one", file, node.line,
                kMaxVariants);
  all.insert(all.end(), some.begin(), some.end());
  return {};
}

Result<std::string> replaced(std::string_view file, int line, const std::string& text,
                             const Variables& variables) {
  std::string made;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] != '$') {
      made += text[at++];
      continue;
    }
    std::size_t end = at + 1;
    while (end < text.size() && is_word_letter(text[end])) ++end;
    const std::string name = text.substr(at + 1, end - at - 1);
    const auto found = variables.find(name);
    if (found == variables.end())
      return fail(Code::Input, "{}:{}: '${}' is not a variable; 'for' of the rule names them", file,
                  line, base::printable(name));
    made += found->second;
    at = end;
  }
  return made;
}

}  // namespace

Result<std::vector<Variables>> variants_of(std::string_view file, const base::Yaml* node) {
  std::vector<Variables> all;
  if (node == nullptr) {
    all.emplace_back();
  } else if (const auto* list = node->list()) {
    for (const base::Yaml& one : *list) OPLAT_CHECK(add_variants(file, one, all));
  } else {
    OPLAT_CHECK(add_variants(file, *node, all));
  }
  if (all.empty()) return fail(Code::Input, "{}:{}: 'for' is empty", file, node->line);
  return all;
}

Result<base::Yaml> with_variables(std::string_view file, const base::Yaml& node,
                                  const Variables& variables) {
  base::Yaml made;
  made.line = node.line;
  if (const std::string* text = node.text()) {
    OPLAT_TRY(value, replaced(file, node.line, *text, variables));
    made.data = std::move(value);
  } else if (const auto* list = node.list()) {
    base::Yaml::List values;
    for (const base::Yaml& one : *list) {
      OPLAT_TRY(value, with_variables(file, one, variables));
      values.push_back(std::move(value));
    }
    made.data = std::move(values);
  } else {
    base::Yaml::Map entries;
    for (const base::YamlEntry& entry : *node.map()) {
      OPLAT_TRY(name, replaced(file, entry.line, entry.name, variables));
      OPLAT_TRY(value, with_variables(file, entry.value, variables));
      entries.push_back({std::move(name), entry.line, std::move(value)});
    }
    made.data = std::move(entries);
  }
  return made;
}

}  // namespace oplat::plan::rules
