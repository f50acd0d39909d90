// SPDX-License-Identifier: Apache-2.0
/// Convolutions of TinyNAS's libraries as keys and back.
#include "compat/tinynas/conv_tuple.hpp"

#include <array>
#include <charconv>
#include <utility>
#include <vector>

namespace oplat::compat::tinynas {

using namespace ir;  // NOLINT: the file is about keys

namespace {

constexpr std::string_view kDomain = "tinynas";
constexpr std::string_view kOp = "Conv";

/// A tuple with its defaults worked out: what both forms of the key are made from.
struct Sizes {
  std::int64_t group;
  std::int64_t in_c;
  std::int64_t filter_c;  ///< channels that one filter sees
  std::int64_t out_h, out_w;
};

Sizes sizes_of(const ConvTuple& conv) {
  const bool depthwise = conv.type == ConvType::Depthwise;
  Sizes sizes{};
  sizes.group = depthwise ? conv.out_c : conv.group;
  sizes.in_c = depthwise ? conv.out_c : conv.in_c;
  sizes.filter_c = sizes.group > 0 ? sizes.in_c / sizes.group : sizes.in_c;
  // A stride over one row still makes one.
  const auto out = [&](std::int64_t in) {
    return conv.stride > 0 && in > 0 ? std::max<std::int64_t>(1, in / conv.stride) : in;
  };
  sizes.out_h = out(conv.in_h);
  sizes.out_w = out(conv.in_w);
  return sizes;
}

void append(std::string& text, std::int64_t number) {
  std::array<char, 20> digits;
  const char* const end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  text.append(digits.data(), static_cast<std::size_t>(end - digits.data()));
}

/// "f32[1,16,56,56]"; `mark` is "c[" for a constant, "[" for anything else.
void append_tensor(std::string& text, Dtype dtype, std::string_view mark,
                   const std::array<std::int64_t, 4>& dims) {
  text += name(dtype);
  text += mark;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (i > 0) text += ',';
    append(text, dims[i]);
  }
  text += ']';
}

TensorEntry tensor(Dtype dtype, bool constant, std::int64_t a, std::int64_t b, std::int64_t c,
                   std::int64_t d) {
  return {dtype, constant, Shape::of({a, b, c, d}), std::nullopt};
}

using Dims = std::array<std::int64_t, 4>;

/// The four dimensions of a plain tensor of this kind.
std::optional<Dims> dims_of(const Entry& entry, Dtype dtype, bool constant) {
  const auto* tensor = std::get_if<TensorEntry>(&entry);
  if (tensor == nullptr || tensor->dtype != dtype || tensor->constant != constant || tensor->value)
    return std::nullopt;
  if (!tensor->shape.ranked || tensor->shape.dims.size() != 4) return std::nullopt;
  Dims dims{};
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (!tensor->shape.dims[i]) return std::nullopt;
    dims[i] = *tensor->shape.dims[i];
  }
  return dims;
}

/// The number n of a list [n,n].
std::optional<std::int64_t> square(const Value& value) {
  const List* list = value.list();
  if (list == nullptr || list->size() != 2 || !((*list)[0] == (*list)[1])) return std::nullopt;
  const std::int64_t* number = (*list)[0].integer();
  return number == nullptr ? std::nullopt : std::optional(*number);
}

}  // namespace

std::string_view name(ConvType type) { return type == ConvType::Regular ? "Regular" : "Depthwise"; }

std::optional<ConvType> parse_conv_type(std::string_view text) {
  if (text == "Regular") return ConvType::Regular;
  if (text == "Depthwise") return ConvType::Depthwise;
  return std::nullopt;
}

std::optional<Dtype> dtype_of_precision(std::string_view precision) {
  std::string upper(precision);
  for (char& c : upper) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  if (upper == "FP32") return Dtype::F32;
  if (upper == "FP16" || upper == "FP16_DAMOYOLO") return Dtype::F16;
  if (upper == "INT8") return Dtype::I8;
  if (upper == "INT4") return Dtype::I4;
  return std::nullopt;
}

ConvTuple named_by_groups(ConvTuple conv) {
  if (conv.type == ConvType::Regular && conv.group > 1 && conv.group == conv.in_c &&
      conv.group == conv.out_c) {
    conv.type = ConvType::Depthwise;
    conv.group = 1;
  }
  return conv;
}

Key key_of(const ConvTuple& conv, Dtype dtype) {
  const Sizes sizes = sizes_of(conv);
  Key key;
  key.domain = kDomain;
  key.op = kOp;
  key.attributes = {{"group", Value(sizes.group)},
                    {"kernel_shape", Value::ints({conv.kernel, conv.kernel})},
                    {"strides", Value::ints({conv.stride, conv.stride})}};
  key.operands.emplace_back(tensor(dtype, false, conv.batch, sizes.in_c, conv.in_h, conv.in_w));
  key.operands.emplace_back(
      tensor(dtype, true, conv.out_c, sizes.filter_c, conv.kernel, conv.kernel));
  const TensorEntry result = tensor(dtype, false, conv.batch, conv.out_c, sizes.out_h, sizes.out_w);
  if (conv.fused) {
    key.operands.emplace_back(result);
    key.results.emplace_back(AliasEntry{2});
  } else {
    key.results.emplace_back(result);
  }
  return key;
}

std::string key_text_of(const ConvTuple& conv, Dtype dtype) {
  const Sizes sizes = sizes_of(conv);
  const Dims result = {conv.batch, conv.out_c, sizes.out_h, sizes.out_w};
  std::string text;
  text.reserve(160);
  text += "tinynas:Conv{group=";
  append(text, sizes.group);
  text += ",kernel_shape=[";
  append(text, conv.kernel);
  text += ',';
  append(text, conv.kernel);
  text += "],strides=[";
  append(text, conv.stride);
  text += ',';
  append(text, conv.stride);
  text += "]}(";
  append_tensor(text, dtype, "[", {conv.batch, sizes.in_c, conv.in_h, conv.in_w});
  text += ',';
  append_tensor(text, dtype, "c[", {conv.out_c, sizes.filter_c, conv.kernel, conv.kernel});
  if (conv.fused) {
    text += ',';
    append_tensor(text, dtype, "[", result);
    text += ")->(&2)";
  } else {
    text += ")->(";
    append_tensor(text, dtype, "[", result);
    text += ')';
  }
  return text;
}

std::optional<ConvTuple> conv_tuple_of(const Key& key) {
  if (key.domain != kDomain || key.op != kOp || key.since || !key.tags.empty() ||
      key.attributes.size() != 3) {
    return std::nullopt;
  }
  const bool fused = key.operands.size() == 3;
  if ((key.operands.size() != 2 && !fused) || key.results.size() != 1) return std::nullopt;
  const Value* group = key.attribute("group");
  const Value* kernel_shape = key.attribute("kernel_shape");
  const Value* strides = key.attribute("strides");
  if (group == nullptr || group->integer() == nullptr || kernel_shape == nullptr ||
      strides == nullptr) {
    return std::nullopt;
  }
  const auto kernel = square(*kernel_shape);
  const auto stride = square(*strides);
  const auto* first = std::get_if<TensorEntry>(&key.operands[0]);
  if (!kernel || !stride || first == nullptr) return std::nullopt;
  const auto input = dims_of(key.operands[0], first->dtype, false);
  const auto weights = dims_of(key.operands[1], first->dtype, true);
  const auto* alias = std::get_if<AliasEntry>(&key.results[0]);
  if (fused ? alias == nullptr || alias->index != 2 : alias != nullptr) return std::nullopt;
  const auto result = dims_of(fused ? key.operands[2] : key.results[0], first->dtype, false);
  if (!input || !weights || !result) return std::nullopt;

  ConvTuple conv;
  conv.batch = (*input)[0];
  conv.in_c = (*input)[1];
  conv.in_h = (*input)[2];
  conv.in_w = (*input)[3];
  conv.out_c = (*weights)[0];
  conv.kernel = *kernel;
  conv.stride = *stride;
  conv.fused = fused;
  conv.group = *group->integer();
  // One channel in and out is the same convolution by either name; it comes back as Regular.
  conv = named_by_groups(conv);
  const Sizes sizes = sizes_of(conv);
  const Dims expected_weights = {conv.out_c, sizes.filter_c, conv.kernel, conv.kernel};
  const Dims expected_result = {conv.batch, conv.out_c, sizes.out_h, sizes.out_w};
  if (conv.kernel < 1 || conv.stride < 1 || conv.group < 1 || *weights != expected_weights ||
      *result != expected_result) {
    return std::nullopt;
  }
  return conv;
}

}  // namespace oplat::compat::tinynas
