// SPDX-License-Identifier: Apache-2.0
/// Key to text.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/text.hpp"
#include "ir/key.hpp"
#include "ir/key_text.hpp"

namespace oplat::ir {
namespace {

/// Of an integer of 64 bits, with its sign.
constexpr std::size_t kMaxDigits = 20;

class Printer {
 public:
  [[nodiscard]] std::string text() const { return fmt::to_string(out_); }

  void key(const Key& key) {
    if (!key.domain.empty()) {
      name(key.domain);
      out_.push_back(':');
    }
    name(key.op);
    if (key.since) {
      out_.push_back('/');
      integer(*key.since);
    }
    for (const NamedValue& tag : key.tags) {
      out_.push_back('@');
      named(tag);
    }
    out_.push_back('{');
    for (std::size_t i = 0; i < key.attributes.size(); ++i) {
      if (i > 0) out_.push_back(',');
      named(key.attributes[i]);
    }
    out_.push_back('}');
    entries(key.operands);
    append("->");
    entries(key.results);
  }

 private:
  /// Where so many characters may be written; end_at() then says how many were.
  char* room(std::size_t bytes) {
    const std::size_t size = out_.size();
    out_.resize(size + bytes);
    return out_.data() + size;
  }
  void end_at(const char* end) { out_.resize(static_cast<std::size_t>(end - out_.data())); }

  template <class Integer>
  static char* write(Integer number, char* to) {
    // Most numbers of attributes have one digit.
    if (number >= 0 && number < 10) {
      *to = static_cast<char>('0' + number);
      return to + 1;
    }
    return std::to_chars(to, to + kMaxDigits, number).ptr;
  }

  template <class Integer>
  void integer(Integer number) {
    end_at(write(number, room(kMaxDigits)));
  }

  /// Those that `number_of` finds in the items: nullptr for one that is not known.
  template <class Items, class NumberOf>
  void numbers(const Items& items, NumberOf number_of) {
    char* at = room(items.size() * (kMaxDigits + 1));
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (i > 0) *at++ = ',';
      const std::int64_t* number = number_of(items[i]);
      if (number != nullptr) {
        at = write(*number, at);
      } else {
        *at++ = '?';
      }
    }
    end_at(at);
  }

  void append(std::string_view text) {
    end_at(std::copy(text.begin(), text.end(), room(text.size())));
  }

  void bare_or_quoted(const std::string& text, bool bare) {
    if (bare) {
      append(text);
    } else {
      append(base::json_quote(text));
    }
  }

  void name(const std::string& text) { bare_or_quoted(text, is_bare_name(text)); }

  void named(const NamedValue& pair) {
    name(pair.first);
    out_.push_back('=');
    value(pair.second);
  }

  void value(const Value& value) {
    if (value.unknown()) {
      out_.push_back('?');
    } else if (const auto* number = value.integer()) {
      integer(*number);
    } else if (const auto* real = value.real()) {
      append(base::float_text(*real));
    } else if (const auto* text = value.text()) {
      bare_or_quoted(*text, is_bare_word(*text));
    } else {
      list(*value.list());
    }
  }

  void list(const List& list) {
    out_.push_back('[');
    const auto integer_of = [](const Value& one) { return one.integer(); };
    if (std::all_of(list.begin(), list.end(), integer_of)) {
      numbers(list, integer_of);
    } else {
      for (std::size_t i = 0; i < list.size(); ++i) {
        if (i > 0) out_.push_back(',');
        value(list[i]);
      }
    }
    out_.push_back(']');
  }

  void entries(const std::vector<Entry>& entries) {
    out_.push_back('(');
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (i > 0) out_.push_back(',');
      if (const auto* alias = std::get_if<AliasEntry>(&entries[i])) {
        out_.push_back('&');
        integer(alias->index);
      } else if (const auto* tensor = std::get_if<TensorEntry>(&entries[i])) {
        this->tensor(*tensor);
      } else {
        out_.push_back('-');
      }
    }
    out_.push_back(')');
  }

  void tensor(const TensorEntry& tensor) {
    append(ir::name(tensor.dtype));
    if (tensor.constant) out_.push_back('c');
    out_.push_back('[');
    if (!tensor.shape.ranked) {
      out_.push_back('*');
    } else {
      numbers(tensor.shape.dims, [](const Dim& dim) { return dim ? &*dim : nullptr; });
    }
    out_.push_back(']');
    if (tensor.value) {
      out_.push_back('=');
      value(*tensor.value);
    }
  }

  fmt::memory_buffer out_;  ///< most keys need no memory of their own while they are printed
};

}  // namespace

std::string print(const Key& key) {
  Printer printer;
  printer.key(key);
  return printer.text();
}

}  // namespace oplat::ir
