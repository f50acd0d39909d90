// SPDX-License-Identifier: Apache-2.0
/// A recursive descent over the few forms of a Python literal.
#include "compat/tinynas/literal.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "base/text.hpp"

namespace oplat::compat::tinynas {
namespace {

constexpr std::size_t kMaxBytes = std::size_t{16} << 20;
constexpr std::size_t kMaxDepth = 64;
constexpr std::size_t kMaxValues = 1'000'000;

bool is_literal_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_name(char c) { return is_name_start(c) || is_literal_digit(c); }

/// Value of a digit in any base up to 16, or 99.
int digit_value(char c) {
  if (is_literal_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return 99;
}

void append_utf8(std::string& out, std::uint32_t code) {
  const auto byte = [&](std::uint32_t value) {
    out += static_cast<char>(static_cast<unsigned char>(value));
  };
  if (code < 0x80) {
    byte(code);
  } else if (code < 0x800) {
    byte(0xC0U | code >> 6U), byte(0x80U | (code & 0x3FU));
  } else if (code < 0x10000) {
    byte(0xE0U | code >> 12U), byte(0x80U | (code >> 6U & 0x3FU)), byte(0x80U | (code & 0x3FU));
  } else {
    byte(0xF0U | code >> 18U), byte(0x80U | (code >> 12U & 0x3FU)),
        byte(0x80U | (code >> 6U & 0x3FU));
    byte(0x80U | (code & 0x3FU));
  }
}

struct StringPrefix {
  bool raw = false;
  bool bytes = false;
};

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<Literal> parse() {
    if (text_.size() > kMaxBytes) {
      return fail(Code::Input, "1:1: {} bytes; the limit for a literal is 16 MiB", text_.size());
    }
    if (text_.starts_with(base::kByteOrderMark)) at_ = base::kByteOrderMark.size();
    skip_blanks();
    if (at_end()) return error(at_, "the text is empty; expected a literal");
    const std::size_t start = at_;
    OPLAT_TRY(first, value(0));
    skip_blanks();
    if (at_end()) return std::move(first);
    if (peek() != ',') return unexpected("the end of the text");
    // "1, 2" is a tuple without its brackets.
    Literal::Sequence tuple{'(', {}};
    tuple.items.push_back(std::move(first));
    OPLAT_CHECK(items(tuple.items, '\0', 0));
    return Literal{std::move(tuple), start};
  }

 private:
  template <class... Args>
  tl::unexpected<Error> error(std::size_t offset, fmt::format_string<Args...> format,
                              Args&&... args) const {
    return fail(Code::Input, "{}: {}", place_of(text_, offset),
                fmt::format(format, std::forward<Args>(args)...));
  }

  [[nodiscard]] bool at_end() const { return at_ >= text_.size(); }
  [[nodiscard]] char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  [[nodiscard]] std::string_view word() const {
    std::size_t end = at_;
    while (end < text_.size() && is_name(text_[end])) ++end;
    return text_.substr(at_, end - at_);
  }

  /// What stands here cannot stand here; says whether it is code.
  [[nodiscard]] tl::unexpected<Error> unexpected(std::string_view wanted) const {
    if (at_end()) return error(at_, "the text ends; expected {}", wanted);
    const char c = peek();
    constexpr std::string_view kLiteralsOnly =
        "only literals are allowed here (numbers, strings, lists, tuples, dictionaries)";
    if (is_name_start(c)) {
      static constexpr std::array kWords = {"and", "as", "await",  "else", "for", "if",
                                            "in",  "is", "lambda", "not",  "or",  "yield"};
      const std::string_view found = word();
      const bool keyword = std::find(kWords.begin(), kWords.end(), found) != kWords.end();
      const std::string shown = base::printable(found, 40);
      return error(at_, "found {} '{}', which is code; {}", keyword ? "the word" : "the name",
                   shown, kLiteralsOnly);
    }
    if (std::string_view("+-*/%@&|^~<>=!.([").find(c) != std::string_view::npos) {
      return error(at_, "found '{}', an expression, which is code; {}", c, kLiteralsOnly);
    }
    return error(at_, "found '{}'; expected {}", base::printable(text_.substr(at_, 1)), wanted);
  }

  /// Blanks, line ends, comments and joined lines.
  void skip_blanks() {
    while (!at_end()) {
      const char c = peek();
      if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f') {
        ++at_;
      } else if (c == '#') {
        while (!at_end() && peek() != '\n') ++at_;
      } else if (c == '\\' && (peek(1) == '\n' || (peek(1) == '\r' && peek(2) == '\n'))) {
        at_ += peek(1) == '\n' ? 2 : 3;
      } else {
        return;
      }
    }
  }

  Result<Literal> value(std::size_t depth) {
    if (depth > kMaxDepth) return error(at_, "nested deeper than {} levels", kMaxDepth);
    if (++values_ > kMaxValues) return error(at_, "more than {} values", kMaxValues);
    const std::size_t start = at_;
    const char c = peek();
    if (at_end()) return unexpected("a literal");
    if (c == '[' || c == '(') return bracketed(depth);
    if (c == '{') return braced(depth);
    if (c == '\'' || c == '"') return string(start);
    if (is_literal_digit(c) || (c == '.' && is_literal_digit(peek(1)))) return number(false);
    if (c == '+' || c == '-') {
      ++at_;
      skip_blanks();
      if (!is_literal_digit(peek()) && !(peek() == '.' && is_literal_digit(peek(1)))) {
        at_ = start;
        return unexpected("a number after the sign");
      }
      OPLAT_TRY(signed_number, number(c == '-'));
      signed_number.offset = start;
      return std::move(signed_number);
    }
    if (is_name_start(c)) return named(start);
    return unexpected("a literal");
  }

  /// True, False, None, or the prefix of a string.
  Result<Literal> named(std::size_t start) {
    const std::string_view name = word();
    const char after = peek(name.size());
    if (after == '\'' || after == '"') {
      if (name.find_first_of("fF") != std::string_view::npos && name.size() <= 2) {
        return error(start,
                     "found an f-string, which is code; only plain strings are allowed here");
      }
      if (string_prefix(name)) return string(start);
    }
    if (name == "True" || name == "False" || name == "None") {
      at_ += name.size();
      if (name == "None") return Literal{Literal::None{}, start};
      return Literal{name == "True", start};
    }
    return unexpected("a literal");
  }

  static std::optional<StringPrefix> string_prefix(std::string_view name) {
    StringPrefix prefix;
    std::string lower;
    for (const char c : name) lower += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    if (lower == "r") {
      prefix.raw = true;
    } else if (lower == "b") {
      prefix.bytes = true;
    } else if (lower == "br" || lower == "rb") {
      prefix.raw = prefix.bytes = true;
    } else if (lower != "u" && !lower.empty()) {
      return std::nullopt;
    }
    return prefix;
  }

  /// One or more strings next to each other, which Python joins. Bytes are none: b'k' is not a key
  /// 'k' in Python.
  Result<Literal> string(std::size_t start) {
    std::string out;
    for (;;) {
      const std::string_view name = word();
      const auto prefix = string_prefix(name);
      const char quote = peek(name.size());
      if (!prefix || (quote != '\'' && quote != '"')) break;
      if (prefix->bytes) {
        return error(at_, "found {}{}, which begins a byte string; omit the b", name, quote);
      }
      at_ += name.size();
      OPLAT_CHECK(one_string(prefix->raw, out));
      skip_blanks();
    }
    return Literal{std::move(out), start};
  }

  Status one_string(bool raw, std::string& out) {
    const std::size_t start = at_;
    const char quote = peek();
    const bool triple = peek(1) == quote && peek(2) == quote;
    at_ += triple ? 3 : 1;
    for (;;) {
      if (at_end() || (!triple && peek() == '\n')) return error(start, "the string does not end");
      const char c = peek();
      if (c == quote && (!triple || (peek(1) == quote && peek(2) == quote))) {
        at_ += triple ? 3 : 1;
        return {};
      }
      if (c != '\\') {
        out += c;
        ++at_;
      } else if (raw) {
        // Even in a raw string a backslash keeps the quote behind it from ending the string.
        out += c;
        ++at_;
        if (!at_end()) out += peek(), ++at_;
      } else {
        OPLAT_CHECK(escape(start, out));
      }
    }
  }

  Status escape(std::size_t string_start, std::string& out) {
    const std::size_t start = at_;
    ++at_;
    if (at_end()) return error(string_start, "the string does not end");
    const char c = peek();
    ++at_;
    static constexpr std::string_view kFrom = "\\'\"abfnrtv";
    static constexpr std::string_view kTo = "\\'\"\a\b\f\n\r\t\v";
    if (const std::size_t i = kFrom.find(c); i != std::string_view::npos) {
      out += kTo[i];
      return {};
    }
    if (c == '\n') return {};
    if (c == '\r' && peek() == '\n') {
      ++at_;
      return {};
    }
    if (c >= '0' && c <= '7') {
      std::uint32_t code = static_cast<std::uint32_t>(c - '0');
      for (int i = 0; i < 2 && peek() >= '0' && peek() <= '7'; ++i, ++at_) {
        code = code * 8 + static_cast<std::uint32_t>(peek() - '0');
      }
      append_utf8(out, code);
      return {};
    }
    if (c == 'x') return hexadecimal(2, start, out);
    if (c == 'u') return hexadecimal(4, start, out);
    if (c == 'U') return hexadecimal(8, start, out);
    if (c == 'N')
      return error(start, "named characters (\\N) are not supported; write the character itself");
    out += '\\';
    out += c;
    return {};
  }

  Status hexadecimal(int digits, std::size_t start, std::string& out) {
    std::uint32_t code = 0;
    for (int i = 0; i < digits; ++i, ++at_) {
      const int digit = digit_value(peek());
      if (digit > 15) return error(start, "the escape needs {} hexadecimal digits", digits);
      code = code * 16 + static_cast<std::uint32_t>(digit);
    }
    if (code > 0x10FFFF) return error(start, "the escape is beyond the last character, U+10FFFF");
    append_utf8(out, code);
    return {};
  }

  /// Digits of `base` with single underscores between them; empty where there are none or they
  /// stand wrongly.
  std::string digits(int base) {
    std::string out;
    while (digit_value(peek()) < base ||
           (peek() == '_' && !out.empty() && digit_value(peek(1)) < base)) {
      if (peek() != '_') out += peek();
      ++at_;
    }
    return out;
  }

  Result<Literal> number(bool negative) {
    const std::size_t start = at_;
    const char kind = peek() == '0' ? peek(1) : '\0';
    int base = 10;
    if (kind == 'x' || kind == 'X') base = 16;
    if (kind == 'o' || kind == 'O') base = 8;
    if (kind == 'b' || kind == 'B') base = 2;
    if (base != 10) {
      at_ += 2;
      if (peek() == '_') ++at_;
      return integer(start, digits(base), base, negative);
    }
    std::string text = digits(10);
    const std::size_t whole = text.size();
    bool real = false;
    if (peek() == '.') {
      real = true;
      ++at_;
      text += '.';
      text += digits(10);
    }
    if ((peek() == 'e' || peek() == 'E') &&
        (is_literal_digit(peek(1)) ||
         ((peek(1) == '+' || peek(1) == '-') && is_literal_digit(peek(2))))) {
      real = true;
      text += 'e';
      ++at_;
      if (peek() == '-') text += '-';
      if (!is_literal_digit(peek())) ++at_;
      text += digits(10);
    }
    if (!real) {
      if (whole > 1 && text[0] == '0' && text.find_first_not_of('0') != std::string::npos) {
        return error(start, "the integer {} begins with 0", base::printable(text, 24));
      }
      return integer(start, text, 10, negative);
    }
    OPLAT_CHECK(number_ends(start));
    if (whole == 0) text.insert(text.begin(), '0');
    const auto parsed = base::parse_double(text);
    if (!parsed) return error(start, "the number {} is out of range", base::printable(text, 24));
    return Literal{negative ? -*parsed : *parsed, start};
  }

  Result<Literal> integer(std::size_t start, const std::string& text, int base, bool negative) {
    OPLAT_CHECK(number_ends(start));
    if (text.empty()) return error(start, "the number has no digits");
    std::int64_t out = 0;
    for (const char c : text) {
      if (__builtin_mul_overflow(out, std::int64_t{base}, &out) ||
          __builtin_add_overflow(out, std::int64_t{digit_value(c)}, &out)) {
        return error(start, "the integer {} does not fit into 64 bits", base::printable(text, 24));
      }
    }
    return Literal{negative ? -out : out, start};
  }

  Status number_ends(std::size_t start) const {
    if (peek() == 'j' || peek() == 'J')
      return error(start, "complex numbers are not supported; expected a real number");
    if (is_name(peek()))
      return error(at_, "found '{}' inside a number", base::printable(word(), 24));
    return {};
  }

  /// What follows the first item of a bracket up to its end, or up to the end of the text for '\0'.
  /// at_ is at a comma or at the end.
  Status items(std::vector<Literal>& out, char close, std::size_t depth) {
    for (;;) {
      skip_blanks();
      if (close != '\0' ? peek() == close : at_end()) break;
      if (peek() != ',' || at_end()) return unexpected(expected_separator(close));
      ++at_;
      skip_blanks();
      if (close != '\0' ? peek() == close : at_end()) break;
      OPLAT_TRY(item, value(depth + 1));
      out.push_back(std::move(item));
    }
    if (close != '\0') ++at_;
    return {};
  }

  static std::string expected_separator(char close) {
    return close == '\0' ? std::string("',' or the end of the text")
                         : fmt::format("',' or '{}'", close);
  }

  /// A list, a tuple, or one value in parentheses.
  Result<Literal> bracketed(std::size_t depth) {
    const std::size_t start = at_;
    const char open = peek();
    const char close = open == '[' ? ']' : ')';
    ++at_;
    skip_blanks();
    Literal::Sequence sequence{open, {}};
    if (peek() == close) {
      ++at_;
      return Literal{std::move(sequence), start};
    }
    OPLAT_TRY(first, value(depth + 1));
    skip_blanks();
    if (open == '(' && peek() == ')') {
      ++at_;
      first.offset = start;
      return std::move(first);
    }
    sequence.items.push_back(std::move(first));
    OPLAT_CHECK(items(sequence.items, close, depth));
    return Literal{std::move(sequence), start};
  }

  /// A dictionary or a set.
  Result<Literal> braced(std::size_t depth) {
    const std::size_t start = at_;
    ++at_;
    skip_blanks();
    Literal::Dictionary dictionary;
    if (peek() == '}') {
      ++at_;
      return Literal{std::move(dictionary), start};
    }
    OPLAT_TRY(first, hashable(depth));
    skip_blanks();
    if (peek() != ':') {
      Literal::Sequence set{'{', {}};
      set.items.push_back(std::move(first));
      OPLAT_CHECK(items(set.items, '}', depth));
      return Literal{std::move(set), start};
    }
    dictionary.keys.push_back(std::move(first));
    OPLAT_CHECK(pair_value(dictionary, depth));
    for (;;) {
      skip_blanks();
      if (peek() == '}') break;
      if (peek() != ',' || at_end()) return unexpected("',' or '}'");
      ++at_;
      skip_blanks();
      if (peek() == '}') break;
      OPLAT_TRY(key, hashable(depth));
      skip_blanks();
      if (peek() != ':') return unexpected("':' after a key");
      dictionary.keys.push_back(std::move(key));
      OPLAT_CHECK(pair_value(dictionary, depth));
    }
    ++at_;
    return Literal{std::move(dictionary), start};
  }

  Result<Literal> hashable(std::size_t depth) {
    OPLAT_TRY(key, value(depth + 1));
    const Literal::Sequence* sequence = key.sequence();
    if (key.dictionary() != nullptr || (sequence != nullptr && sequence->kind != '(')) {
      return error(key.offset, "{} cannot be a key", key.shown());
    }
    return std::move(key);
  }

  Status pair_value(Literal::Dictionary& dictionary, std::size_t depth) {
    ++at_;
    skip_blanks();
    OPLAT_TRY(paired, value(depth + 1));
    dictionary.values.push_back(std::move(paired));
    return {};
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t values_ = 0;
};

}  // namespace

const Literal* Literal::Dictionary::find(std::string_view key) const {
  for (std::size_t i = keys.size(); i > 0; --i) {
    const std::string* text = keys[i - 1].text();
    if (text != nullptr && *text == key) return &values[i - 1];
  }
  return nullptr;
}

bool Literal::truthy() const {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag;
  if (const auto* number = std::get_if<double>(&value)) return *number != 0;
  if (integer() != nullptr) return *integer() != 0;
  if (text() != nullptr) return !text()->empty();
  if (sequence() != nullptr) return !sequence()->items.empty();
  if (dictionary() != nullptr) return !dictionary()->keys.empty();
  return false;
}

std::string Literal::shown() const {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "True" : "False";
  if (const auto* number = std::get_if<double>(&value)) return base::float_text(*number);
  if (integer() != nullptr) return fmt::format("{}", *integer());
  if (text() != nullptr) return fmt::format("the string '{}'", base::printable(*text(), 40));
  if (const Sequence* items = sequence()) {
    return items->kind == '[' ? "a list" : items->kind == '(' ? "a tuple" : "a set";
  }
  return dictionary() != nullptr ? "a dictionary" : "None";
}

std::string place_of(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, std::min(offset, text.size()));
  const auto line = std::count(before.begin(), before.end(), '\n');
  const std::size_t last = before.rfind('\n');
  const std::size_t column =
      last == std::string_view::npos ? before.size() : before.size() - last - 1;
  return fmt::format("{}:{}", line + 1, column + 1);
}

Result<Literal> parse_literal(std::string_view text) { return Parser(text).parse(); }

}  // namespace oplat::compat::tinynas
