// SPDX-License-Identifier: Apache-2.0
/// Text to Key. Only the canonical text of a key is accepted, since keys are compared and indexed
/// by their text.
#include <fmt/format.h>

#include <utility>

#include "base/text.hpp"
#include "ir/key.hpp"
#include "ir/key_text.hpp"

namespace oplat::ir {
namespace {

/// Appends a code point as UTF-8.
void append_utf8(std::string& out, std::uint32_t code) {
  const auto put = [&](std::uint32_t byte) {
    out += static_cast<char>(static_cast<unsigned char>(byte));
  };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | code >> 6);
    put(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    put(0xE0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  } else {
    put(0xF0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3F));
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  }
}

/// Most operators have no more.
constexpr std::size_t kUsualAttributes = 8;

/// Recursive descent. Every step returns false once something is wrong, and error() then says what.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  bool key(Key& key) {
    if (!name(key.op, "an operator")) return false;
    if (accept(':')) {
      if (key.op.empty()) return wrong(0, "not canonical: an empty domain is left out");
      key.domain = std::move(key.op);
      key.op.clear();
      if (!name(key.op, "an operator")) return false;
    }
    if (accept('/') && !natural(key.since.emplace(), "an operator-set version")) return false;
    while (accept('@')) {
      if (!named(key.tags)) return false;
    }
    if (!expect('{', "'{' and attributes")) return false;
    if (!accept('}')) {
      key.attributes.reserve(kUsualAttributes);
      do {
        if (!named(key.attributes)) return false;
      } while (accept(','));
      if (!expect('}', "',' or '}'")) return false;
    }
    if (!entries(key.operands, nullptr)) return false;
    if (!expect('-', "'->' and results") || !expect('>', "'->' and results")) return false;
    if (!entries(key.results, &key.operands)) return false;
    if (at_ != text_.size()) return wrong(at_, "expected the end of the key");
    return true;
  }

  [[nodiscard]] const std::string& error() const { return error_; }

 private:
  [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  /// Notes the first thing that is wrong; `complaint` continues "byte N: found X, ...".
  bool wrong(std::size_t offset, std::string_view complaint) {
    if (!error_.empty()) return false;
    error_ = offset < text_.size()
                 ? fmt::format("byte {}: found '{}', {}", offset,
                               base::printable(text_.substr(offset), 16), complaint)
                 : fmt::format("byte {}: the key ends here, {}", offset, complaint);
    return false;
  }

  bool accept(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  bool expect(char c, std::string_view what) {
    return accept(c) || wrong(at_, fmt::format("expected {}", what));
  }

  template <class Predicate>
  std::string_view run(Predicate predicate) {
    const std::size_t start = at_;
    while (at_ < text_.size() && predicate(text_[at_])) ++at_;
    return text_.substr(start, at_ - start);
  }

  bool name(std::string& out, std::string_view what) {
    const std::size_t start = at_;
    if (peek() == '"') {
      if (!quoted(out)) return false;
      if (is_bare_name(out))
        return wrong(
            start, fmt::format("not canonical: write {} without quotes", base::printable(out, 40)));
      return true;
    }
    out = run(is_name_char);
    return !out.empty() || wrong(at_, fmt::format("expected {}", what));
  }

  /// name=value, the names rising bytewise.
  bool named(std::vector<NamedValue>& out) {
    const std::size_t start = at_;
    NamedValue pair;
    if (!name(pair.first, "a name")) return false;
    if (!out.empty() && pair.first == out.back().first)
      return wrong(start, "this name appears twice");
    if (!out.empty() && pair.first < out.back().first) {
      return wrong(
          start, fmt::format("not canonical: names must be sorted, so this one belongs before '{}'",
                             base::printable(out.back().first, 40)));
    }
    if (!expect('=', "'=' and a value") || !value(pair.second, 0)) return false;
    out.push_back(std::move(pair));
    return true;
  }

  bool value(Value& out, int depth) {
    if (++values_ > kMaxKeyValues)
      return wrong(at_, fmt::format("a key holds at most {} values", kMaxKeyValues));
    const char c = peek();
    if (c == '?') {
      ++at_;
      out = Unknown{};
      return true;
    }
    if (c == '[') return list(out, depth);
    if (c == '"') {
      const std::size_t start = at_;
      std::string text;
      if (!quoted(text)) return false;
      if (is_bare_word(text))
        return wrong(start, fmt::format("not canonical: write {} without quotes",
                                        base::printable(text, 40)));
      out = std::move(text);
      return true;
    }
    return token(out);
  }

  bool list(Value& out, int depth) {
    if (depth >= kMaxKeyDepth)
      return wrong(at_, fmt::format("lists nest at most {} deep", kMaxKeyDepth));
    ++at_;
    List list;
    if (!accept(']')) {
      do {
        if (!value(list.emplace_back(), depth + 1)) return false;
      } while (accept(','));
      if (!expect(']', "',' or ']'")) return false;
    }
    out = std::move(list);
    return true;
  }

  /// A number or a bare word.
  bool token(Value& out) {
    const std::size_t start = at_;
    const std::string_view text = run(is_token_char);
    if (text.empty())
      return wrong(start, "expected a value: ?, a number, a word, a \"string\" or a [list]");
    if (is_bare_word(text)) {
      out = std::string(text);
      return true;
    }
    const std::string_view digits = text.substr(text.front() == '-' ? 1 : 0);
    if (!digits.empty() && std::all_of(digits.begin(), digits.end(), is_digit))
      return integer(out, start, text);
    const auto number = base::parse_double(text);
    if (!number) {
      return wrong(start, is_letter(text.front()) ? "not canonical: a string with characters other "
                                                    "than letters, digits and _ needs double quotes"
                                                  : "expected a number that a double can hold");
    }
    const std::string canonical = base::float_text(*number);
    if (canonical != text)
      return wrong(start, fmt::format("not canonical: write this number as {}", canonical));
    out = *number;
    return true;
  }

  bool integer(Value& out, std::size_t start, std::string_view text) {
    const auto number = base::parse_int(text);
    if (!number) return wrong(start, "expected an integer of 64 bits");
    const std::string_view digits = text.substr(text.front() == '-' ? 1 : 0);
    if (digits.front() == '0' && text.size() > 1)
      return wrong(start, fmt::format("not canonical: write this number as {}", *number));
    out = *number;
    return true;
  }

  /// An integer >= 0 without leading zeros.
  bool natural(std::int64_t& out, std::string_view what) {
    const std::size_t start = at_;
    const std::string_view digits = run(is_digit);
    if (digits.empty()) return wrong(start, fmt::format("expected {}", what));
    const auto number = base::parse_int(digits);
    if (!number) return wrong(start, fmt::format("expected {} of at most 63 bits", what));
    if (digits.size() > 1 && digits.front() == '0') {
      return wrong(start, fmt::format("not canonical: write this number as {}", *number));
    }
    out = *number;
    return true;
  }

  /// A JSON string in the one spelling that base::json_quote gives it.
  bool quoted(std::string& out) {
    const std::size_t start = at_++;
    for (;;) {
      if (at_ >= text_.size()) return wrong(at_, "expected '\"'");
      const char c = text_[at_];
      if (c == '"') break;
      if (c == '\\') {
        if (!escape(out)) return false;
      } else if (c < 0x20 || c > 0x7E) {
        return wrong(at_, "not canonical: write this character as \\uXXXX");
      } else {
        out += c;
        ++at_;
      }
    }
    ++at_;
    const std::string canonical = base::json_quote(out);
    const std::string_view found = text_.substr(start, at_ - start);
    if (canonical == found) return true;
    std::size_t same = 0;
    while (same < canonical.size() && same < found.size() && canonical[same] == found[same]) ++same;
    return wrong(start + same,
                 fmt::format("not canonical: the string continues with {} here",
                             base::printable(std::string_view(canonical).substr(same), 16)));
  }

  bool escape(std::string& out) {
    const std::size_t start = at_++;
    constexpr std::string_view kNames = "\"\\/bfnrt";
    constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    if (const std::size_t i = kNames.find(peek());
        at_ < text_.size() && i != std::string_view::npos) {
      ++at_;
      out += kMeanings[i];
      return true;
    }
    std::uint32_t code = 0;
    if (!unit(code)) return wrong(start, "expected an escape of JSON");
    if (code >= 0xDC00 && code < 0xE000)
      return wrong(start, "expected a surrogate pair, not its second half");
    if (code >= 0xD800 && code < 0xDC00) {
      std::uint32_t low = 0;
      if (!accept('\\') || !unit(low) || low < 0xDC00 || low >= 0xE000) {
        return wrong(start, "expected a surrogate pair, not its first half");
      }
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    }
    append_utf8(out, code);
    return true;
  }

  /// uXXXX.
  bool unit(std::uint32_t& code) {
    if (!accept('u') || text_.size() - at_ < 4) return false;
    for (int i = 0; i < 4; ++i) {
      const char c = text_[at_++];
      const int digit = is_digit(c)            ? c - '0'
                        : c >= 'a' && c <= 'f' ? c - 'a' + 10
                        : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                               : -1;
      if (digit < 0) return false;
      code = code << 4 | static_cast<std::uint32_t>(digit);
    }
    return true;
  }

  /// `operands` is nullptr while the operands themselves are read.
  bool entries(std::vector<Entry>& out, const std::vector<Entry>* operands) {
    if (!expect('(', operands == nullptr ? "'(' and operands" : "'(' and results")) return false;
    if (accept(')')) return true;
    do {
      if (out.size() >= kMaxKeyEntries) {
        return wrong(at_,
                     fmt::format("a key holds at most {} operands or results", kMaxKeyEntries));
      }
      Entry entry;
      if (!this->entry(entry, operands == nullptr ? out : *operands)) return false;
      out.push_back(std::move(entry));
    } while (accept(','));
    return expect(')', "',' or ')'");
  }

  bool entry(Entry& out, const std::vector<Entry>& targets) {
    if (accept('-')) {
      out = AbsentEntry{};
      return true;
    }
    const std::size_t start = at_;
    if (accept('&')) {
      std::int64_t index = 0;
      if (!natural(index, "the number of an operand")) return false;
      if (static_cast<std::uint64_t>(index) >= targets.size()) {
        return wrong(
            start, fmt::format(
                       "expected the number of one of the {} operands before the &, counted from 0",
                       targets.size()));
      }
      const auto* target = std::get_if<TensorEntry>(&targets[static_cast<std::size_t>(index)]);
      if (target == nullptr)
        return wrong(start, "not canonical: & must name an operand that is a tensor");
      if (target->constant)
        return wrong(start, "not canonical: & must name an operand that is not constant");
      out = AliasEntry{static_cast<std::size_t>(index)};
      return true;
    }
    return tensor(out.emplace<TensorEntry>());
  }

  bool tensor(TensorEntry& out) {
    const std::size_t start = at_;
    std::string_view dtype = run([](char c) { return is_letter(c) || is_digit(c); });
    auto known = parse_dtype(dtype);
    if (!known && dtype.ends_with('c')) {
      out.constant = true;
      dtype.remove_suffix(1);
      known = parse_dtype(dtype);
    }
    if (!known)
      return wrong(start, "expected '-', '&' or an element type (f32, i64, bool, any, ...)");
    out.dtype = *known;
    if (!expect('[', "'[' and dimensions") || !dims(out.shape)) return false;
    if (accept('=')) return value(out.value.emplace(), 0);
    return true;
  }

  bool dims(Shape& out) {
    if (accept('*')) {
      out.ranked = false;
      return expect(']', "']' after the *");
    }
    if (accept(']')) return true;
    do {
      if (++dims_ > kMaxKeyDims)
        return wrong(at_, fmt::format("a key holds at most {} dimensions", kMaxKeyDims));
      if (accept('?')) {
        out.dims.emplace_back();
      } else if (std::int64_t number = 0; natural(number, "a dimension: a number, ? or *")) {
        out.dims.emplace_back(number);
      } else {
        return false;
      }
    } while (accept(','));
    return expect(']', "',' or ']'");
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t values_ = 0;
  std::size_t dims_ = 0;
  std::string error_;
};

}  // namespace

Result<Key> parse(std::string_view text) {
  if (text.size() > kMaxKeyBytes) {
    return fail(Code::Input, "key: has {} bytes; the limit is {}", text.size(), kMaxKeyBytes);
  }
  Key key;
  Parser parser(text);
  if (!parser.key(key)) return fail(Code::Input, "key: {}", parser.error());
  // The parser checks each token; this also holds should it ever forget one, since two texts of one
  // key would make two kernels.
  const std::string canonical = print(key);
  if (canonical != text) {
    std::size_t same = 0;
    while (same < canonical.size() && same < text.size() && canonical[same] == text[same]) ++same;
    return fail(Code::Input, "key: byte {}: not canonical, expected '{}'", same,
                base::printable(std::string_view(canonical).substr(same), 40));
  }
  return key;
}

}  // namespace oplat::ir
