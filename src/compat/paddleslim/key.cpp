// SPDX-License-Identifier: Apache-2.0
/// Key texts of PaddleSlim's latency tables, read and written by the same templates.
#include "compat/paddleslim/key.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/text.hpp"
#include "compat/paddleslim/templates.hpp"

namespace oplat::compat::paddleslim {

using namespace ir;  // NOLINT: the file is about keys

using templates::Field, templates::Kind, templates::Rule, templates::rule_of, templates::kBitLength,
    templates::kQuant;

namespace {

constexpr std::string_view kPaddleLiteDomain = "paddle_lite";
constexpr std::string_view kOther = "other";
/// Precisions of products, and how texts and printed keys alike state them.
constexpr std::array<std::string_view, 3> kKeyPrecisions = {"fp32", "fp16", "int8"};
constexpr std::array<std::string_view, 3> kStated = {"bit_length=None", "bit_length=16",
                                                     "bit_length=8"};
/// What PaddleSlim prints for an attribute that an operator does not have.
constexpr const char* kNone = "None";
/// Longer texts name no operator that anybody runs; they are kept as they are.
constexpr std::size_t kMaxKeyText = std::size_t{1} << 16;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_word(std::string_view text) {
  return !text.empty() && is_letter(text.front()) &&
         std::all_of(text.begin(), text.end(), [](char c) { return is_letter(c) || is_digit(c); });
}

/// The list of which a text gives the second number alone: of two, or of the four paddings, both of
/// that axis.
Value second_of(Kind kind, std::int64_t number) {
  List list{Unknown{}, number};
  if (kind == Kind::Pad) list = {Unknown{}, Unknown{}, number, number};
  return Value(std::move(list));
}

std::string_view name_of(Kind kind) {
  switch (kind) {
    case Kind::Pad:
      return "pads";
    case Kind::Stride:
      return "strides";
    case Kind::Dilation:
      return "dilations";
    default:
      return "kernel_shape";
  }
}

class KeyReader {
 public:
  KeyReader(std::string_view text, Dtype dtype) : rest_(text), dtype_(dtype) {}

  std::optional<Key> run() {
    Key key;
    key.domain = kPaddleLiteDomain;
    const std::string_view type = rest_.substr(0, rest_.find(' '));
    const Rule* rule = is_word(type) ? rule_of(type) : nullptr;
    if (rule == nullptr) return std::nullopt;
    key.op = type;
    rest_.remove_prefix(type.size());
    for (const Field& field : rule->fields) {
      if (!rest_.starts_with(field.before)) return std::nullopt;
      rest_.remove_prefix(field.before.size());
      if (!read(field, key)) return std::nullopt;
    }
    if (!rest_.empty()) return std::nullopt;
    const auto dilates = [](const Field& field) { return field.kind == Kind::Dilation; };
    if (std::any_of(rule->fields.begin(), rule->fields.end(), dilates)) {  // a convolution
      key.attributes.emplace_back("activation", Unknown{});
      key.attributes.emplace_back("bias", Unknown{});
    }
    settle_dtypes(key);
    key.canonicalise();
    return key;
  }

 private:
  bool read(const Field& field, Key& key) {
    switch (field.kind) {
      case Kind::Operand:
      case Kind::Weights:
        return tensor(key.operands, field.kind == Kind::Weights);
      case Kind::Result:
        return tensor(key.results, false);
      case Kind::Operands:
        do {
          if (!tensor(key.operands, false)) return false;
        } while (rest_.starts_with('('));
        return true;
      case Kind::Attribute: {
        auto given = value();
        if (!given) return false;
        key.attributes.emplace_back(field.name, *std::move(given));
        return true;
      }
      case Kind::Kernel: {
        const auto first = base::parse_int(taken([](char c) { return is_digit(c); }));
        if (!first || !rest_.starts_with('x')) return false;
        rest_.remove_prefix(1);
        const auto second = base::parse_int(taken([](char c) { return is_digit(c); }));
        key.attributes.emplace_back(name_of(field.kind), second_of(field.kind, *first));
        return second == first;
      }
      case Kind::Pad:
      case Kind::Stride:
      case Kind::Dilation: {
        const auto number = base::parse_int(token());
        if (!number) return false;
        key.attributes.emplace_back(name_of(field.kind), second_of(field.kind, *number));
        return true;
      }
      case Kind::Nothing:
        if (!rest_.starts_with(kNone)) return false;
        rest_.remove_prefix(std::string_view(kNone).size());
        key.attributes.emplace_back(field.name, kNone);
        return true;
      case Kind::End:
        return true;
    }
    return false;
  }

  template <class Is>
  std::string_view taken(const Is& is) {
    std::size_t size = 0;
    while (size < rest_.size() && is(rest_[size])) ++size;
    const std::string_view text = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return text;
  }
  std::string_view token() {
    return taken(
        [](char c) { return is_letter(c) || is_digit(c) || c == '.' || c == '-' || c == '+'; });
  }

  bool tensor(std::vector<Entry>& entries, bool constant) {
    if (!rest_.starts_with('(')) return false;
    rest_.remove_prefix(1);
    TensorEntry made{dtype_, constant, Shape{}, std::nullopt};
    while (!rest_.starts_with(')')) {
      const auto number = base::parse_int(token());
      if (!number || *number < -1) return false;
      made.shape.dims.push_back(*number == -1 ? Dim() : Dim(*number));
      if (rest_.starts_with(", ")) {
        rest_.remove_prefix(2);
      } else if (rest_.starts_with(",)")) {
        rest_.remove_prefix(1);
      } else if (!rest_.starts_with(')')) {
        return false;
      }
    }
    rest_.remove_prefix(1);
    entries.emplace_back(std::move(made));
    return true;
  }

  std::optional<Value> value() {
    if (!rest_.starts_with('[')) return scalar();
    rest_.remove_prefix(1);
    List list;
    while (!rest_.starts_with(']')) {
      auto element = scalar();
      if (!element) return std::nullopt;
      list.push_back(*std::move(element));
      if (rest_.starts_with(", ")) {
        rest_.remove_prefix(2);
      } else if (!rest_.starts_with(']')) {
        return std::nullopt;
      }
    }
    rest_.remove_prefix(1);
    return Value(std::move(list));
  }
  std::optional<Value> scalar() {
    const std::string_view text = token();
    if (const auto number = base::parse_int(text)) return Value(*number);
    if (is_word(text)) return Value(std::string(text));
    if (const auto real = base::parse_double(text)) return Value(*real);
    return std::nullopt;
  }

  /// Eight bits are those of what a product reads; what it writes may be of either kind.
  static void settle_dtypes(Key& key) {
    const Value* stated = key.attribute(kBitLength);
    const std::int64_t* length = stated == nullptr ? nullptr : stated->integer();
    if (length == nullptr || (*length != 8 && *length != 16)) return;
    const auto set = [](std::vector<Entry>& entries, Dtype dtype) {
      for (Entry& entry : entries) std::get<TensorEntry>(entry).dtype = dtype;
    };
    set(key.operands, *length == 8 ? Dtype::I8 : Dtype::F16);
    set(key.results, *length == 8 ? Dtype::Any : Dtype::F16);
  }

  std::string_view rest_;
  Dtype dtype_;
};

class KeyWriter {
 public:
  explicit KeyWriter(const Key& key) : key_(key) {}

  std::optional<std::string> run() {
    const Rule* rule = rule_of(key_.op);
    if (rule == nullptr) return std::nullopt;
    text_ = key_.op;
    for (std::size_t i = 0; i < rule->fields.size(); ++i) {
      text_ += rule->fields[i].before;
      if (!write(rule->fields[i])) return std::nullopt;
    }
    return std::move(text_);
  }

 private:
  bool write(const Field& field) {
    switch (field.kind) {
      case Kind::Operand:
      case Kind::Weights:
        return operand_ < key_.operands.size() && tensor(key_.operands[operand_++]);
      case Kind::Operands:
        return !key_.operands.empty() &&
               std::all_of(key_.operands.begin(), key_.operands.end(),
                           [&](const Entry& each) { return tensor(each); });
      case Kind::Result:
        return result_ < key_.results.size() && tensor(key_.results[result_++]);
      case Kind::Attribute: {
        const Value* given = key_.attribute(field.name);
        return value(given == nullptr ? Value(kNone) : *given);
      }
      case Kind::Nothing:
        text_ += kNone;
        return true;
      case Kind::End:
        return true;
      default:
        break;
    }
    const Value* given = key_.attribute(name_of(field.kind));
    const List* list = given == nullptr ? nullptr : given->list();
    const std::int64_t* number = list == nullptr ? nullptr : second(*list);
    if (number == nullptr) return false;
    text_ += std::to_string(*number);
    if (field.kind == Kind::Kernel) text_ += 'x' + std::to_string(*number);
    return true;
  }

  /// The second number of the operator's own list. Paddings of both ends are a list of four only
  /// where the ends of an axis differ; else the operator has two numbers, one an axis.
  static const std::int64_t* second(const List& list) {
    if (list.empty()) return nullptr;
    const bool ends_differ =
        list.size() == 4 && !list[0].unknown() && !(list[0] == list[1] && list[2] == list[3]);
    const std::size_t at = ends_differ ? 1 : list.size() - 1;
    return list[at].integer();
  }

  bool tensor(const Entry& entry) {
    const auto* given = std::get_if<TensorEntry>(&entry);
    if (given == nullptr || !given->shape.ranked) return false;
    text_ += '(';
    for (std::size_t i = 0; i < given->shape.dims.size(); ++i) {
      if (i > 0) text_ += ", ";
      text_ += std::to_string(given->shape.dims[i].value_or(-1));
    }
    text_ += given->shape.dims.size() == 1 ? ",)" : ")";
    return true;
  }

  bool value(const Value& given) {
    if (const List* list = given.list()) {
      text_ += '[';
      for (std::size_t i = 0; i < list->size(); ++i) {
        if (i > 0) text_ += ", ";
        if ((*list)[i].list() != nullptr || !value((*list)[i])) return false;
      }
      text_ += ']';
      return true;
    }
    if (const auto* number = given.integer()) {
      text_ += std::to_string(*number);
    } else if (const auto* real = given.real()) {
      text_ += base::float_text(*real);
    } else if (const auto* word = given.text()) {
      text_ += *word;
    } else {
      return false;
    }
    return true;
  }

  const Key& key_;
  std::string text_;
  std::size_t operand_ = 0;
  std::size_t result_ = 0;
};

Key other(std::string_view text) {
  const TensorEntry unknown{Dtype::Any, false, Shape{false, {}}, std::nullopt};
  Key key;
  key.domain = kPaddleLiteDomain;
  key.op = kOther;
  key.attributes.emplace_back("text", Value(std::string(text)));
  key.operands.emplace_back(unknown);
  key.results.emplace_back(unknown);
  return key;
}

bool same_shapes(const std::vector<Entry>& told, const std::vector<Entry>& all) {
  if (told.size() > all.size()) return false;
  for (std::size_t i = 0; i < told.size(); ++i) {
    const auto* a = std::get_if<TensorEntry>(&told[i]);
    const auto* b = std::get_if<TensorEntry>(&all[i]);
    if (a == nullptr || b == nullptr || !(a->shape == b->shape)) return false;
  }
  return true;
}

/// Whether the text tells all of the attribute, and not a part of it or nothing.
bool is_told(const Rule& rule, std::string_view name) {
  return std::any_of(rule.fields.begin(), rule.fields.end(), [&](const Field& field) {
    return field.kind == Kind::Attribute && field.name == name;
  });
}

/// Whether what `told`, a key read from a text, says is so of `key`. A word may be written so that
/// the text reads otherwise.
bool covers(const Key& told, const Key& key) {
  const Rule* rule = rule_of(key.op);
  if (rule == nullptr || told.op != key.op) return false;
  if (!same_shapes(told.operands, key.operands) || !same_shapes(told.results, key.results))
    return false;
  return std::all_of(told.attributes.begin(), told.attributes.end(), [&](const NamedValue& each) {
    const auto& [name, value] = each;
    const Value* given = key.attribute(name);
    return !is_told(*rule, name) || value == (given == nullptr ? Value(kNone) : *given);
  });
}

}  // namespace

Key paddle_key_of(std::string_view text, Dtype dtype) {
  if (text.size() > kMaxKeyText) return other(text);
  auto key = KeyReader(text, dtype).run();
  if (!key || KeyWriter(*key).run() != text) return other(text);
  return *std::move(key);
}

std::optional<std::string> paddle_text_of(const Key& key) {
  if (key.domain != kPaddleLiteDomain) return std::nullopt;
  if (key.op == kOther) {
    const Value* text = key.attribute("text");
    if (text == nullptr || text->text() == nullptr || !(paddle_key_of(*text->text()) == key))
      return std::nullopt;
    return *text->text();
  }
  if (key.since || !key.tags.empty()) return std::nullopt;
  auto text = KeyWriter(key).run();
  if (!text || text->size() > kMaxKeyText) return std::nullopt;
  const auto again = KeyReader(*text, Dtype::F32).run();
  if (!again || !covers(*again, key)) return std::nullopt;
  return text;
}

bool is_paddle_text_alone(const Key& key) {
  return key.domain == kPaddleLiteDomain && key.op == kOther;
}

bool states_paddle_precision(std::string_view text, std::string_view precision) {
  const auto at = std::find(kKeyPrecisions.begin(), kKeyPrecisions.end(), precision);
  return at != kKeyPrecisions.end() &&
         text.find(kStated[static_cast<std::size_t>(at - kKeyPrecisions.begin())]) !=
             std::string_view::npos;
}

std::span<const std::string_view> paddle_precisions() { return kKeyPrecisions; }

Key paddle_in_precision(Key key, Dtype precision) {
  const Rule* rule = key.domain == kPaddleLiteDomain ? rule_of(key.op) : nullptr;
  if (rule == nullptr) return key;
  const auto each = [](std::vector<Entry>& entries, const auto& set) {
    for (Entry& entry : entries)
      if (auto* tensor = std::get_if<TensorEntry>(&entry)) set(tensor->dtype);
  };
  const auto tells = [](const Field& field) { return field.name == kBitLength; };
  const bool whole = precision == Dtype::F32;
  if (std::none_of(rule->fields.begin(), rule->fields.end(), tells)) {
    const auto half = [&](Dtype& dtype) {
      if (precision == Dtype::F16 && dtype == Dtype::F32) dtype = Dtype::F16;
      if (whole && dtype == Dtype::F16) dtype = Dtype::F32;
    };
    each(key.operands, half);
    each(key.results, half);
    return key;
  }
  for (auto& [name, value] : key.attributes) {
    if (name == kQuant) value = Value(whole ? kNone : "True");
    if (name == kBitLength) value = whole ? Value(kNone) : Value(precision == Dtype::I8 ? 8 : 16);
  }
  each(key.operands, [&](Dtype& dtype) { dtype = precision; });
  each(key.results, [&](Dtype& dtype) { dtype = precision == Dtype::I8 ? Dtype::Any : precision; });
  return key;
}

}  // namespace oplat::compat::paddleslim
