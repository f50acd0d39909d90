// SPDX-License-Identifier: Apache-2.0
/// Tuples as kernels of ONNX Runtime's blocked layout and back.
#include "compat/tinynas/executed_conv.hpp"

#include <array>
#include <unordered_set>

namespace oplat::compat::tinynas {

using namespace ir;  // NOLINT: the file is about keys

namespace {

constexpr std::string_view kExecutedConvDomain = "com.microsoft.nchwc";
constexpr std::string_view kExecutedConvOp = "Conv";
constexpr std::int64_t kSince = 1;
constexpr std::size_t kOperands = 3;  // input, filters, bias; the residual is a fourth
/// Keeps every product of two sizes in 63 bits.
constexpr std::int64_t kMaxExecutedSize = std::int64_t{1} << 30;

using Dims = std::array<std::int64_t, 4>;

std::int64_t padding_of(std::int64_t kernel) { return (kernel - 1) / 2; }
/// With an odd kernel and that padding.
std::int64_t result_size(std::int64_t size, std::int64_t stride) { return (size - 1) / stride + 1; }

TensorEntry tensor(bool constant, const std::vector<std::int64_t>& dims) {
  return {Dtype::F32, constant, Shape::of(dims), std::nullopt};
}

/// The attributes that a tuple decides; the activation stands apart.
std::vector<NamedValue> attributes_of(const ConvTuple& conv, std::int64_t group) {
  const std::int64_t pad = padding_of(conv.kernel);
  return {{"dilations", Value::ints({1, 1})},
          {"group", Value(group)},
          {"kernel_shape", Value::ints({conv.kernel, conv.kernel})},
          {"pads", Value::ints({pad, pad, pad, pad})},
          {"strides", Value::ints({conv.stride, conv.stride})}};
}

/// Four known dimensions of a plain float32 tensor.
std::optional<Dims> dims_of(const TensorEntry* entry) {
  if (entry == nullptr || entry->dtype != Dtype::F32 || entry->value || !entry->shape.ranked)
    return std::nullopt;
  if (entry->shape.dims.size() != 4) return std::nullopt;
  Dims dims{};
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (!entry->shape.dims[i] || *entry->shape.dims[i] > kMaxExecutedSize) return std::nullopt;
    dims[i] = *entry->shape.dims[i];
  }
  return dims;
}

/// The first number of a list attribute; the whole list is compared later.
std::optional<std::int64_t> first_of(const Key& key, std::string_view name) {
  const Value* value = key.attribute(name);
  const List* list = value == nullptr ? nullptr : value->list();
  const std::int64_t* number = list == nullptr || list->empty() ? nullptr : list->front().integer();
  if (number == nullptr || *number < 1 || *number > kMaxExecutedSize) return std::nullopt;
  return *number;
}

/// The key without what a tuple does not say.
Key plain(Key key) {
  key.tags.clear();
  std::erase_if(key.attributes, [](const NamedValue& named) {
    return named.first == "activation" && named.second.text() != nullptr &&
           *named.second.text() == "Relu";
  });
  return key;
}

/// Without a block tag and an activation.
Key kernel_of(const ConvTuple& conv) {
  const bool depthwise = conv.type == ConvType::Depthwise;
  const std::int64_t in_c = depthwise ? conv.out_c : conv.in_c;
  Key key;
  key.domain = kExecutedConvDomain;
  key.op = kExecutedConvOp;
  key.since = kSince;
  key.attributes = attributes_of(conv, depthwise ? conv.out_c : 1);
  key.operands.emplace_back(tensor(false, {conv.batch, in_c, conv.in_h, conv.in_w}));
  key.operands.emplace_back(
      tensor(true, {conv.out_c, depthwise ? 1 : in_c, conv.kernel, conv.kernel}));
  key.operands.emplace_back(tensor(true, {conv.out_c}));
  const TensorEntry result =
      tensor(false, {conv.batch, conv.out_c, result_size(conv.in_h, conv.stride),
                     result_size(conv.in_w, conv.stride)});
  if (conv.fused) {
    key.operands.emplace_back(result);
    key.results.emplace_back(AliasEntry{kOperands});
  } else {
    key.results.emplace_back(result);
  }
  return key;
}

}  // namespace

Result<Key> executed_key_of(const ConvTuple& conv, std::int64_t block) {
  const bool depthwise = conv.type == ConvType::Depthwise;
  for (const std::int64_t size :
       {conv.batch, conv.in_c, conv.in_h, conv.in_w, conv.out_c, conv.kernel, conv.stride}) {
    if (size < 1 || size > kMaxExecutedSize)
      return fail(Code::Missing, "a size is {}; expected 1 to {}", size, kMaxExecutedSize);
  }
  if (conv.group != 1)
    return fail(Code::Missing, "{} groups, which a library cannot represent", conv.group);
  if (conv.kernel % 2 == 0)
    return fail(Code::Missing, "an even kernel ({}), which no padding can centre", conv.kernel);
  // A first layer's few channels are read as they lie; all others come in whole blocks.
  const bool few = !depthwise && conv.in_c < block;
  if (conv.out_c % block != 0 || (!few && !depthwise && conv.in_c % block != 0)) {
    return fail(Code::Missing, "{} to {} channels, which are not multiples of the block of {}",
                depthwise ? conv.out_c : conv.in_c, conv.out_c, block);
  }
  Key key = kernel_of(conv);
  key.tags = {{"block", Value(block)}};
  key.attributes.insert(key.attributes.begin(), {"activation", Value("Relu")});
  return key;
}

std::optional<ConvTuple> executed_conv_tuple_of(const Key& key) {
  const auto input = dims_of(key.operand(0));
  const auto filters = dims_of(key.operand(1));
  const auto kernel = first_of(key, "kernel_shape");
  const auto stride = first_of(key, "strides");
  if (!input || !filters || !kernel || !stride) return std::nullopt;
  ConvTuple conv;
  conv.type = (*filters)[0] > 1 && (*filters)[1] == 1 && (*input)[1] == (*filters)[0]
                  ? ConvType::Depthwise
                  : ConvType::Regular;
  conv.batch = (*input)[0];
  conv.in_c = (*input)[1];
  conv.in_h = (*input)[2];
  conv.in_w = (*input)[3];
  conv.out_c = (*filters)[0];
  conv.kernel = *kernel;
  conv.stride = *stride;
  conv.fused = key.operands.size() > kOperands;
  for (const std::int64_t size : {conv.batch, conv.in_c, conv.in_h, conv.in_w, conv.out_c}) {
    if (size < 1) return std::nullopt;
  }
  if (conv.kernel % 2 == 0 || plain(key) != kernel_of(conv)) return std::nullopt;
  return conv;
}

Result<ExecutedKeys> executed_keys(std::span<const ListedConv> samples, const std::string& list,
                                   std::int64_t block, bool skip_others) {
  ExecutedKeys keys;
  std::unordered_set<std::string> seen;
  for (const ListedConv& one : samples) {
    const auto key = executed_key_of(one.conv, block);
    if (!key && !skip_others) {
      return fail(Code::Missing, "{}:{}: {}; use --skip-others to leave such samples out", list,
                  one.line, key.error().message);
    }
    if (!key) {
      ++keys.left_out;
    } else if (const std::string line = print(*key); seen.insert(line).second) {
      keys.text += line + "\n";
    }
  }
  keys.count = seen.size();
  return keys;
}

}  // namespace oplat::compat::tinynas
