// SPDX-License-Identifier: Apache-2.0
/// Remarks and sizes as the operators of https://github.com/PaddlePaddle/Paddle-Lite
/// (lite/operators, GetOpRuntimeInfo) print them.
#include "compat/paddleslim/profile_text.hpp"

#include <algorithm>
#include <array>

#include "base/kernel_time.hpp"
#include "base/text.hpp"
#include "compat/paddleslim/key.hpp"
#include "compat/paddleslim/text_kernels.hpp"
#include "table/text_rows.hpp"

namespace oplat::compat::paddleslim {
namespace {

using Numbers = std::vector<std::int64_t>;

/// Times are printed with three decimals of ms.
constexpr double kResolutionNs = 1e3;
/// A time printed as 0.000 is less than half of that; the middle of what it can be, in logarithms
/// of a factor of four.
constexpr double kBelowNs = 250;
constexpr double kLevel = 0.9;
constexpr std::size_t kMaxWords = 64;
constexpr std::size_t kMaxOperands = 64;
constexpr std::size_t kMaxProfileRank = 8;

constexpr std::pair<std::string_view, std::string_view> kProfileActivations[] = {
    {"", kNoPaddleActivation},
    {"unk", kNoPaddleActivation},
    {"Relu", "relu"},
    {"Relu6", "relu6"},
    {"PRelu", "prelu"},
    {"LeakyRelu", "leaky_relu"},
    {"Sigmoid", "sigmoid"},
    {"Tanh", "tanh"},
    {"Swish", "swish"},
    {"HardSwish", "hard_swish"},
    {"HardSigmoid", "hard_sigmoid"},
    {"Elu", "elu"},
    {"ThresholdedRelu", "thresholded_relu"}};

/// The words of a line by what they are.
struct Words {
  std::string_view op, target, precision, remark, input, filter, output;
  std::vector<std::string_view> numbers;
};

/// "1x3x224x224"; the empty list of a scalar is "NotImpl".
std::optional<Numbers> dims_of(std::string_view text) {
  Numbers dims;
  if (text == "NotImpl") return dims;
  for (const std::string& part : base::split(text, 'x')) {
    const auto size = base::parse_int(part);
    if (!size || *size < 0 || *size > kMaxPaddleDim || dims.size() == kMaxProfileRank)
      return std::nullopt;
    dims.push_back(*size);
  }
  return dims;
}

/// "1x8/1x8" of a concat, "X1x8Y1x8" and "X:1x8Y:1x8" of two operands, "1x8" of one.
std::optional<std::vector<Numbers>> operands_of(std::string_view text) {
  std::vector<Numbers> operands;
  if (text == "N/A") return operands;
  std::vector<std::string> parts = base::split(text, '/');
  if (text.starts_with('X')) {
    const std::size_t y = text.find('Y');
    if (y == std::string_view::npos) return std::nullopt;
    parts = {std::string(text.substr(1, y - 1)), std::string(text.substr(y + 1))};
    for (std::string& part : parts) {
      if (part.starts_with(':')) part.erase(0, 1);
    }
  }
  if (parts.size() > kMaxOperands) return std::nullopt;
  for (const std::string& part : parts) {
    auto dims = dims_of(part);
    if (!dims) return std::nullopt;
    operands.push_back(*std::move(dims));
  }
  return operands;
}

std::optional<PaddlePrecision> precision_of(std::string_view word) {
  if (word == "float") return PaddlePrecision::Fp32;
  if (word == "fp16") return PaddlePrecision::Fp16;
  if (word == "int8_t" || word == "int8") return PaddlePrecision::Int8;
  return std::nullopt;
}

/// Reads "3x3p1s2g1d1BiasRelu" piece by piece.
class Remark {
 public:
  explicit Remark(std::string_view text) : rest_(text) {}
  /// A number, and what stands before it.
  std::optional<std::int64_t> number(std::string_view before) {
    if (!rest_.starts_with(before)) return std::nullopt;
    const std::size_t end =
        std::min(rest_.find_first_not_of("0123456789", before.size()), rest_.size());
    const auto number = base::parse_int(rest_.substr(before.size(), end - before.size()));
    if (!number || *number > kMaxPaddleDim) return std::nullopt;
    rest_.remove_prefix(end);
    return number;
  }
  bool take(std::string_view text) {
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }
  [[nodiscard]] std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

/// One number is given for both axes: it is taken for both where the sizes of the result agree,
/// else nobody knows.
void fill(PaddleWindow& window, std::int64_t pad, std::int64_t stride, std::int64_t dilation,
          const Numbers& input, const Numbers& output) {
  PaddleWindow guess = window;
  guess.pads = {pad, pad, pad, pad};
  guess.strides = {stride, stride};
  guess.dilations = {dilation, dilation};
  for (const bool ceil : {false, true}) {
    guess.ceil = ceil;
    if (window_result(input[2], guess, 0) != output[2] ||
        window_result(input[3], guess, 1) != output[3])
      continue;
    window = guess;
    return;
  }
  window.pads[0] = pad;
  window.strides[0] = stride;
  window.dilations = {dilation, std::nullopt};
}

std::array<std::int64_t, 4> four(const Numbers& dims) {
  return {dims[0], dims[1], dims[2], dims[3]};
}

/// The remark's tail "BiasRelu6elementwise_add": what is fused into a convolution.
struct Fused {
  bool bias = false;
  std::string activation;
  std::string elementwise;
};
std::optional<Fused> fused_of(Remark remark) {
  Fused fused;
  fused.bias = remark.take("Bias");
  std::string_view rest = remark.rest();
  if (const std::size_t at = rest.find("elementwise_"); at != std::string_view::npos) {
    fused.elementwise = rest.substr(at);
    rest = rest.substr(0, at);
  }
  const auto* const found =
      std::find_if(std::begin(kProfileActivations), std::end(kProfileActivations),
                   [&](const auto& each) { return each.first == rest; });
  if (found == std::end(kProfileActivations)) return std::nullopt;
  fused.activation = found->second;
  return fused;
}

std::optional<ir::Key> conv_key(const Words& words, PaddlePrecision precision, const Numbers& input,
                                const Numbers& filter, const Numbers& output) {
  if (input.size() != 4 || filter.size() != 4 || output.size() != 4) return std::nullopt;
  Remark remark(words.remark);
  const auto height = remark.number("");
  const auto width = remark.number("x");
  const auto pad = remark.number("p");
  const auto stride = remark.number("s");
  const auto groups = remark.number("g");
  const auto dilation = remark.number("d");
  const auto fused = fused_of(remark);
  if (!height || !width || !pad || !stride || !groups || !dilation || !fused || *stride < 1 ||
      *dilation < 1 || filter[2] != *height || filter[3] != *width || filter[0] != output[1]) {
    return std::nullopt;
  }
  PaddleConv conv;
  conv.input = four(input);
  conv.out_channels = filter[0];
  conv.groups = *groups;
  conv.window.kernel = {*height, *width};
  fill(conv.window, *pad, *stride, *dilation, input, output);
  conv.bias = fused->bias;
  conv.activation = fused->activation;
  conv.precision = precision;
  auto key = paddle_conv_key(conv);
  if (!key || filter[1] * *groups != input[1]) return std::nullopt;
  key->op = words.op;
  key->results = {
      ir::TensorEntry{key->operand(0)->dtype, false, ir::Shape::of(output), std::nullopt}};
  if (!fused->elementwise.empty()) {
    key->attributes.emplace_back("fuse_elementwise_op_type", ir::Value(fused->elementwise));
    key->operands.emplace_back(*key->result(0));
  }
  key->canonicalise();
  return *std::move(key);
}

std::optional<ir::Key> pool_key(const Words& words, const Numbers& input, const Numbers& output) {
  if (input.size() != 4 || output.size() != 4) return std::nullopt;
  Remark remark(words.remark);
  PaddlePool pool;
  pool.input = four(input);
  pool.global = remark.take("global");
  pool.type = remark.take("avg") ? "avg" : "max";
  if (*pool.type == "max" && !remark.take("max")) return std::nullopt;
  if (pool.global) {
    // The window of a global pooling has no effect, and is not printed; Paddle exports this one.
    pool.window.kernel = {1, 1};
    pool.window.pads = {0, 0, 0, 0};
    pool.window.strides = {1, 1};
  } else {
    const auto height = remark.number("");
    const auto width = remark.number("x");
    const auto stride = remark.number("s");
    const auto pad = remark.number("p");
    if (!height || !width || !stride || !pad || *height < 1 || *width < 1 || *stride < 1)
      return std::nullopt;
    pool.window.kernel = {*height, *width};
    fill(pool.window, *pad, *stride, 1, input, output);
  }
  auto key = paddle_pool_key(pool);
  if (!key) return std::nullopt;
  key->results = {ir::TensorEntry{ir::Dtype::F32, false, ir::Shape::of(output), std::nullopt}};
  return *std::move(key);
}

std::string tuple(const Numbers& dims) {
  return fmt::format("({}{})", fmt::join(dims, ", "), dims.size() == 1 ? "," : "");
}

/// The text that PaddleSlim's tables have for it, where sizes and the remark say all of that.
std::string table_text(const Words& words, const std::vector<Numbers>& operands,
                       const std::optional<Numbers>& filter, const Numbers& output) {
  const std::string_view op = words.op;
  Remark remark(words.remark);
  const bool negative = remark.take("axis-");
  auto axis = remark.number(negative ? "" : "axis");
  if (axis && negative) axis = -*axis;
  if (operands.size() == 1 && filter && op == "fc") {
    return fmt::format("fc in={} weight={} out={}", tuple(operands[0]), tuple(*filter),
                       tuple(output));
  }
  if (operands.size() == 1 && filter && op.starts_with("matmul")) {
    return fmt::format("{} X={} Y={} out={} quant=None bit_length=None", op, tuple(operands[0]),
                       tuple(*filter), tuple(output));
  }
  if (op == "concat" && axis) {
    std::string in;
    for (const Numbers& dims : operands) in += tuple(dims);
    return fmt::format("concat in={} axis={} out={}", in, *axis, tuple(output));
  }
  if (operands.size() == 2 && op.find("elementwise") != std::string_view::npos && axis) {
    return fmt::format("{} X={} Y={} axis={} out={}", op, tuple(operands[0]), tuple(operands[1]),
                       *axis, tuple(output));
  }
  if (operands.size() == 1 && !filter)
    return fmt::format("{} in={} out={}", op, tuple(operands[0]), tuple(output));
  return {};
}

ir::TensorEntry tensor(const Numbers& dims, const std::optional<PaddlePrecision>& precision,
                       bool constant) {
  ir::TensorEntry entry = paddle_tensor(dims, precision.value_or(PaddlePrecision::Fp32), constant);
  if (!precision) entry.dtype = ir::Dtype::Any;
  return entry;
}

/// Operator, sizes and remark, in no form that a table has.
ir::Key plain_key(const Words& words, const std::optional<PaddlePrecision>& precision,
                  const std::vector<Numbers>& operands, const std::optional<Numbers>& filter,
                  const Numbers& output) {
  ir::Key key;
  key.domain = "paddle_lite";
  key.op = words.op;
  if (!words.remark.empty())
    key.attributes.emplace_back("remark", ir::Value(std::string(words.remark)));
  for (const Numbers& dims : operands) key.operands.emplace_back(tensor(dims, precision, false));
  if (filter) key.operands.emplace_back(tensor(*filter, precision, true));
  key.results.emplace_back(tensor(output, precision, false));
  return key;
}

Result<ir::Key> key_of(const Words& words) {
  const auto operands = operands_of(words.input);
  const auto output = dims_of(words.output);
  const auto filter = words.filter == "N/A" ? std::nullopt : dims_of(words.filter);
  if (!operands || !output || (!filter && words.filter != "N/A")) {
    return fail(Code::Input, "sizes are '{}', '{}' and '{}'; expected sizes such as 1x3x224x224",
                base::printable(words.input, 60), base::printable(words.filter, 40),
                base::printable(words.output, 40));
  }
  const auto precision = precision_of(words.precision);
  std::optional<ir::Key> key;
  const bool conv = words.op == "conv2d" || words.op == "depthwise_conv2d";
  if (conv && precision && operands->size() == 1 && filter)
    key = conv_key(words, *precision, operands->front(), *filter, *output);
  if (words.op == "pool2d" && precision == PaddlePrecision::Fp32 && operands->size() == 1)
    key = pool_key(words, operands->front(), *output);
  if (!key && precision == PaddlePrecision::Fp32) {
    if (const std::string text = table_text(words, *operands, filter, *output); !text.empty()) {
      key = paddle_key_of(text);
      if (key->op == "other") key.reset();
    }
  }
  if (!key) key = plain_key(words, precision, *operands, filter, *output);
  // What a GPU or an accelerator executes is another kernel.
  if (words.target != "arm" && words.target != "host" && words.target != "x86")
    key->tags.emplace_back("target", ir::Value(std::string(words.target)));
  return *std::move(key);
}

std::optional<double> printed_ns(std::string_view text) {
  const auto ms = base::parse_double(text);
  // 0 is a time below what three decimals say.
  if (!ms || (*ms != 0 && !base::is_kernel_time(*ms * 1e6))) return std::nullopt;
  return *ms * 1e6;
}

Result<table::Timing> timing_of(const Words& words, const ProfileColumns& columns) {
  const auto average = printed_ns(words.numbers[columns.average]);
  const auto least = printed_ns(words.numbers[columns.least]);
  const auto most = printed_ns(words.numbers[columns.most]);
  if (!average || !least || !most) {
    return fail(Code::Input, "times are '{}', '{}' and '{}'; expected ms",
                base::printable(words.numbers[columns.average], 20),
                base::printable(words.numbers[columns.least], 20),
                base::printable(words.numbers[columns.most], 20));
  }
  if (*least > *average || *most < *average)
    return fail(Code::Input, "the average time is not between min and max");
  table::Timing timing = table::timing_of_one(*average > 0 ? *average : kBelowNs);
  timing.min_ns = std::min(*least, timing.median_ns);
  // All that is known of its error is how it is rounded.
  timing.ci_low_ns = *average > 0
                         ? std::max(timing.median_ns - kResolutionNs / 2, timing.median_ns / 2)
                         : kBelowNs / 2;
  timing.ci_high_ns = *average > 0 ? timing.median_ns + kResolutionNs / 2 : kResolutionNs / 2;
  timing.ci_level = kLevel;
  return timing;
}

bool is_operator(std::string_view text) {
  return !text.empty() && text.size() <= 64 && std::all_of(text.begin(), text.end(), [](char c) {
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  }) && !(text.front() >= '0' && text.front() <= '9');
}

}  // namespace

std::optional<ProfileColumns> profile_columns(std::string_view line) {
  const auto names = table::words_of(line, kMaxWords);
  const auto out = std::find(names.begin(), names.end(), "OutDim");
  if (names.empty() || names.front() != "OperatorType" || out == names.end()) return std::nullopt;
  const auto place = [&](std::string_view name) {
    return static_cast<std::size_t>(std::find(out + 1, names.end(), name) - (out + 1));
  };
  ProfileColumns columns;
  columns.behind = static_cast<std::size_t>(names.end() - (out + 1));
  columns.average = place("Avg(ms)");
  columns.least = place("Min(ms)");
  columns.most = place("Max(ms)");
  if (std::max({columns.average, columns.least, columns.most}) >= columns.behind)
    return std::nullopt;
  return columns;
}

Result<ProfileLine> read_profile_line(std::string_view line, const ProfileColumns& columns) {
  constexpr std::size_t kBefore = 3;  // operator, place, kernel
  constexpr std::size_t kSizes = 3;
  if (!table::is_plain(line))
    return fail(Code::Input, "the line holds bytes that are not printable ASCII");
  const auto words = table::words_of(line, kMaxWords);
  if (words.size() < kBefore + kSizes + columns.behind) {
    return fail(Code::Input, "{} words; expected at least {}: '{}'", words.size(),
                kBefore + kSizes + columns.behind, base::printable(line, 80));
  }
  Words read;
  read.op = words[0];
  const auto place = base::split(words[1], '/');
  if (!is_operator(read.op) || place.size() != 3) {
    return fail(Code::Input,
                "'{}' on '{}'; expected an operator and its place, such as arm/float/NCHW",
                base::printable(words[0], 40), base::printable(words[1], 40));
  }
  read.target = words[1].substr(0, place[0].size());
  read.precision = words[1].substr(place[0].size() + 1, place[1].size());
  const std::size_t sizes = words.size() - columns.behind - kSizes;
  // Some operators have no remark, or one with blanks in it.
  if (sizes > kBefore) {
    const char* const first = words[kBefore].data();
    read.remark = {
        first, static_cast<std::size_t>(words[sizes - 1].data() + words[sizes - 1].size() - first)};
  }
  read.input = words[sizes];
  read.filter = words[sizes + 1];
  read.output = words[sizes + 2];
  read.numbers.assign(words.begin() + static_cast<std::ptrdiff_t>(sizes + kSizes), words.end());
  OPLAT_TRY(key, key_of(read));
  OPLAT_TRY(timing, timing_of(read, columns));
  return ProfileLine{
      ir::print(key),
      fmt::format("{} {} {} {} {}", read.op, read.remark, read.input, read.filter, read.output),
      timing};
}

}  // namespace oplat::compat::paddleslim
