// SPDX-License-Identifier: Apache-2.0
/// Patterns and replacements from YAML.
#include "plan/rules/read_rule.hpp"

#include <algorithm>

namespace oplat::plan::rules {
namespace {

using base::Fields;
using base::printable;
using base::Yaml;
using base::YamlEntry;

constexpr std::size_t kMaxNodes = 12;
constexpr std::size_t kMaxEntries = 64;

bool is_word(std::string_view text) {
  constexpr std::string_view kLetters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  return !text.empty() && text.size() <= 64 &&
         text.find_first_not_of(kLetters) == std::string_view::npos;
}

Result<std::string> word_of(const std::string& file, const Yaml& node, std::string_view what) {
  if (node.text() == nullptr || !is_word(*node.text()))
    return fail(Code::Input, "{}:{}: {} is {}; expected a word of letters, digits and '_'", file,
                node.line, what, node.described());
  return *node.text();
}

/// One word or a list of them.
Result<std::vector<std::string>> words_of(const std::string& file, const Yaml& node,
                                          std::string_view what) {
  std::vector<std::string> words;
  if (const auto* list = node.list()) {
    if (list->size() > kMaxEntries)
      return fail(Code::Input, "{}:{}: {} lists more than {}", file, node.line, what, kMaxEntries);
    for (const Yaml& one : *list) {
      OPLAT_TRY(word, word_of(file, one, what));
      words.push_back(word);
    }
  } else {
    OPLAT_TRY(word, word_of(file, node, what));
    words.push_back(word);
  }
  if (words.empty()) return fail(Code::Input, "{}:{}: {} is an empty list", file, node.line, what);
  return words;
}

ir::Value literal_of(const Yaml& node) {
  if (const auto* list = node.list()) {
    ir::List values;
    for (const Yaml& one : *list) values.push_back(literal_of(one));
    return ir::Value(std::move(values));
  }
  if (node.text() == nullptr) return {};
  if (const auto integer = base::parse_int(*node.text())) return ir::Value(*integer);
  if (const auto real = base::parse_double(*node.text())) return ir::Value(*real);
  return ir::Value(*node.text());
}

class Reader {
 public:
  Reader(const std::string& file, const Fields& fields) : file_(file), fields_(fields) {}

  Result<Rule> run(const std::string& name) {
    rule_.name = name;
    rule_.line = fields_.line();
    OPLAT_TRY(match, fields_.need("match"));
    OPLAT_CHECK(read_match(*match));
    OPLAT_CHECK(read_expressions("where", rule_.where));
    OPLAT_CHECK(read_expressions("if_any", rule_.if_any));
    if (const Yaml* node = fields_.find("unless_marked")) {
      OPLAT_TRY(word, word_of(file_, *node, "'unless_marked'"));
      rule_.unless_marked = word;
    }
    OPLAT_TRY(repeat, fields_.truth("repeat", false));
    rule_.repeat = repeat;
    OPLAT_CHECK(read_kind());
    OPLAT_CHECK(read_replacement());
    return std::move(rule_);
  }

 private:
  Status read_match(const Yaml& node) {
    if (node.list() == nullptr || node.list()->empty() || node.list()->size() > kMaxNodes)
      return fail(Code::Input, "{}:{}: 'match' is {}; expected a list of 1 to {} nodes", file_,
                  node.line, node.described(), kMaxNodes);
    for (const Yaml& one : *node.list()) OPLAT_CHECK(read_node(one));
    return {};
  }

  Status read_node(const Yaml& node) {
    OPLAT_TRY(fields,
              Fields::of(file_, node, "a node of 'match'",
                         {"node", "op", "reads", "feeds", "has", "lacks", "constant", "attrs"}));
    PatternNode made;
    OPLAT_TRY(name, fields.need("node"));
    OPLAT_TRY(word, word_of(file_, *name, "'node'"));
    if (std::find(names_.begin(), names_.end(), word) != names_.end())
      return fail(Code::Input, "{}:{}: two nodes of the pattern are called '{}'", file_, name->line,
                  word);
    made.name = word;
    OPLAT_TRY(op, fields.need("op"));
    OPLAT_TRY(ops, words_of(file_, *op, "'op'"));
    made.ops = ops;
    OPLAT_CHECK(read_references(fields, "reads", made.reads));
    OPLAT_CHECK(read_references(fields, "feeds", made.feeds));
    OPLAT_CHECK(read_words(fields, "has", made.has));
    OPLAT_CHECK(read_words(fields, "lacks", made.lacks));
    OPLAT_CHECK(read_words(fields, "constant", made.constant));
    if (const Yaml* attributes = fields.find("attrs")) {
      if (attributes->map() == nullptr)
        return fail(Code::Input, "{}:{}: 'attrs' is {}; expected a map", file_, attributes->line,
                    attributes->described());
      for (const YamlEntry& entry : *attributes->map()) {
        if (entry.value.map() != nullptr)
          return fail(Code::Input, "{}:{}: '{}' of 'attrs' is a map; expected a value", file_,
                      entry.line, printable(entry.name));
        made.attributes.emplace_back(entry.name, literal_of(entry.value));
      }
    }
    names_.push_back(word);
    rule_.match.push_back(std::move(made));
    return {};
  }

  Status read_words(const Fields& fields, std::string_view name, std::vector<std::string>& into) {
    const Yaml* node = fields.find(name);
    if (node == nullptr) return {};
    OPLAT_TRY(words, words_of(file_, *node, fmt::format("'{}'", name)));
    into = words;
    return {};
  }

  Result<Reference> reference_of(const Yaml& node) const {
    const std::string text = node.text() == nullptr ? std::string() : *node.text();
    const std::size_t dot = text.find('.');
    const std::string slot = dot == std::string::npos ? std::string() : text.substr(dot + 1);
    if (!is_word(slot) || !is_word(text.substr(0, dot)))
      return fail(Code::Input, "{}:{}: {} is not a slot of a node; expected NODE.SLOT", file_,
                  node.line, node.described());
    const auto found = std::find(names_.begin(), names_.end(), text.substr(0, dot));
    if (found == names_.end()) {
      return fail(Code::Input,
                  "{}:{}: '{}' is a slot of '{}', which the pattern does not bind; it binds {}",
                  file_, node.line, printable(text), printable(text.substr(0, dot)),
                  names_.empty() ? "nothing yet" : base::join(names_, ", "));
    }
    return Reference{static_cast<std::size_t>(found - names_.begin()), slot};
  }

  Status read_references(const Fields& fields, std::string_view name,
                         std::vector<std::pair<std::string, Reference>>& into) {
    const Yaml* node = fields.find(name);
    if (node == nullptr) return {};
    if (node->map() == nullptr || node->map()->size() > kMaxEntries)
      return fail(Code::Input, "{}:{}: '{}' is {}; expected a map SLOT: NODE.SLOT", file_,
                  node->line, name, node->described());
    for (const YamlEntry& entry : *node->map()) {
      if (!is_word(entry.name))
        return fail(Code::Input, "{}:{}: '{}' is not the name of a slot", file_, entry.line,
                    printable(entry.name));
      OPLAT_TRY(reference, reference_of(entry.value));
      into.emplace_back(entry.name, reference);
    }
    return {};
  }

  Result<Expression> expression_of(const Yaml& node) const {
    if (node.text() == nullptr)
      return fail(Code::Input, "{}:{}: {} where an expression is expected", file_, node.line,
                  node.described());
    auto parsed = Expression::parse(*node.text(), names_);
    if (!parsed)
      return fail(Code::Input, "{}:{}: in '{}': {}", file_, node.line, printable(*node.text()),
                  parsed.error().message);
    return *std::move(parsed);
  }
  Status read_expressions(std::string_view name, std::vector<Expression>& into) const {
    const Yaml* node = fields_.find(name);
    if (node == nullptr) return {};
    if (node->list() == nullptr || node->list()->size() > kMaxEntries)
      return fail(Code::Input, "{}:{}: '{}' is {}; expected a list of conditions", file_,
                  node->line, name, node->described());
    for (const Yaml& one : *node->list()) {
      OPLAT_TRY(expression, expression_of(one));
      into.push_back(std::move(expression));
    }
    return {};
  }
  Status read_set(const Yaml* node, std::vector<std::pair<std::string, Expression>>& into) const {
    if (node == nullptr) return {};
    if (node->map() == nullptr || node->map()->size() > kMaxEntries)
      return fail(Code::Input, "{}:{}: 'set' is {}; expected a map ATTRIBUTE: EXPRESSION", file_,
                  node->line, node->described());
    for (const YamlEntry& entry : *node->map()) {
      if (!is_word(entry.name))
        return fail(Code::Input, "{}:{}: '{}' is not the name of an attribute", file_, entry.line,
                    printable(entry.name));
      OPLAT_TRY(expression, expression_of(entry.value));
      into.emplace_back(entry.name, std::move(expression));
    }
    return {};
  }

  Status read_kind() {
    const Yaml* keep = fields_.find("keep");
    const Yaml* make = fields_.find("make");
    const Yaml* remove = fields_.find("remove");
    if ((keep != nullptr) + (make != nullptr) + (remove != nullptr) != 1)
      return fail(Code::Input, "{}:{}: {} needs just one of 'keep', 'make' and 'remove'", file_,
                  fields_.line(), fields_.what());
    if (remove != nullptr) {
      rule_.kind = Rule::Kind::Remove;
      if (remove->text() != nullptr && *remove->text() == "all") return {};
      return fail(Code::Input, "{}:{}: 'remove' is {}; expected all", file_, remove->line,
                  remove->described());
    }
    rule_.kind = keep != nullptr ? Rule::Kind::Keep : Rule::Kind::Make;
    const Yaml& base_node = keep != nullptr ? *keep : *make;
    OPLAT_TRY(name, word_of(file_, base_node, keep != nullptr ? "'keep'" : "'make'"));
    const auto found = std::find(names_.begin(), names_.end(), name);
    if (found == names_.end()) {
      return fail(Code::Input, "{}:{}: '{}' is not a node of the pattern; it binds {}", file_,
                  base_node.line, name, base::join(names_, ", "));
    }
    rule_.base = static_cast<std::size_t>(found - names_.begin());
    return {};
  }

  Status read_replacement() {
    if (const Yaml* node = fields_.find("op")) {
      OPLAT_TRY(op, word_of(file_, *node, "'op'"));
      rule_.op = op;
    }
    OPLAT_TRY(only, fields_.truth("only", false));
    rule_.only = only;
    OPLAT_CHECK(read_references(fields_, "in", rule_.in));
    OPLAT_CHECK(read_references(fields_, "out", rule_.out));
    OPLAT_CHECK(read_set(fields_.find("set"), rule_.set));
    if (const Yaml* node = fields_.find("forward")) {
      OPLAT_TRY(fields, Fields::of(file_, *node, "'forward'", {"from", "to"}));
      OPLAT_TRY(from, fields.need("from"));
      OPLAT_TRY(to, fields.need("to"));
      OPLAT_TRY(first, reference_of(*from));
      OPLAT_TRY(second, reference_of(*to));
      rule_.forward.emplace(first, second);
    }
    return read_readers();
  }

  Status read_readers() {
    const Yaml* node = fields_.find("readers");
    if (node == nullptr) return {};
    if (node->list() == nullptr || node->list()->size() > kMaxEntries)
      return fail(Code::Input, "{}:{}: 'readers' is {}; expected a list", file_, node->line,
                  node->described());
    for (const Yaml& one : *node->list()) {
      OPLAT_TRY(fields, Fields::of(file_, one, "an entry of 'readers'", {"ops", "set"}));
      ReaderChange change;
      OPLAT_CHECK(read_words(fields, "ops", change.ops));
      OPLAT_CHECK(read_set(fields.find("set"), change.set));
      rule_.readers.push_back(std::move(change));
    }
    return {};
  }

  const std::string& file_;
  const Fields& fields_;
  std::vector<std::string> names_;
  Rule rule_;
};

}  // namespace

Result<Rule> read_rule(const std::string& file, const Fields& fields, const std::string& name) {
  return Reader(file, fields).run(name);
}

Result<CastRule> read_casts(const std::string& file, const Yaml& node) {
  OPLAT_TRY(fields,
            Fields::of(file, node, "'casts'", {"marked", "type", "op", "in", "out", "weights"}));
  CastRule rule;
  if (const Yaml* marked = fields.find("marked")) {
    OPLAT_TRY(word, word_of(file, *marked, "'marked'"));
    rule.marked = word;
  }
  OPLAT_TRY(type, fields.need("type"));
  if (type->text() != nullptr && *type->text() == "i8") {
    rule.narrow = ir::Dtype::I8;
  } else if (type->text() != nullptr && *type->text() == "f16") {
    rule.narrow = ir::Dtype::F16;
  } else {
    return fail(Code::Input, "{}:{}: 'type' of 'casts' is {}; expected i8 or f16", file, type->line,
                type->described());
  }
  for (const auto& [name, into] :
       {std::pair{"op", &rule.op}, {"in", &rule.in}, {"out", &rule.out}}) {
    OPLAT_TRY(given, fields.need(name));
    OPLAT_TRY(word, word_of(file, *given, fmt::format("'{}' of 'casts'", name)));
    *into = word;
  }
  if (const Yaml* weights = fields.find("weights")) {
    OPLAT_TRY(words, words_of(file, *weights, "'weights'"));
    rule.weights = words;
  }
  return rule;
}

namespace {

/// Whether the pattern says that this is a result of one of its nodes.
bool is_result(const Rule& rule, const Reference& of) {
  const auto same = [&](const Reference& other) {
    return other.node == of.node && other.name == of.name;
  };
  for (std::size_t i = 0; i < rule.match.size(); ++i) {
    for (const auto& [slot, from] : rule.match[i].reads)
      if (same(from)) return true;
    for (const auto& [slot, to] : rule.match[i].feeds)
      if (of.node == i && of.name == slot) return true;
  }
  return false;
}

/// What is left reads nothing that a node of the pattern wrote.
Status check_operands(const std::string& file, const Rule& rule) {
  if (rule.forward && is_result(rule, rule.forward->second)) {
    return fail(Code::Input, "{}:{}: {} forwards to a result of '{}', which the rule takes away",
                file, rule.line, rule.name, rule.match[rule.forward->second.node].name);
  }
  if (rule.kind == Rule::Kind::Remove) return {};
  for (const auto& [slot, from] : rule.in) {
    if (is_result(rule, from))
      return fail(
          Code::Input,
          "{}:{}: operand {} of what {} leaves is a result of '{}', which the rule takes away",
          file, rule.line, slot, rule.name, rule.match[from.node].name);
  }
  const auto is_given = [&](const std::string& slot) {
    return rule.only || std::any_of(rule.in.begin(), rule.in.end(),
                                    [&](const auto& one) { return one.first == slot; });
  };
  std::vector<std::string> fed;
  for (const auto& [slot, from] : rule.match[rule.base].reads) fed.push_back(slot);
  for (const PatternNode& node : rule.match)
    for (const auto& [result, to] : node.feeds)
      if (to.node == rule.base) fed.push_back(to.name);
  for (const std::string& slot : fed) {
    if (!is_given(slot))
      return fail(Code::Input,
                  "{}:{}: operand {} of '{}' is a result of a node that {} takes away; say with "
                  "'in' what it reads instead",
                  file, rule.line, slot, rule.match[rule.base].name, rule.name);
  }
  return {};
}

}  // namespace

Status check_rule(const std::string& file, const Rule& rule) {
  for (std::size_t i = 0; i < rule.match.size(); ++i) {
    const PatternNode& node = rule.match[i];
    if (i > 0 && node.reads.empty() && node.feeds.empty()) {
      return fail(
          Code::Input,
          "{}:{}: the node '{}' of {} is not connected to another; say what it reads or feeds",
          file, rule.line, node.name, rule.name);
    }
    for (const std::string& slot : node.lacks) {
      const bool needed =
          std::find(node.has.begin(), node.has.end(), slot) != node.has.end() ||
          std::find(node.constant.begin(), node.constant.end(), slot) != node.constant.end() ||
          std::any_of(node.reads.begin(), node.reads.end(),
                      [&](const auto& one) { return one.first == slot; });
      if (needed)
        return fail(Code::Input,
                    "{}:{}: the node '{}' of {} is to have '{}' and to lack it: it cannot match",
                    file, rule.line, node.name, rule.name, slot);
    }
  }
  if (!rule.readers.empty() && !rule.forward)
    return fail(Code::Input,
                "{}:{}: 'readers' of {} are those of a forwarded result; it has no 'forward'", file,
                rule.line, rule.name);
  if (rule.kind == Rule::Kind::Remove &&
      (!rule.op.empty() || rule.only || !rule.in.empty() || !rule.out.empty() || !rule.set.empty()))
    return fail(Code::Input,
                "{}:{}: {} removes all; 'op', 'only', 'in', 'out' and 'set' have no node to change",
                file, rule.line, rule.name);
  OPLAT_CHECK(check_operands(file, rule));
  const std::vector<std::string>& ops = rule.match[0].ops;
  const bool same_op = rule.op.empty() || std::find(ops.begin(), ops.end(), rule.op) != ops.end();
  if (rule.repeat && rule.kind != Rule::Kind::Remove && rule.match.size() == 1 && same_op) {
    return fail(Code::Input,
                "{}:{}: {} repeats, and applies to its own result for ever: it takes one node and "
                "leaves one of the same operator",
                file, rule.line, rule.name);
  }
  return {};
}

}  // namespace oplat::plan::rules
