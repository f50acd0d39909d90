// SPDX-License-Identifier: Apache-2.0
/// Tensors made of nothing or of a shape, whose values are followed, and reductions.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "base/text.hpp"
#include "formats/paddle/shapes/call.hpp"

namespace oplat::formats::paddle::shapes {

using namespace ir;  // NOLINT: the file is about keys

namespace {

/// Its values are the operand's dimensions.
Status shape(Call& call) {
  OPLAT_TRY(x, call.operand("Input"));
  call.give("Out", {static_cast<std::int64_t>(x->dims.size())}, x->dims);
  return {};
}

Status size(Call& call) {
  OPLAT_TRY(x, call.operand("Input"));
  call.give("Out", {}, Numbers{product(x->dims)});
  return {};
}

/// The shape that an operator makes its result of.
Result<Numbers> wanted(const Call& call) {
  OPLAT_TRY(given, call.numbers("ShapeTensorList", "ShapeTensor", "shape"));
  const Numbers dims = given.value_or(Numbers{});
  const bool sound =
      std::all_of(dims.begin(), dims.end(), [](auto d) { return d >= 0 && d <= kMaxSize; });
  if (!sound || dims.size() > kMaxRank)
    return fail(Code::Input, "{}: the shape {} is invalid", call.op(), text(dims));
  return dims;
}

Status fill(Call& call) {
  OPLAT_TRY(dims, wanted(call));
  const std::vector<double> numbers = call.reals("value");
  std::optional<std::int64_t> value = base::parse_int(call.word("str_value", ""));
  if (!value && !numbers.empty() && std::abs(numbers.front()) < 0x1p53 &&
      numbers.front() == std::floor(numbers.front())) {
    value = static_cast<std::int64_t>(numbers.front());
  }
  std::optional<Numbers> values;
  if (value && !call.has("ValueTensor") && product(dims) <= static_cast<std::int64_t>(kMaxValues)) {
    values = Numbers(static_cast<std::size_t>(product(dims)), *value);
  }
  call.give("Out", dims, values);
  return {};
}

Status assign_value(Call& call) {
  OPLAT_TRY(dims, wanted(call));
  std::optional<Numbers> values;
  for (const std::string_view name : {"int32_values", "int64_values", "values"}) {
    if (values && !values->empty()) break;
    const auto listed = call.integers(name);
    if (listed) values = *listed;
  }
  call.give("Out", dims, values);
  return {};
}

Status random(Call& call) {
  OPLAT_TRY(dims, wanted(call));
  call.give("Out", dims);
  return {};
}

Status fill_batch_like(Call& call) {
  OPLAT_TRY(x, call.operand("Input"));
  OPLAT_TRY(given, call.integers("shape"));
  OPLAT_TRY(from, call.integer("input_dim_idx", 0));
  OPLAT_TRY(to, call.integer("output_dim_idx", 0));
  Numbers dims = given.value_or(Numbers{});
  OPLAT_TRY(source, call.axis(from, x->dims.size()));
  OPLAT_TRY(target, call.axis(to, dims.size()));
  dims[target] = x->dims[source];
  call.give("Out", dims);
  return {};
}

/// One number of a tensor, or of an attribute of the same name.
Result<std::int64_t> one(const Call& call, std::string_view slot, std::string_view attribute) {
  OPLAT_TRY(values, call.numbers("", slot, attribute));
  if (values && !values->empty()) return values->front();
  return fail(Code::Missing, "{}: the value of {} is only known at run time", call.op(), slot);
}

Status range(Call& call) {
  OPLAT_TRY(start, one(call, "Start", "start"));
  OPLAT_TRY(end, one(call, "End", "end"));
  OPLAT_TRY(step, one(call, "Step", "step"));
  if (step == 0 || std::abs(step) > kMaxSize || std::abs(start) > kMaxSize ||
      std::abs(end) > kMaxSize) {
    return fail(Code::Input, "{}: the range from {} to {} by {} is invalid", call.op(), start, end,
                step);
  }
  const std::int64_t way = step > 0 ? end - start : start - end;
  const std::int64_t count = way <= 0 ? 0 : (way + std::abs(step) - 1) / std::abs(step);
  Numbers values;
  for (std::int64_t i = 0; i < std::min(count, static_cast<std::int64_t>(kMaxValues) + 1); ++i) {
    values.push_back(start + i * step);
  }
  call.give("Out", {count}, values);
  return {};
}

Status linspace(Call& call) {
  OPLAT_TRY(count, one(call, "Num", "num"));
  call.give("Out", {count});
  return {};
}

Status meshgrid(Call& call) {
  Numbers dims;
  for (const PaddleTensor& each : call.operands("X")) dims.push_back(product(each.dims));
  if (dims.size() > kMaxRank)
    return fail(Code::Input, "{}: has {} operands, which is too many", call.op(), dims.size());
  for (std::size_t i = 0; i < call.results("Out"); ++i) call.give("Out", dims);
  return {};
}

Status reduce(Call& call) {
  OPLAT_TRY(x, call.operand("X"));
  OPLAT_TRY(given, call.numbers("", "axis", call.op() == "mean" ? "" : "dim"));
  const Numbers axes = given.value_or(Numbers{});
  std::vector<bool> gone(x->dims.size(), axes.empty() || call.flag("reduce_all", false));
  for (const std::int64_t each : axes) {
    if (x->dims.empty()) break;
    OPLAT_TRY(axis, call.axis(each, x->dims.size()));
    gone[axis] = true;
  }
  Numbers dims;
  for (std::size_t i = 0; i < gone.size(); ++i) {
    if (!gone[i]) {
      dims.push_back(x->dims[i]);
    } else if (call.flag("keep_dim", false)) {
      dims.push_back(1);
    }
  }
  std::optional<Numbers> values;
  if (x->values && x->dims.size() == 1 && gone[0] && !x->values->empty() &&
      call.op() != "reduce_mean") {
    std::optional<std::int64_t> total = x->values->front();
    for (std::size_t i = 1; i < x->values->size() && total; ++i) {
      const std::string_view op = call.op() == "reduce_prod"  ? "elementwise_mul"
                                  : call.op() == "reduce_sum" ? "elementwise_add"
                                  : call.op() == "reduce_max" ? "elementwise_max"
                                  : call.op() == "reduce_min" ? "elementwise_min"
                                                              : "";
      total = op.empty() ? std::nullopt : calculate(op, *total, (*x->values)[i]);
    }
    if (total) values = Numbers{*total};
  }
  call.give("Out", dims, values);
  return {};
}

Status p_norm(Call& call) {
  OPLAT_TRY(x, call.operand("X"));
  OPLAT_TRY(given, call.integer("axis", -1));
  if (call.flag("asvector", false)) {
    call.give("Out", call.flag("keepdim", false) ? Numbers(x->dims.size(), 1) : Numbers{});
    return {};
  }
  OPLAT_TRY(axis, call.axis(given, x->dims.size()));
  Numbers dims = x->dims;
  if (call.flag("keepdim", false)) {
    dims[axis] = 1;
  } else {
    dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis));
  }
  call.give("Out", dims);
  return {};
}

constexpr std::string_view kReductions[] = {
    "reduce_mean", "reduce_sum", "reduce_max", "reduce_min",     "reduce_prod", "reduce_all",
    "reduce_any",  "logsumexp",  "mean",       "frobenius_norm", "reduce_amax",
};

constexpr std::array kNumbersOthers = {
    Operator{"shape", shape},
    Operator{"size", size},
    Operator{"fill_constant", fill},
    Operator{"assign_value", assign_value},
    Operator{"uniform_random", random},
    Operator{"gaussian_random", random},
    Operator{"randint", random},
    Operator{"fill_constant_batch_size_like", fill_batch_like},
    Operator{"uniform_random_batch_size_like", fill_batch_like},
    Operator{"range", range},
    Operator{"linspace", linspace},
    Operator{"meshgrid", meshgrid},
    Operator{"p_norm", p_norm},
};

}  // namespace

std::span<const Operator> number_operators() {
  static const std::vector<Operator> kAll = [] {
    std::vector<Operator> all(kNumbersOthers.begin(), kNumbersOthers.end());
    for (const std::string_view name : kReductions) all.push_back({name, reduce});
    return all;
  }();
  return kAll;
}

}  // namespace oplat::formats::paddle::shapes
