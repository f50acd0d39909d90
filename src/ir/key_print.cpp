// SPDX-License-Identifier: Apache-2.0
/// Key to text.
#include <fmt/format.h>

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
  template <class Integer>
  void integer(Integer number) {
    const std::size_t size = out_.size();
    out_.resize(size + kMaxDigits);
    char* const digits = out_.data() + size;
    const char* const end = std::to_chars(digits, digits + kMaxDigits, number).ptr;
    out_.resize(size + static_cast<std::size_t>(end - digits));
  }

  void append(std::string_view text) { out_.append(text); }

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
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (i > 0) out_.push_back(',');
      value(list[i]);
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
      for (std::size_t i = 0; i < tensor.shape.dims.size(); ++i) {
        if (i > 0) out_.push_back(',');
        if (tensor.shape.dims[i]) {
          integer(*tensor.shape.dims[i]);
        } else {
          out_.push_back('?');
        }
      }
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
