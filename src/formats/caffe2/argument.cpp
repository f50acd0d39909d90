// SPDX-License-Identifier: Apache-2.0
/// Arguments of Caffe2's operators in protobuf's text form. The few forms that an Argument can take
/// are read here, so that this layer needs no protobuf; the reader of whole nets (formats/caffe2)
/// has the real thing.
#include <cmath>
#include <limits>
#include <optional>

#include "base/text.hpp"
#include "formats/caffe2/operators.hpp"

namespace oplat::formats::caffe2 {

using namespace ir;  // NOLINT: the file is about keys

namespace {

/// An argument is a few numbers; embedded weights have no business in a table of latencies.
constexpr std::size_t kMaxArgumentBytes = 1U << 16;

/// Infinite where 32 bits do not reach.
float narrowed(double value) {
  constexpr float kInfinite = std::numeric_limits<float>::infinity();
  if (value > double{std::numeric_limits<float>::max()}) return kInfinite;
  if (value < double{std::numeric_limits<float>::lowest()}) return -kInfinite;
  return static_cast<float>(value);
}

/// What protobuf prints for a float: six digits where they read back to the same number, else as
/// many as it takes.
std::string float_text(double value) {
  const float narrow = narrowed(value);
  for (int digits = 6; digits < 9; ++digits) {
    std::string text = fmt::format("{:.{}g}", narrow, digits);
    const auto back = base::parse_double(text);
    if (!back || narrowed(*back) == narrow) return text;
  }
  return fmt::format("{:.9g}", narrow);
}

std::string quoted_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\'' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\r') {
      out += "\\r";
    } else if (c == '\t') {
      out += "\\t";
    } else if (byte < 0x20 || byte >= 0x7f) {
      out += fmt::format("\\{:03o}", byte);
    } else {
      out += c;
    }
  }
  return out + '"';
}

class ArgumentParser {
 public:
  explicit ArgumentParser(std::string_view text) : text_(text) {}

  Result<NamedValue> run() {
    if (text_.size() > kMaxArgumentBytes)
      return fail(Code::Input, "argument: has {} bytes; the limit is {}", text_.size(),
                  kMaxArgumentBytes);
    for (skip(); at_ < text_.size(); skip()) {
      if (!field()) {
        return fail(
            Code::Input,
            "argument: '{0}' is not the protobuf text of an Argument: expected {2} at byte {1}",
            base::printable(text_), at_, expected_);
      }
    }
    if (name_.empty())
      return fail(Code::Input, "argument: '{}' has no name", base::printable(text_));
    return NamedValue(std::move(name_), std::move(value_));
  }

 private:
  bool wrong(std::string_view expected) {
    expected_ = expected;
    return false;
  }
  void skip() {
    while (at_ < text_.size() &&
           std::string_view(" \t\r\n,;").find(text_[at_]) != std::string_view::npos)
      ++at_;
  }
  bool eat(char c) {
    skip();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  std::string_view word() {
    skip();
    const std::size_t start = at_;
    while (at_ < text_.size() &&
           std::string_view(" \t\r\n,;:[]\"'").find(text_[at_]) == std::string_view::npos)
      ++at_;
    return text_.substr(start, at_ - start);
  }

  bool field() {
    const std::size_t start = at_;
    const std::string_view field = word();
    const bool plural = field == "ints" || field == "floats" || field == "strings";
    if (!plural && field != "name" && field != "i" && field != "f" && field != "s") {
      at_ = start;
      return wrong("name, i, f, s, ints, floats or strings");
    }
    if (!eat(':')) return wrong("':'");
    if (!plural) return element(field, field != "name" && !value_.unknown());
    if (value_.unknown()) value_ = List{};
    if (value_.list() == nullptr || (!kind_.empty() && kind_ != field))
      return wrong("one kind of value");
    kind_ = field;
    if (!eat('[')) return element(field, false);
    if (eat(']')) return true;
    do {
      if (!element(field, false)) return false;
      skip();
    } while (at_ < text_.size() && text_[at_] != ']');
    return eat(']') || wrong("']'");
  }

  bool element(std::string_view field, bool twice) {
    if (twice) return wrong("one value");
    if (field == "name" || field == "s" || field == "strings") {
      std::string text;
      if (!string(text)) return false;
      if (field == "name") {
        if (!name_.empty()) return wrong("one name");
        name_ = std::move(text);
        return true;
      }
      return put(Value(std::move(text)));
    }
    const std::string_view digits = word();
    if (field == "i" || field == "ints") {
      const auto number = base::parse_int(digits);
      return number ? put(Value(*number)) : wrong("an integer");
    }
    const auto number = base::parse_double(digits);
    return number ? put(Value(caffe2_float(narrowed(*number)))) : wrong("a number");
  }

  bool put(Value value) {
    if (auto* list = std::get_if<List>(&value_.data)) {
      list->push_back(std::move(value));
    } else {
      value_ = std::move(value);
    }
    return true;
  }

  bool string(std::string& out) {
    skip();
    if (at_ >= text_.size() || (text_[at_] != '"' && text_[at_] != '\''))
      return wrong("a string in quotes");
    const char quote = text_[at_++];
    while (at_ < text_.size() && text_[at_] != quote) {
      if (text_[at_] != '\\') {
        out += text_[at_++];
      } else if (!escape(out)) {
        return false;
      }
    }
    return at_ < text_.size() ? (++at_, true) : wrong("a closing quote");
  }

  bool escape(std::string& out) {
    if (++at_ >= text_.size()) return wrong("an escape");
    const char c = text_[at_++];
    constexpr std::string_view kNames = "abfnrtv";
    if (const std::size_t i = kNames.find(c); i != std::string_view::npos) {
      out += "\a\b\f\n\r\t\v"[i];
    } else if (c == 'x' || c == 'X' || (c >= '0' && c <= '7')) {
      const bool hex = c == 'x' || c == 'X';
      const std::string_view digits = hex ? "0123456789abcdefABCDEF" : "01234567";
      if (!hex) --at_;
      unsigned number = 0;
      int count = 0;
      for (; count < (hex ? 2 : 3) && at_ < text_.size() &&
             digits.find(text_[at_]) != std::string_view::npos;
           ++count) {
        const auto digit = static_cast<unsigned>(digits.find(text_[at_++]));
        number = number * (hex ? 16U : 8U) + (digit < 16 ? digit : digit - 6);
      }
      if (count == 0 || number > 255) return wrong("an escape of one byte");
      out += static_cast<char>(number);
    } else if (c == '\\' || c == '"' || c == '\'' || c == '?') {
      out += c;
    } else {
      return wrong("an escape that protobuf knows");
    }
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string_view expected_;
  std::string_view kind_;
  std::string name_;
  Value value_;
};

void print_field(std::string& out, const Value& value, bool plural) {
  if (const auto* number = value.integer())
    out += fmt::format("{}: {}\n", plural ? "ints" : "i", *number);
  if (const auto* real = value.real())
    out += fmt::format("{}: {}\n", plural ? "floats" : "f", float_text(*real));
  if (const auto* text = value.text())
    out += fmt::format("{}: {}\n", plural ? "strings" : "s", quoted_text(*text));
}

}  // namespace

double caffe2_float(float value) {
  if (!std::isfinite(value)) return double{value};
  return base::parse_double(float_text(double{value})).value_or(double{value});
}

Result<NamedValue> parse_caffe2_argument(std::string_view text) {
  return ArgumentParser(text).run();
}

std::string caffe2_argument_text(const NamedValue& argument) {
  std::string out = fmt::format("name: {}\n", quoted_text(argument.first));
  if (const List* list = argument.second.list()) {
    for (const Value& element : *list) print_field(out, element, true);
  } else {
    print_field(out, argument.second, false);
  }
  return out;
}

}  // namespace oplat::formats::caffe2
