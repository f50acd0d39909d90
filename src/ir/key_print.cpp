// SPDX-License-Identifier: Apache-2.0
/// Key to text.
#include <charconv>

#include "base/text.hpp"
#include "ir/key.hpp"
#include "ir/key_text.hpp"

namespace oplat::ir {
namespace {

/// Most keys are shorter.
constexpr std::size_t kUsualBytes = 256;
/// Of an integer of 64 bits, with its sign.
constexpr std::size_t kMaxDigits = 20;

class Printer {
 public:
  Printer() { out_.reserve(kUsualBytes); }
  std::string take() && { return std::move(out_); }

  void key(const Key& key) {
    if (!key.domain.empty()) {
      name(key.domain);
      out_ += ':';
    }
    name(key.op);
    if (key.since) {
      out_ += '/';
      integer(*key.since);
    }
    for (const NamedValue& tag : key.tags) {
      out_ += '@';
      named(tag);
    }
    out_ += '{';
    for (std::size_t i = 0; i < key.attributes.size(); ++i) {
      if (i > 0) out_ += ',';
      named(key.attributes[i]);
    }
    out_ += '}';
    entries(key.operands);
    out_ += "->";
    entries(key.results);
  }

 private:
  template <class Integer>
  void integer(Integer number) {
    char digits[kMaxDigits];
    out_.append(digits, std::to_chars(digits, digits + kMaxDigits, number).ptr);
  }

  void bare_or_quoted(const std::string& text, bool bare) {
    if (bare) {
      out_ += text;
    } else {
      out_ += base::json_quote(text);
    }
  }

  void name(const std::string& text) { bare_or_quoted(text, is_bare_name(text)); }

  void named(const NamedValue& pair) {
    name(pair.first);
    out_ += '=';
    value(pair.second);
  }

  void value(const Value& value) {
    if (value.unknown()) {
      out_ += '?';
    } else if (const auto* number = value.integer()) {
      integer(*number);
    } else if (const auto* real = value.real()) {
      out_ += base::float_text(*real);
    } else if (const auto* text = value.text()) {
      bare_or_quoted(*text, is_bare_word(*text));
    } else {
      list(*value.list());
    }
  }

  void list(const List& list) {
    out_ += '[';
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (i > 0) out_ += ',';
      value(list[i]);
    }
    out_ += ']';
  }

  void entries(const std::vector<Entry>& entries) {
    out_ += '(';
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (i > 0) out_ += ',';
      if (const auto* alias = std::get_if<AliasEntry>(&entries[i])) {
        out_ += '&';
        integer(alias->index);
      } else if (const auto* tensor = std::get_if<TensorEntry>(&entries[i])) {
        this->tensor(*tensor);
      } else {
        out_ += '-';
      }
    }
    out_ += ')';
  }

  void tensor(const TensorEntry& tensor) {
    out_ += ir::name(tensor.dtype);
    if (tensor.constant) out_ += 'c';
    out_ += '[';
    if (!tensor.shape.ranked) {
      out_ += '*';
    } else {
      for (std::size_t i = 0; i < tensor.shape.dims.size(); ++i) {
        if (i > 0) out_ += ',';
        if (tensor.shape.dims[i]) {
          integer(*tensor.shape.dims[i]);
        } else {
          out_ += '?';
        }
      }
    }
    out_ += ']';
    if (tensor.value) {
      out_ += '=';
      value(*tensor.value);
    }
  }

  std::string out_;
};

}  // namespace

std::string print(const Key& key) {
  Printer printer;
  printer.key(key);
  return std::move(printer).take();
}

}  // namespace oplat::ir
