// SPDX-License-Identifier: Apache-2.0
/// Parameters and their defaults: https://github.com/PaddlePaddle/Paddle-Lite lite/tests/benchmark.
#include "compat/paddleslim/lookup_text.hpp"

#include <algorithm>
#include <map>

#include "base/text.hpp"
#include "compat/paddleslim/key.hpp"
#include "compat/paddleslim/text_kernels.hpp"
#include "table/text_rows.hpp"

namespace oplat::compat::paddleslim {
namespace {

using Numbers = std::vector<std::int64_t>;
using Parameters = std::map<std::string, std::string, std::less<>>;

constexpr std::size_t kMaxRank = 8;
constexpr std::size_t kMaxParameters = 64;
constexpr std::pair<std::string_view, std::string_view> kSimpleActivations[] = {
    {"0", kNoPaddleActivation}, {"1", "relu"}, {"2", "relu6"}, {"4", "leaky_relu"}};

std::optional<std::int64_t> size_of(std::string_view text) {
  const auto number = base::parse_int(text);
  return number && *number >= 0 && *number <= kMaxPaddleDim ? number : std::nullopt;
}

/// "[1 96 112 112]", or a number for as many as are wanted.
std::optional<Numbers> list_of(std::string_view text, std::size_t wanted) {
  if (!text.starts_with('[')) {
    const auto number = size_of(text);
    return number && wanted > 0 ? std::optional(Numbers(wanted, *number)) : std::nullopt;
  }
  if (!text.ends_with(']')) return std::nullopt;
  Numbers numbers;
  for (const std::string_view word :
       table::words_of(text.substr(1, text.size() - 2), kMaxRank + 1)) {
    const auto number = size_of(word);
    if (!number) return std::nullopt;
    numbers.push_back(*number);
  }
  if (numbers.empty() || numbers.size() > kMaxRank || (wanted > 0 && numbers.size() != wanted))
    return std::nullopt;
  return numbers;
}

Result<Numbers> dims_of(std::string_view name, std::string_view text, std::size_t rank) {
  const auto dims = text.starts_with('[') ? list_of(text, rank) : std::nullopt;
  if (!dims || std::find(dims->begin(), dims->end(), 0) != dims->end()) {
    return fail(Code::Input, "{}: '{}'; expected {} sizes above 0 in brackets, separated by blanks",
                name, base::printable(text, 60),
                rank == 0 ? std::string("some") : std::to_string(rank));
  }
  return *dims;
}

Result<Parameters> parameters_of(std::string_view name, std::string_view text) {
  if (!text.starts_with('(') || !text.ends_with(')')) {
    return fail(Code::Input, "{}: parameters are '{}'; expected '(NAME=VALUE,...)'", name,
                base::printable(text, 60));
  }
  Parameters parameters;
  for (const std::string& part : base::split(text.substr(1, text.size() - 2), ',')) {
    const std::string_view item = table::trimmed(part);
    if (item.empty()) continue;
    const std::size_t equals = item.find('=');
    if (equals == std::string_view::npos || equals == 0 || parameters.size() == kMaxParameters) {
      return fail(Code::Input, "{}: parameter '{}' is not NAME=VALUE, or there are more than {}",
                  name, base::printable(item, 60), kMaxParameters);
    }
    parameters[std::string(table::trimmed(item.substr(0, equals)))] =
        std::string(table::trimmed(item.substr(equals + 1)));
  }
  return parameters;
}

/// Parameters of one operator, each with the default of the script.
class Reader {
 public:
  Reader(std::string_view name, Parameters parameters)
      : name_(name), parameters_(std::move(parameters)) {}

  [[nodiscard]] std::string_view word(std::string_view parameter,
                                      std::string_view otherwise) const {
    const auto found = parameters_.find(parameter);
    return found == parameters_.end() ? otherwise : std::string_view(found->second);
  }
  Result<Numbers> numbers(std::string_view parameter, std::string_view otherwise,
                          std::size_t count) const {
    const std::string_view text = word(parameter, otherwise);
    auto found = list_of(text, count);
    if (!found)
      return bad(parameter, text, fmt::format("a number, or {} numbers in brackets", count));
    return *std::move(found);
  }
  Result<bool> flag(std::string_view parameter, std::string_view otherwise) const {
    const std::string_view text = word(parameter, otherwise);
    if (text != "0" && text != "1") return bad(parameter, text, "0 or 1");
    return text == "1";
  }
  /// "3x3"
  Result<Numbers> product(std::string_view parameter, std::string_view otherwise) const {
    const std::string_view text = word(parameter, otherwise);
    const std::size_t x = text.find('x');
    const auto first = size_of(text.substr(0, x));
    const auto second = x == std::string_view::npos ? std::nullopt : size_of(text.substr(x + 1));
    if (!first || !second || *first < 1 || *second < 1)
      return bad(parameter, text, "two numbers such as 3x3");
    return Numbers{*first, *second};
  }
  /// Windows of convolution and pooling.
  Status window(PaddleWindow& to, std::string_view kernel, std::string_view stride) const {
    OPLAT_TRY(sizes, product("kernel", kernel));
    OPLAT_TRY(strides, numbers("stride", stride, 2));
    OPLAT_TRY(pads, numbers("pad", "0", 4));
    OPLAT_TRY(dilations, numbers("dilation", "1", 2));
    if (strides[0] < 1 || strides[1] < 1 || dilations[0] < 1 || dilations[1] < 1) {
      return fail(Code::Input, "{}: a stride or dilation is 0", name_);
    }
    for (std::size_t i = 0; i < 2; ++i) {
      to.kernel[i] = sizes[i];
      to.strides[i] = strides[i];
      to.dilations[i] = dilations[i];
    }
    for (std::size_t i = 0; i < 4; ++i) to.pads[i] = pads[i];
    return {};
  }
  Result<PaddlePrecision> precision() const {
    const std::string_view text = word("dtype", "float");
    if (text == "float") return PaddlePrecision::Fp32;
    if (text == "int8_float") return PaddlePrecision::Int8ToFloat;
    if (text == "int8_int8") return PaddlePrecision::Int8;
    return bad("dtype", text, "float, int8_float or int8_int8");
  }
  [[nodiscard]] tl::unexpected<Error> bad(std::string_view parameter, std::string_view text,
                                          std::string_view expected) const {
    return fail(Code::Input, "{}: {} is '{}'; expected {}", name_, parameter,
                base::printable(text, 40), expected);
  }

 private:
  std::string_view name_;
  Parameters parameters_;
};

Result<ir::Key> conv_key(const Reader& reader, const Numbers& input) {
  PaddleConv conv;
  std::copy_n(input.begin(), 4, conv.input.begin());
  OPLAT_TRY(channels, reader.numbers("ch_out", "1", 1));
  OPLAT_TRY(groups, reader.numbers("group", "1", 1));
  if (channels[0] < 1 || groups[0] < 1) return fail(Code::Input, "conv: has 0 channels or groups");
  conv.out_channels = channels[0];
  conv.groups = groups[0];
  OPLAT_CHECK(reader.window(conv.window, "3x3", "1"));
  OPLAT_TRY(bias, reader.flag("flag_bias", "1"));
  conv.bias = bias;
  const std::string_view act = reader.word("flag_act", "0");
  const auto* const found =
      std::find_if(std::begin(kSimpleActivations), std::end(kSimpleActivations),
                   [&](const auto& each) { return each.first == act; });
  if (found == std::end(kSimpleActivations))
    return reader.bad("flag_act", act, "0, 1 (relu), 2 (relu6) or 4 (leaky_relu)");
  conv.activation = found->second;
  OPLAT_TRY(precision, reader.precision());
  conv.precision = precision;
  return paddle_conv_key(conv);
}

Result<ir::Key> pool_key(const Reader& reader, const Numbers& input) {
  PaddlePool pool;
  std::copy_n(input.begin(), 4, pool.input.begin());
  OPLAT_CHECK(reader.window(pool.window, "2x2", "2"));
  OPLAT_TRY(global, reader.flag("flag_global", "0"));
  OPLAT_TRY(ceil, reader.flag("ceil_mode", "0"));
  pool.global = global;
  pool.window.ceil = ceil;
  pool.window.dilations = {1, 1};
  const std::string_view type = reader.word("pooling_type", "max");
  if (type != "max" && type != "avg") return reader.bad("pooling_type", type, "max or avg");
  pool.type = type;
  return paddle_pool_key(pool);
}

Result<ir::Key> fc_key(const Reader& reader, const Numbers& input) {
  OPLAT_TRY(dims, reader.product("param_dim", "1x1"));
  if (input.size() != 2 || input[1] != dims[0]) {
    return fail(Code::Input,
                "fc: param_dim is {}x{} for an input of [{}]; expected an input of two sizes, the "
                "second one {}",
                dims[0], dims[1], fmt::join(input, " "), dims[0]);
  }
  return paddle_fc_key(input, dims[0], dims[1], PaddlePrecision::Fp32);
}

std::string bracketed(const Numbers& numbers) {
  return fmt::format("[{}]", fmt::join(numbers, " "));
}
std::string bracketed(const ir::Dim* first, std::size_t count) {
  Numbers numbers;
  for (std::size_t i = 0; i < count; ++i) numbers.push_back(first[i].value_or(0));
  return bracketed(numbers);
}

std::optional<LookupOperator> conv_operator(const PaddleConv& conv, std::string output) {
  const auto* const activation = std::find_if(
      std::begin(kSimpleActivations), std::end(kSimpleActivations),
      [&](const auto& each) { return conv.activation && each.second == *conv.activation; });
  if (!conv.bias || activation == std::end(kSimpleActivations) ||
      conv.precision == PaddlePrecision::Fp16)
    return std::nullopt;
  const std::string_view dtype = conv.precision == PaddlePrecision::Fp32   ? "float"
                                 : conv.precision == PaddlePrecision::Int8 ? "int8_int8"
                                                                           : "int8_float";
  const PaddleWindow& w = conv.window;
  return LookupOperator{
      "conv", bracketed({conv.input.begin(), conv.input.end()}), std::move(output),
      fmt::format("(ch_out={},stride={},pad={},kernel={}x{},group={},dilation={},flag_bias={},flag_"
                  "act={},dtype={})",
                  conv.out_channels, bracketed(w.strides.data(), 2), bracketed(w.pads.data(), 4),
                  *w.kernel[0], *w.kernel[1], conv.groups, bracketed(w.dilations.data(), 2),
                  *conv.bias ? 1 : 0, activation->first, dtype)};
}

}  // namespace

Result<ir::Key> lookup_key_of(std::string_view name, std::string_view input,
                              std::string_view parameters) {
  constexpr std::string_view kKnown[] = {"conv", "pooling", "fc", "batchnorm", "activation"};
  if (std::find(std::begin(kKnown), std::end(kKnown), name) == std::end(kKnown)) {
    return paddle_key_of(fmt::format("{}\t{}\t{}", name, input, parameters));
  }
  const bool map = name == "conv" || name == "pooling" || name == "batchnorm";
  OPLAT_TRY(dims, dims_of(name, input, map ? 4 : 0));
  OPLAT_TRY(given, parameters_of(name, parameters));
  const Reader reader(name, std::move(given));
  if (name == "conv") return conv_key(reader, dims);
  if (name == "pooling") return pool_key(reader, dims);
  if (name == "fc") return fc_key(reader, dims);
  if (name == "batchnorm") return paddle_map_key("batch_norm", dims, PaddlePrecision::Fp32);
  const std::string_view type = reader.word("act_type", "relu");
  const bool word = !type.empty() && std::all_of(type.begin(), type.end(), [](char c) {
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
  });
  if (!word || (type.front() >= '0' && type.front() <= '9'))
    return reader.bad("act_type", type, "a name such as relu");
  return paddle_map_key(type, dims, PaddlePrecision::Fp32);
}

std::optional<LookupOperator> lookup_operator_of(const ir::Key& key) {
  const auto sizes_above_0 = [](const auto& dims) {
    return dims && !dims->empty() &&
           std::all_of(dims->begin(), dims->end(), [](std::int64_t dim) { return dim > 0; });
  };
  const auto dims = paddle_dims(key.result(0));
  if (!sizes_above_0(dims)) return std::nullopt;
  const std::string output = bracketed(*dims);
  if (const auto conv = paddle_conv_of(key)) return conv_operator(*conv, output);
  if (const auto pool = paddle_pool_of(key)) {
    const PaddleWindow& w = pool->window;
    return LookupOperator{
        "pooling", bracketed({pool->input.begin(), pool->input.end()}), output,
        fmt::format("(stride={},pad={},kernel={}x{},ceil_mode={},flag_global={},exclusive=1,"
                    "pooling_type={},dtype=float)",
                    bracketed(w.strides.data(), 2), bracketed(w.pads.data(), 4), *w.kernel[0],
                    *w.kernel[1], w.ceil ? 1 : 0, pool->global ? 1 : 0, *pool->type)};
  }
  const auto input = paddle_dims(key.operand(0));
  if (!sizes_above_0(input) || key.operand(0)->dtype != ir::Dtype::F32) return std::nullopt;
  if (key.domain == "paddle_lite" && key.op == "fc" && key.attributes.empty()) {
    const auto weights = paddle_dims(key.operand(1));
    if (!weights || weights->size() != 2 || input->size() != 2) return std::nullopt;
    return LookupOperator{
        "fc", bracketed(*input), output,
        fmt::format("(param_dim={}x{},flag_bias=1,dtype=float)", (*weights)[0], (*weights)[1])};
  }
  if (!paddle_map_of(key)) return std::nullopt;
  if (key.op == "batch_norm")
    return LookupOperator{"batchnorm", bracketed(*input), output,
                          "(epsilon=1e-4f,momentum=0.9f,dtype=float)"};
  constexpr std::string_view kWithoutParameters[] = {
      "relu", "relu6", "leaky_relu", "tanh", "swish", "exp", "abs", "hard_swish", "reciprocal"};
  if (std::find(std::begin(kWithoutParameters), std::end(kWithoutParameters), key.op) ==
      std::end(kWithoutParameters))
    return std::nullopt;
  return LookupOperator{"activation", bracketed(*input), output,
                        fmt::format("(act_type={},dtype=float)", key.op)};
}

}  // namespace oplat::compat::paddleslim
