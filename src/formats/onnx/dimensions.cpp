// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/dimensions.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"

namespace oplat::formats::onnx {
namespace {

constexpr std::size_t kMaxText = 256;
constexpr std::size_t kMaxTerms = 32;
constexpr std::size_t kMaxFactors = 8;
constexpr int kMaxDepth = 8;
/// No dimension is larger: see --shape.
constexpr std::int64_t kMaxSize = std::int64_t{1} << 40;

using Terms = std::map<DimensionSum::Product, std::int64_t>;

bool is_space(char c) { return c == ' ' || c == '\t'; }

/// `terms` += factor * product; false where it grows too large.
bool add_term(Terms& terms, const DimensionSum::Product& product, std::int64_t factor) {
  std::int64_t& sum = terms[product];
  if (__builtin_add_overflow(sum, factor, &sum)) return false;
  if (sum == 0) terms.erase(product);
  return terms.size() <= kMaxTerms && product.size() <= kMaxFactors;
}

std::optional<Terms> product_of(const Terms& a, const Terms& b) {
  Terms all;
  for (const auto& [left, m] : a) {
    for (const auto& [right, n] : b) {
      DimensionSum::Product product = left;
      product.insert(product.end(), right.begin(), right.end());
      std::sort(product.begin(), product.end());
      std::int64_t factor = 0;
      if (__builtin_mul_overflow(m, n, &factor) || !add_term(all, product, factor))
        return std::nullopt;
    }
  }
  return all;
}

/// The product of those of its names that are known; the others in `open`.
std::optional<std::int64_t> known_part(const DimensionSum::Product& product,
                                       const std::map<std::string, std::int64_t>& known,
                                       DimensionSum::Product& open) {
  std::int64_t part = 1;
  for (const std::string& name : product) {
    const auto at = known.find(name);
    if (at == known.end()) {
      open.push_back(name);
    } else if (__builtin_mul_overflow(part, at->second, &part)) {
      return std::nullopt;
    }
  }
  return part;
}

/// A sum with the known names put in: what is left of it. std::nullopt where it grows too large.
std::optional<Terms> put_in_known(const DimensionSum& sum,
                                  const std::map<std::string, std::int64_t>& known) {
  Terms left;
  for (const auto& [product, factor] : sum.terms()) {
    DimensionSum::Product open;
    const auto part = known_part(product, known, open);
    std::int64_t value = 0;
    if (!part || __builtin_mul_overflow(*part, factor, &value) || !add_term(left, open, value))
      return std::nullopt;
  }
  return left;
}

std::int64_t constant_of(const Terms& terms) {
  const auto at = terms.find({});
  return at == terms.end() ? 0 : at->second;
}

bool is_constant(const Terms& terms) {
  return terms.empty() || (terms.size() == 1 && terms.begin()->first.empty());
}

}  // namespace

/// Sum: product, then (+ or -) product; product: factor, then * factor; factor: number, name, or a
/// sum in parentheses.
class SumParser {
 public:
  explicit SumParser(std::string_view text) : text_(text) {}

  std::optional<Terms> parse() {
    if (text_.size() > kMaxText) return std::nullopt;
    auto all = sum(0);
    skip_spaces();
    if (!all || at_ != text_.size()) return std::nullopt;
    return all;
  }

  static DimensionSum of(Terms terms) {
    DimensionSum made;
    made.terms_ = std::move(terms);
    return made;
  }

 private:
  std::optional<Terms> sum(int depth) {
    if (depth > kMaxDepth) return std::nullopt;
    auto all = product(depth);
    while (all) {
      // A name may hold a "-": the sign of a difference stands behind a space.
      const bool minus = peek() == '-' && is_space(text_[at_ - 1]);
      if (peek() != '+' && !minus) break;
      ++at_;
      const auto more = product(depth);
      if (!more) return std::nullopt;
      for (const auto& [names, factor] : *more) {
        if (!add_term(*all, names, minus ? -factor : factor)) return std::nullopt;
      }
    }
    return all;
  }

  std::optional<Terms> product(int depth) {
    auto all = factor(depth);
    while (all) {
      skip_spaces();
      if (peek() != '*') break;
      ++at_;
      const auto more = factor(depth);
      if (!more) return std::nullopt;
      all = product_of(*all, *more);
    }
    return all;
  }

  std::optional<Terms> factor(int depth) {
    skip_spaces();
    if (peek() == '(') {
      ++at_;
      auto inner = sum(depth + 1);
      skip_spaces();
      if (!inner || peek() != ')') return std::nullopt;
      ++at_;
      return inner;
    }
    const std::size_t begin = at_;
    while (at_ < text_.size() && !is_space(text_[at_]) &&
           std::string_view("+*()/,").find(text_[at_]) == std::string_view::npos)
      ++at_;
    const std::string word(text_.substr(begin, at_ - begin));
    if (word.empty() || word.front() == '-') return std::nullopt;
    if (const auto number = base::parse_int(word)) {
      Terms constant;
      if (*number > kMaxSize || !add_term(constant, {}, *number)) return std::nullopt;
      return constant;
    }
    if (word.front() >= '0' && word.front() <= '9') return std::nullopt;
    return Terms{{{word}, 1}};
  }

  void skip_spaces() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }
  [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  std::string_view text_;
  std::size_t at_ = 0;
};

DimensionSum DimensionSum::parse(std::string_view text) {
  auto terms = SumParser(text).parse();
  if (!terms) return SumParser::of({{{std::string(text)}, 1}});
  return SumParser::of(std::move(*terms));
}

bool DimensionSum::is_name() const {
  return terms_.size() == 1 && terms_.begin()->first.size() == 1 && terms_.begin()->second == 1;
}

std::set<std::string> DimensionSum::names() const {
  std::set<std::string> all;
  for (const auto& [product, factor] : terms_) all.insert(product.begin(), product.end());
  return all;
}

Status Dimensions::use(const Fact& fact, std::vector<std::string>& found) {
  const auto disagrees = [&](std::int64_t other) {
    return fail(Code::Usage,
                "{}: dimension '{}' would be {} in input '{}' and {} by the other inputs; give "
                "--shape values that agree",
                file_, base::printable(fact.text), fact.size, base::printable(fact.input), other);
  };
  const auto left = put_in_known(fact.sum, known_);
  if (!left) {
    return fail(Code::Usage, "{}: dimension '{}' of input '{}' is too large", file_,
                base::printable(fact.text), base::printable(fact.input));
  }
  if (is_constant(*left)) {
    if (constant_of(*left) != fact.size) return disagrees(constant_of(*left));
    return {};
  }
  // One name left, by itself: it is determined.
  const std::size_t terms = left->size() - (left->contains({}) ? 1 : 0);
  const auto& [product, factor] = *left->rbegin();
  if (terms != 1 || product.size() != 1) return {};
  const std::int64_t rest = fact.size - constant_of(*left);
  if (rest % factor != 0 || rest / factor < 0) {
    return fail(Code::Usage,
                "{}: dimension '{}' is {} in input '{}', which no size of '{}' gives; give --shape "
                "values that agree",
                file_, base::printable(fact.text), fact.size, base::printable(fact.input),
                base::printable(product.front()));
  }
  known_.emplace(product.front(), rest / factor);
  found.push_back(product.front());
  return {};
}

Status Dimensions::set(const std::string& text, std::int64_t size, const std::string& input) {
  if (!said_.emplace(text, size).second) return {};
  const std::size_t at = facts_.size();
  facts_.push_back({text, DimensionSum::parse(text), size, input});
  for (const std::string& name : facts_.back().sum.names()) facts_of_[name].push_back(at);
  std::vector<std::string> found;
  OPLAT_CHECK(use(facts_[at], found));
  while (!found.empty()) {
    const std::string name = std::move(found.back());
    found.pop_back();
    for (const std::size_t i : facts_of_[name]) OPLAT_CHECK(use(facts_[i], found));
  }
  return {};
}

Result<std::optional<std::int64_t>> Dimensions::size(const std::string& text) const {
  const auto left = put_in_known(DimensionSum::parse(text), known_);
  if (left && !is_constant(*left)) return std::optional<std::int64_t>();
  const std::int64_t size = left ? constant_of(*left) : -1;
  if (size < 0 || size > kMaxSize) {
    return fail(Code::Usage,
                "{}: dimension '{}' would be {}; give --shape values that fit each other", file_,
                base::printable(text), left ? std::to_string(size) : "too large");
  }
  return std::optional(size);
}

}  // namespace oplat::formats::onnx
