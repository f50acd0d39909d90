// SPDX-License-Identifier: Apache-2.0
/// Descriptions of operators that the catalogue gives no numbers of their own.
#include "ir/description.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>

#include "ir/catalogue.hpp"
#include "ir/moved_work.hpp"
#include "ir/operators/arguments.hpp"
#include "ir/operators/convolution_description.hpp"
#include "ir/operators/slow_steps.hpp"

namespace oplat::ir {
namespace {

/// A shape is no longer a point in a space where so many numbers vary.
constexpr std::size_t kMaxNumbers = 64;

class General {
 public:
  explicit General(const Key& key) : key_(key) {}

  std::optional<Description> run() {
    Description& d = description_;
    d.slice = key_.domain + ":" + key_.op;
    for (const auto& [name, value] : key_.tags) add(name, value);
    for (const auto& [name, value] : key_.attributes) add(name, value);
    for (const Entry& entry : key_.operands) add(entry);
    d.slice += "->";
    for (const Entry& entry : key_.results) add(entry);
    if (!known_ || d.numbers.size() > kMaxNumbers) return std::nullopt;
    return std::move(d);
  }

 private:
  void add(const std::string& name, const Value& value) {
    description_.slice += ' ';
    description_.slice += name;
    add(value);
  }
  void add(const Value& value) {
    std::string& slice = description_.slice;
    if (const auto* number = value.integer()) {
      slice += '#';
      description_.numbers.push_back(static_cast<double>(*number));
    } else if (const auto* list = value.list()) {
      slice += '[';
      for (const Value& each : *list) add(each);
      slice += ']';
    } else if (const auto* text = value.text()) {
      slice += *text;
    } else if (const auto* real = value.real()) {
      slice += '~';
      description_.numbers.push_back(*real);
    } else {
      slice += '?';
    }
  }
  void add(const Entry& entry) {
    std::string& slice = description_.slice;
    const auto* tensor = std::get_if<TensorEntry>(&entry);
    if (tensor == nullptr) {
      slice += std::holds_alternative<AbsentEntry>(entry) ? '-' : '&';
      return;
    }
    slice += ' ';
    slice += name(tensor->dtype);
    if (tensor->constant) slice += 'c';
    if (!tensor->shape.ranked) known_ = false;
    for (const Dim& dim : tensor->shape.dims) {
      slice += '#';
      if (dim) description_.numbers.push_back(static_cast<double>(*dim));
      known_ = known_ && dim.has_value();
    }
    if (tensor->value) {
      slice += '=';
      add(*tensor->value);
    }
  }

  const Key& key_;
  Description description_;
  bool known_ = true;
};

/// A slice is on one line wherever it is written down, whatever texts the key holds.
void put_on_one_line(std::string& slice) {
  const auto breaks = [](char c) { return static_cast<std::uint8_t>(c) < 0x20; };
  if (std::none_of(slice.begin(), slice.end(), breaks)) return;
  std::string out;
  for (const char c : slice) {
    if (breaks(c)) {
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<std::uint8_t>(c));
    } else {
      out += c;
    }
  }
  slice = std::move(out);
}

struct ActivationCost {
  std::string_view name;
  double cost;
};
/// Next to Clip, which takes 0.10 ns an element: from depthwise convolutions of one size with each
/// of them (ONNX Runtime 1.31.1, one core of a Zen 4, 2026-11-27); Elu and Selu from products, and
/// Softplus from itself, of a Zen 5 (2026-11-28). Relu is part of the store.
constexpr ActivationCost kActivationCosts[] = {
    {"Clip", 1},   {"LeakyRelu", 1.2}, {"HardSwish", 1.5}, {"HardSigmoid", 2.2}, {"Sigmoid", 2.6},
    {"Tanh", 3.2}, {"Elu", 14},        {"Selu", 14},       {"Softplus", 94}};

double activation_cost_of(const Key& key) {
  for (const ActivationCost& one : kActivationCosts) {
    if (ops::is_word(key, "activation", one.name))
      return one.cost * ops::elements(key.result(0)).value_or(0);
  }
  return 0;
}

Factors factors_of(const Key& key) {
  const auto is = [&](std::size_t operand, Dtype type) {
    const TensorEntry* tensor = key.operand(operand);
    return tensor != nullptr && tensor->dtype == type;
  };
  if (is(0, Dtype::I8)) return Factors::SignedBytes;
  // Weights of a few bits are stored in bytes, and are floats or a runtime's own bytes before they
  // are multiplied.
  const bool packed = ops::integer(key, "K").has_value() || key.op == "MatMulFpQ4";
  const bool bytes = is(0, Dtype::U8) || (!packed && (is(1, Dtype::U8) || is(1, Dtype::I8)));
  return bytes ? Factors::Bytes : Factors::Wide;
}

/// Description::slower: 128x512x1000 took 794 and 325 us with unsigned and signed weights, one row
/// 14 and 11, QLinearConv of 64 to 64 channels at 28x28 381 and 145, of each channel by itself 103
/// and 70 (ONNX Runtime 1.31.1, one core of a Zen 4, 2026-11-30). With AVX2, where signed ones take
/// three instructions: 921 and 690 us, one row 25 and 23, QLinearConv 466 and 322 (a Zen 3,
/// 2026-12-01).
double slower_factors(const Key& key, Factors factors, const Contraction& product, double lanes) {
  constexpr double kLanesOfAvx512 = 16;
  const bool at_once = lanes >= kLanesOfAvx512;
  const double unsigned_ones = at_once ? 2.4 : 1.35;
  const double one_row = at_once ? 1.3 : 1.1;
  // ConvInteger is as slow with signed ones, which it packs in each call.
  if (factors != Factors::Bytes || key.op == "ConvInteger" || product.is_depthwise()) return 1;
  constexpr std::size_t kScaled = 3;
  const TensorEntry* weights =
      key.operand(key.op == "QLinearConv" ? kScaled : ops::second_factor(key));
  if (weights == nullptr || weights->dtype != Dtype::U8) return 1;
  return product.batch * product.out_h * product.out_w > 1 ? unsigned_ones : one_row;
}

std::optional<Description> describe_as_said(const Key& key, const Catalogue& catalogue,
                                            const Host& host) {
  const std::int64_t threads = std::max<std::int64_t>(host.threads, 1);
  const OperatorInfo* info = catalogue.find(key.domain, key.op);
  std::optional<Description> description;
  const bool by_threads = info != nullptr && info->describe_among_threads != nullptr;
  const bool has_form = by_threads || (info != nullptr && info->describe != nullptr);
  if (by_threads) {
    description = info->describe_among_threads(key, threads);
  } else if (has_form) {
    description = info->describe(key);
  }
  if (!description) description = General(key).run();
  if (!description) return std::nullopt;
  // Nothing lies between a number and one without end.
  const auto& numbers = description->numbers;
  if (!std::all_of(numbers.begin(), numbers.end(),
                   [](double number) { return std::isfinite(number); }))
    return std::nullopt;
  description->lanes = host.lanes;
  put_on_one_line(description->slice);
  const double steps = description->work.steps;
  const Work stored = work(key, info);
  description->stored_weight_bytes = stored.bytes_weights;
  description->stored_bytes = stored.bytes();
  description->work = moved_work(stored, key, info);
  const double slow = ops::slow_steps(key);
  description->work.steps = std::max(steps, slow);
  // An attribute may choose between loops, and forms that the text alone makes do not tell.
  if (slow > 0 && !has_form) description->slice += " slow";
  if (!std::isfinite(description->work.steps)) description->work.steps = 0;
  if (!description->contraction && info != nullptr && info->contraction != nullptr) {
    description->contraction = info->contraction(key);
  }
  if (description->contraction) {
    description->factors = factors_of(key);
    description->windows = ops::windows_of(key, *description->contraction, description->factors);
    description->slower =
        slower_factors(key, description->factors, *description->contraction, host.lanes);
    if (description->work.flops) *description->work.flops *= description->contraction->share_inside;
    ops::share_among_threads(key, threads, *description);
  }
  description->activation_cost = activation_cost_of(key);
  return description;
}

/// The key with constant weights, if it is of a recurrent layer whose weights another kernel makes:
/// they are multiplied alike, but packed in each call, and no table has rows of such. Else
/// std::nullopt.
std::optional<Key> with_constant_weights(const Key& key) {
  constexpr std::size_t kWeights[] = {1, 2};
  if (!key.domain.empty() || (key.op != "LSTM" && key.op != "GRU" && key.op != "RNN"))
    return std::nullopt;
  std::optional<Key> constant;
  for (const std::size_t i : kWeights) {
    if (i >= key.operands.size()) break;
    const auto* weights = std::get_if<TensorEntry>(&key.operands[i]);
    if (weights == nullptr || weights->constant) continue;
    if (!constant) constant = key;
    std::get<TensorEntry>(constant->operands[i]).constant = true;
  }
  return constant;
}

}  // namespace

std::string_view family_of(std::string_view slice) {
  constexpr std::string_view kFused = "Fused";
  constexpr std::string_view kReduce = "Reduce";
  const std::string_view kernel = slice.substr(0, slice.find(' '));
  const std::size_t colon = kernel.rfind(':');
  if (colon == std::string_view::npos) return kernel;
  // A blocked layout has algorithms of its own; ONNX Runtime's fused operators are ONNX's.
  const std::string_view domain = kernel.substr(0, colon);
  if (!domain.empty() && domain != "com.microsoft") return kernel;
  const std::string_view op = kernel.substr(colon + 1);
  if (op.starts_with(kReduce)) return kReduce;
  const std::string_view own = op.starts_with(kFused) ? op.substr(kFused.size()) : op;
  // A product with a bias.
  return own == "Gemm" ? "MatMul" : own;
}

std::optional<Description> describe(const Key& key, const Catalogue& catalogue, const Host& host) {
  // Where tables of another system say less of a kernel, it stands where their rows stand.
  const KeyDomain* domain = catalogue.domain(key.domain);
  const auto form = domain == nullptr ? std::nullopt : domain->table_form(key);
  const auto constant = form ? std::nullopt : with_constant_weights(key);
  return describe_as_said(form ? *form : constant ? *constant : key, catalogue, host);
}

}  // namespace oplat::ir
