// SPDX-License-Identifier: Apache-2.0
/// Key texts of PaddleSlim's latency tables: a template an operator, read and written by the same table.
#include "oplat/ir/paddle_key.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

#include "oplat/base/text.hpp"

namespace oplat::ir {
namespace {

constexpr std::string_view kDomain = "paddle_lite";
constexpr std::string_view kOther = "other";
/// Longer texts name no operator that anybody runs; they are kept as they are.
constexpr std::size_t kMostText = std::size_t{1} << 16;

enum class Kind : std::uint8_t {
  Operand,    ///< (1, 3, 224, 224)
  Operands,   ///< several of them, nothing in between
  Weights,    ///< a constant operand
  Result,
  Attribute,  ///< a number, a word (None among them), or a list of numbers
  Pad,        ///< the second of the list that the operator has
  Stride,
  Dilation,
  Kernel,     ///< 3x3: the second of the list, written twice
  End,        ///< nothing but the text before it
};

/// What stands before a field, quirks of spacing included, and what the field is.
struct Field {
  std::string_view before;
  Kind kind;
  std::string_view name = {};  ///< of an attribute
};

constexpr Field kSparseConv[] = {{" in=", Kind::Operand},
                                 {" weight=", Kind::Weights},
                                 {" out=", Kind::Result},
                                 {" pad=", Kind::Pad},
                                 {" stride=", Kind::Stride},
                                 {" group=", Kind::Attribute, "group"},
                                 {" dilation=", Kind::Dilation},
                                 {" quant=", Kind::Attribute, "quant"},
                                 {" bit_length=", Kind::Attribute, "bit_length"},
                                 {" NonZeroWeights=", Kind::Attribute, "NonZeroWeights"}};
/// The same but for the last.
constexpr auto kConv = std::span(kSparseConv).first<std::size(kSparseConv) - 1>();
constexpr Field kMatmul[] = {{" X=", Kind::Operand},
                             {" Y=", Kind::Operand},
                             {" out=", Kind::Result},
                             {" quant=", Kind::Attribute, "quant"},
                             {" bit_length=", Kind::Attribute, "bit_length"}};
constexpr Field kPool[] = {{" in=", Kind::Operand},
                           {" out=", Kind::Result},
                           {" stride=", Kind::Stride},
                           {" kernel=", Kind::Kernel},
                           {" pad=", Kind::Pad},
                           {" flag_global=", Kind::Attribute, "global_pooling"},
                           {" type=", Kind::Attribute, "pooling_type"},
                           {")", Kind::End}};
constexpr Field kInOut[] = {{" in=", Kind::Operand}, {" out=", Kind::Result}};
constexpr Field kIn[] = {{" in=", Kind::Operand}};
constexpr Field kElementwise[] = {{" X=", Kind::Operand},
                                  {" Y=", Kind::Operand},
                                  {" axis=", Kind::Attribute, "axis"},
                                  {" out=", Kind::Result}};
constexpr Field kJoin[] = {{" in=", Kind::Operands}, {" axis=", Kind::Attribute, "axis"}, {" out=", Kind::Result}};
constexpr Field kYoloBox[] = {{" in=", Kind::Operand},
                              {" out=", Kind::Result},
                              {" class_num=", Kind::Attribute, "class_num"}};
constexpr Field kPriorBox[] = {{" in=", Kind::Operand},
                               {" out=", Kind::Result},
                               {" aspect_ratios=", Kind::Attribute, "aspect_ratios"},
                               {" max_sizes=", Kind::Attribute, "max_sizes"},
                               {" min_sizes=", Kind::Attribute, "min_sizes"}};
constexpr Field kSlice[] = {{" in=", Kind::Operand}, {" axes=", Kind::Attribute, "axes"}};
constexpr Field kExp[] = {{" in=", Kind::Operand},
                          {" out=", Kind::Result},
                          {" axes=", Kind::Attribute, "axes"},
                          {" decrease_axis=", Kind::Attribute, "decrease_axis"},
                          {" ends=", Kind::Attribute, "ends"}};
constexpr Field kSuppression[] = {{" boxs=", Kind::Operand},
                                  {" scores=", Kind::Operand},
                                  {" keep_top_k=", Kind::Attribute, "keep_top_k"},
                                  {" nms_top_k=", Kind::Attribute, "nms_top_k"}};
constexpr Field kFc[] = {{" in=", Kind::Operand}, {" weight=", Kind::Weights}, {" out=", Kind::Result}};
constexpr Field kShuffle[] = {{" in=", Kind::Operand}, {" group=", Kind::Attribute, "group"}, {"  out=", Kind::Result}};
constexpr Field kSplit[] = {{" in=", Kind::Operand},
                            {" axis=", Kind::Attribute, "axis"},
                            {" sections=", Kind::Attribute, "sections"}};
constexpr Field kSqueeze[] = {{" in=", Kind::Operand}, {" axes=", Kind::Attribute, "axes"}, {"  out=", Kind::Result}};
constexpr Field kFlatten[] = {{" in=", Kind::Operand},
                              {" start_axis=", Kind::Attribute, "start_axis"},
                              {" stop_axis=", Kind::Attribute, "stop_axis"},
                              {" out=", Kind::Result}};
constexpr Field kSum[] = {{" X=", Kind::Operand}, {" Y=", Kind::Operand}, {"  out=", Kind::Result}};
constexpr Field kUniform[] = {{" shape=", Kind::Attribute, "shape"}};
constexpr Field kCompare[] = {{" X=", Kind::Operand}, {" Y=", Kind::Operand}, {" out=", Kind::Result}};
constexpr Field kReduce[] = {{" in=", Kind::Operand}, {" out=", Kind::Result}, {" dim=", Kind::Attribute, "dim"}};
constexpr Field kPad3d[] = {{" in=", Kind::Operand},
                            {" out=", Kind::Result},
                            {" paddings=", Kind::Attribute, "paddings"}};
constexpr Field kArgMax[] = {{" in=", Kind::Operand}, {" axis=", Kind::Attribute, "axis"}, {"  out=", Kind::Result}};
constexpr Field kFillLike[] = {{" in=", Kind::Operand},
                               {" shape=", Kind::Attribute, "shape"},
                               {"  out=", Kind::Result}};

using Template = std::span<const Field>;

struct Rule {
  std::string_view type;
  Template fields;
  bool part = false;  ///< of any operator whose type holds this text
};

/// The first that fits counts, as in the original: "conv2d" within a type comes before what follows.
constexpr Rule kRules[] = {
    {"sparse_conv2d", kSparseConv},
    {"conv2d", kConv, true},
    {"matmul", kMatmul},
    {"matmul_v2", kMatmul},
    {"batch_norm", kInOut, true},
    {"layer_norm", kInOut, true},
    {"pool2d", kPool, true},
    {"hard_swish", kInOut},
    {"relu", kInOut},
    {"leaky_relu", kInOut},
    {"tanh", kInOut},
    {"swish", kInOut},
    {"softmax", kInOut},
    {"hard_sigmoid", kInOut},
    {"sigmoid", kInOut},
    {"gelu", kInOut},
    {"clip", kInOut},
    {"shape", kInOut},
    {"sqrt", kInOut},
    {"transpose", kInOut, true},
    {"interp_v2", kInOut, true},
    {"fill_constant", {}},
    {"range", {}},
    {"cast", {}},
    {"expand", {}, true},
    {"scale", kInOut},
    {"reshape", kInOut, true},
    {"elementwise", kElementwise, true},
    {"concat", kJoin},
    {"yolo_box", kYoloBox},
    {"prior_box", kPriorBox},
    {"slice", kSlice},
    {"stack", kJoin},
    {"exp", kExp},
    {"multiclass_nms3", kSuppression},
    {"matrix_nms", kSuppression},
    {"dropout", kIn},
    {"fc", kFc},
    {"shuffle_channel", kShuffle},
    {"split", kSplit},
    {"unsqueeze2", kSqueeze},
    {"squeeze2", kSqueeze},
    {"flatten_contiguous_range", kFlatten},
    {"sum", kSum},
    {"calib", kInOut},
    {"floor", kInOut},
    {"uniform_random", kUniform},
    {"greater_equal", kCompare},
    {"reduce_mean", kReduce},
    {"pad3d", kPad3d, true},
    {"arg_max", kArgMax},
    {"fill_constant_batch_size_like", kFillLike},
    {"rnn", kInOut},
};

const Rule* rule_of(std::string_view type) {
  const auto found = std::find_if(std::begin(kRules), std::end(kRules), [&](const Rule& rule) {
    return rule.part ? type.find(rule.type) != std::string_view::npos : type == rule.type;
  });
  return found == std::end(kRules) ? nullptr : &*found;
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_word(std::string_view text) {
  return !text.empty() && is_letter(text.front()) &&
         std::all_of(text.begin(), text.end(), [](char c) { return is_letter(c) || is_digit(c); });
}

/// The list of which a text gives the second number alone: of two, or of the four paddings, both of that axis.
Value second_of(Kind kind, std::int64_t number) {
  List list{Unknown{}, number};
  if (kind == Kind::Pad) list = {Unknown{}, Unknown{}, number, number};
  return Value(std::move(list));
}

std::string_view name_of(Kind kind) {
  switch (kind) {
    case Kind::Pad: return "pads";
    case Kind::Stride: return "strides";
    case Kind::Dilation: return "dilations";
    default: return "kernel_shape";
  }
}

class Reader {
 public:
  Reader(std::string_view text, Dtype dtype) : rest_(text), dtype_(dtype) {}

  std::optional<Key> run() {
    Key key;
    key.domain = kDomain;
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
    if (rule->fields.data() == kSparseConv) {
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
      case Kind::Weights: return tensor(key.operands, field.kind == Kind::Weights);
      case Kind::Result: return tensor(key.results, false);
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
      case Kind::End: return true;
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
    return taken([](char c) { return is_letter(c) || is_digit(c) || c == '.' || c == '-' || c == '+'; });
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
    const Value* stated = key.attribute("bit_length");
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

class Writer {
 public:
  explicit Writer(const Key& key) : key_(key) {}

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
      case Kind::Weights: return operand_ < key_.operands.size() && tensor(key_.operands[operand_++]);
      case Kind::Operands:
        return !key_.operands.empty() &&
               std::all_of(key_.operands.begin(), key_.operands.end(), [&](const Entry& each) { return tensor(each); });
      case Kind::Result: return result_ < key_.results.size() && tensor(key_.results[result_++]);
      case Kind::Attribute: {
        const Value* given = key_.attribute(field.name);
        return given != nullptr && value(*given);
      }
      case Kind::End: return true;
      default: break;
    }
    const Value* given = key_.attribute(name_of(field.kind));
    const List* list = given == nullptr ? nullptr : given->list();
    const std::int64_t* number = list == nullptr || list->empty() ? nullptr : list->back().integer();
    if (number == nullptr) return false;
    text_ += std::to_string(*number);
    if (field.kind == Kind::Kernel) text_ += 'x' + std::to_string(*number);
    return true;
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
  key.domain = kDomain;
  key.op = kOther;
  key.attributes.emplace_back("text", Value(std::string(text)));
  key.operands.emplace_back(unknown);
  key.results.emplace_back(unknown);
  return key;
}

}  // namespace

Key paddle_key_of(std::string_view text, Dtype dtype) {
  if (text.size() > kMostText) return other(text);
  auto key = Reader(text, dtype).run();
  if (!key || Writer(*key).run() != text) return other(text);
  return *std::move(key);
}

std::optional<std::string> paddle_text_of(const Key& key) {
  if (key.domain != kDomain) return std::nullopt;
  if (key.op == kOther) {
    const Value* text = key.attribute("text");
    if (text == nullptr || text->text() == nullptr || !(paddle_key_of(*text->text()) == key)) return std::nullopt;
    return *text->text();
  }
  auto text = Writer(key).run();
  if (!text || text->size() > kMostText) return std::nullopt;
  const auto* first = key.operand(0);
  const auto again = Reader(*text, first == nullptr ? Dtype::F32 : first->dtype).run();
  if (!again || !(*again == key)) return std::nullopt;
  return text;
}

}  // namespace oplat::ir
