// SPDX-License-Identifier: Apache-2.0
/// Reads expressions: comparison of sums of products of numbers, words, calls and parentheses.
#include <algorithm>
#include <array>
#include <optional>

#include "base/text.hpp"
#include "plan/rules/expression_node.hpp"

namespace oplat::plan::rules {
namespace {

using Node = Expression::Node;

constexpr std::size_t kMaxDepth = 16;
constexpr std::size_t kMaxText = 400;

struct Signature {
  std::string_view name;
  Function function;
  std::size_t references;
  std::size_t least;  ///< further arguments
  std::size_t most;
};
constexpr std::array kSignatures = {
    Signature{"attr", Function::Attr, 1, 0, 1},
    Signature{"given", Function::Given, 1, 0, 0},
    Signature{"length", Function::Length, 1, 0, 0},
    Signature{"same", Function::Same, 2, 0, 0},
    Signature{"has", Function::Has, 1, 0, 0},
    Signature{"dim", Function::Dim, 1, 1, 1},
    Signature{"rank", Function::Rank, 1, 0, 0},
    Signature{"elements", Function::Elements, 1, 0, 0},
    Signature{"constant", Function::Constant, 1, 0, 0},
    Signature{"readers", Function::Readers, 1, 0, 0},
    Signature{"producer", Function::Producer, 1, 0, 0},
    Signature{"or", Function::Or, 0, 2, 2},
    Signature{"abs", Function::Abs, 0, 1, 1},
    Signature{"when", Function::When, 0, 2, 2},
    Signature{"not", Function::Not, 0, 1, 1},
    Signature{"any", Function::Any, 0, 1, 8},
    Signature{"list", Function::List, 0, 1, 8},
};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

class Parser {
 public:
  Parser(std::string_view text, const std::vector<std::string>& nodes)
      : text_(text), nodes_(nodes) {}

  Result<Node> run() {
    if (text_.size() > kMaxText)
      return fail(Code::Input, "an expression of more than {} letters", kMaxText);
    OPLAT_TRY(node, comparison(0));
    skip_blanks();
    if (at_ < text_.size()) return unexpected("its end");
    return std::move(node);
  }

 private:
  Result<Node> comparison(std::size_t depth) {
    static constexpr std::array<std::string_view, 6> kOperators = {
        "==", "!=", "<=", ">=", "<", ">"};
    OPLAT_TRY(left, sum(depth));
    for (const std::string_view op : kOperators) {
      if (!taken(op)) continue;
      OPLAT_TRY(right, sum(depth));
      return binary(op, std::move(left), std::move(right));
    }
    return std::move(left);
  }
  Result<Node> sum(std::size_t depth) {
    OPLAT_TRY(left, product(depth));
    for (int terms = 0; terms < 16; ++terms) {
      const std::string_view op = taken("+") ? "+" : taken("-") ? "-" : "";
      if (op.empty()) break;
      OPLAT_TRY(right, product(depth));
      left = binary(op, std::move(left), std::move(right));
    }
    return std::move(left);
  }
  Result<Node> product(std::size_t depth) {
    OPLAT_TRY(left, term(depth));
    for (int factors = 0; factors < 16 && taken("*"); ++factors) {
      OPLAT_TRY(right, term(depth));
      left = binary("*", std::move(left), std::move(right));
    }
    return std::move(left);
  }

  Result<Node> term(std::size_t depth) {
    if (depth >= kMaxDepth)
      return fail(Code::Input, "an expression nested more than {} deep", kMaxDepth);
    if (taken("(")) {
      OPLAT_TRY(inner, comparison(depth + 1));
      if (!taken(")")) return unexpected("')'");
      return std::move(inner);
    }
    skip_blanks();
    if (at_ < text_.size() && (is_digit(text_[at_]) || text_[at_] == '-')) return number();
    const std::string name = word();
    if (name.empty()) return unexpected("a number, a word or '('");
    if (taken("(")) return call(name, depth);
    Node node;
    node.literal = ir::Value(name);
    return node;
  }

  Result<Node> number() {
    const std::size_t from = at_;
    if (text_[at_] == '-') ++at_;
    while (at_ < text_.size() && (is_digit(text_[at_]) || text_[at_] == '.')) ++at_;
    const std::string_view given = text_.substr(from, at_ - from);
    Node node;
    if (const auto integer = base::parse_int(given)) {
      node.literal = ir::Value(*integer);
    } else if (const auto real = base::parse_double(given)) {
      node.literal = ir::Value(*real);
    } else {
      return fail(Code::Input, "'{}' is not a number", base::printable(given));
    }
    return node;
  }

  Result<Node> call(const std::string& name, std::size_t depth) {
    const auto signature = std::find_if(kSignatures.begin(), kSignatures.end(),
                                        [&](const Signature& one) { return one.name == name; });
    if (signature == kSignatures.end()) {
      std::vector<std::string> known;
      for (const Signature& one : kSignatures) known.emplace_back(one.name);
      return fail(Code::Input, "there is no function '{}'; there are {}", name,
                  base::join(known, ", "));
    }
    Node node;
    node.kind = Node::Kind::Call;
    node.function = signature->function;
    for (std::size_t i = 0; i < signature->references; ++i) {
      if (i > 0 && !taken(",")) return unexpected("','");
      OPLAT_TRY(made, reference());
      node.references.push_back(std::move(made));
    }
    while (!taken(")")) {
      const bool first = node.references.empty() && node.arguments.empty();
      if (!first && !taken(",")) return unexpected("',' or ')'");
      if (node.arguments.size() >= signature->most)
        return fail(Code::Input, "'{}' takes no more than {} arguments", name,
                    signature->references + signature->most);
      OPLAT_TRY(argument, comparison(depth + 1));
      node.arguments.push_back(std::move(argument));
    }
    if (node.arguments.size() < signature->least)
      return fail(Code::Input, "'{}' needs {} arguments", name,
                  signature->references + signature->least);
    return node;
  }

  Result<Reference> reference() {
    const std::string node = word();
    const auto found = std::find(nodes_.begin(), nodes_.end(), node);
    if (found == nodes_.end()) {
      return fail(Code::Input, "'{}' is not a node of the pattern; its nodes are {}",
                  base::printable(node), base::join(nodes_, ", "));
    }
    if (!taken(".")) return unexpected("'.' and the name of a slot or an attribute");
    const std::string name = word();
    if (name.empty()) return unexpected("the name of a slot or an attribute");
    return Reference{static_cast<std::size_t>(found - nodes_.begin()), name};
  }

  void skip_blanks() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool taken(std::string_view token) {
    skip_blanks();
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }
  std::string word() {
    skip_blanks();
    const std::size_t from = at_;
    while (at_ < text_.size() && (is_letter(text_[at_]) || (at_ > from && is_digit(text_[at_]))))
      ++at_;
    return std::string(text_.substr(from, at_ - from));
  }
  static Node binary(std::string_view op, Node left, Node right) {
    Node node;
    node.kind = Node::Kind::Binary;
    node.name = op;
    node.arguments.push_back(std::move(left));
    node.arguments.push_back(std::move(right));
    return node;
  }
  [[nodiscard]] tl::unexpected<Error> unexpected(std::string_view expected) const {
    const std::string_view rest = text_.substr(std::min(at_, text_.size()));
    return fail(Code::Input, "expected {} at letter {}, found {}", expected, at_ + 1,
                rest.empty() ? "the end" : fmt::format("'{}'", base::printable(rest, 20)));
  }

  std::string_view text_;
  const std::vector<std::string>& nodes_;
  std::size_t at_ = 0;
};

}  // namespace

Result<Node> parse_expression(std::string_view text, const std::vector<std::string>& nodes) {
  return Parser(text, nodes).run();
}

}  // namespace oplat::plan::rules
