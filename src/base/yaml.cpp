// SPDX-License-Identifier: Apache-2.0
/// yaml-cpp's events as a tree, with bounds.
#include "base/yaml.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <optional>
#include <sstream>
#include <unordered_set>
#include <utility>

#include "base/text.hpp"

namespace oplat::base {
namespace {

constexpr std::size_t kMaxDepth = 16;
constexpr std::size_t kMaxNodes = 20'000;

/// Leaves yaml-cpp's parser, which calls us back and knows no other way to be stopped.
struct Refusal {
  int line = 0;
  std::string what;
};

class Builder final : public YAML::EventHandler {
 public:
  Yaml take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (documents_++ > 0) refuse(mark, "a second document; expected only one");
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    OnScalar(mark, "", anchor, "");
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    refuse(mark, "aliases (*name) are not supported; write out the value");
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    check(mark, tag, anchor);
    add({value, line_of(mark), tag == "!"});
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    check(mark, tag, anchor);
    open({Yaml::List(), line_of(mark)});
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    check(mark, tag, anchor);
    open({Yaml::Map(), line_of(mark)});
  }
  void OnMapEnd() override { close(); }

 private:
  /// A list or map that is not complete yet.
  struct Open {
    Yaml node;
    std::optional<YamlEntry> entry;  ///< of a map: its name was read, its value not yet
    std::unordered_set<std::string> names;
  };

  static int line_of(const YAML::Mark& mark) { return mark.line + 1; }
  [[noreturn]] static void refuse(const YAML::Mark& mark, std::string what) {
    throw Refusal{line_of(mark), std::move(what)};
  }

  void check(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    if (anchor != YAML::NullAnchor)
      refuse(mark, "anchors (&name) are not supported; write out the value");
    if (!tag.empty() && tag != "?" && tag != "!")
      refuse(mark, fmt::format("tags ({}) are not supported; remove the tag", printable(tag)));
    if (++nodes_ > kMaxNodes) refuse(mark, fmt::format("more than {} entries", kMaxNodes));
  }

  void open(Yaml node) {
    if (open_.size() >= kMaxDepth)
      throw Refusal{node.line, fmt::format("nested deeper than {} levels", kMaxDepth)};
    open_.push_back({std::move(node), std::nullopt, {}});
  }
  void close() {
    Yaml node = std::move(open_.back().node);
    open_.pop_back();
    add(std::move(node));
  }

  void add(Yaml node) {
    if (open_.empty()) {
      root_ = std::move(node);
      return;
    }
    Open& into = open_.back();
    if (auto* list = std::get_if<Yaml::List>(&into.node.data)) {
      list->push_back(std::move(node));
    } else if (into.entry) {
      into.entry->value = std::move(node);
      std::get<Yaml::Map>(into.node.data).push_back(std::move(*into.entry));
      into.entry.reset();
    } else {
      const std::string* name = node.text();
      if (name == nullptr || name->empty())
        throw Refusal{node.line,
                      fmt::format("the name of an entry is {}; expected a word", node.described())};
      if (!into.names.insert(*name).second)
        throw Refusal{node.line, fmt::format("'{}' is given twice", printable(*name))};
      into.entry = YamlEntry{*name, node.line, {}};
    }
  }

  Yaml root_;
  std::vector<Open> open_;
  std::size_t nodes_ = 0;
  int documents_ = 0;
};

}  // namespace

std::string Yaml::described() const {
  if (list() != nullptr) return "a list";
  if (map() != nullptr) return "a map";
  return text()->empty() ? "nothing" : fmt::format("'{}'", printable(*text()));
}

Result<Yaml> parse_yaml(std::string_view name, std::string_view bytes) {
  if (bytes.size() > kMaxYamlBytes)
    return fail(Code::Input, "{}: has {} bytes; the limit is {}", name, bytes.size(),
                kMaxYamlBytes);
  Builder builder;
  try {
    std::istringstream stream{std::string(bytes)};
    YAML::Parser parser(stream);
    if (!parser.HandleNextDocument(builder)) return fail(Code::Input, "{}: is empty", name);
    parser.HandleNextDocument(builder);
  } catch (const Refusal& refusal) {
    return fail(Code::Input, "{}:{}: {}", name, refusal.line, refusal.what);
  } catch (const YAML::Exception& error) {
    return fail(Code::Input, "{}:{}: not YAML: {}", name, error.mark.line + 1,
                printable(error.msg, 200));
  }
  return builder.take();
}

}  // namespace oplat::base
