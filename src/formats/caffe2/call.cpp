// SPDX-License-Identifier: Apache-2.0
/// Arguments and operands of one Caffe2 operator.
#include "formats/caffe2/call.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "ir/axis.hpp"
#include "ir/operators/arguments.hpp"

namespace oplat::formats::caffe2::shapes {

using namespace ir;  // NOLINT: the file is about keys

namespace {

constexpr std::size_t kMaxOperands = 4096;
constexpr std::size_t kMaxRank = 16;

}  // namespace

std::string text(const Numbers& numbers) { return fmt::format("[{}]", fmt::join(numbers, ",")); }

Result<Call> Call::of(Key& key) {
  Call call(key);
  if (key.operands.empty()) return fail(Code::Input, "{}: has no operand", base::printable(key.op));
  if (key.operands.size() > kMaxOperands) {
    return fail(Code::Input, "{}: has {} operands; the limit is {}", base::printable(key.op),
                key.operands.size(), kMaxOperands);
  }
  for (std::size_t i = 0; i < key.operands.size(); ++i) {
    const TensorEntry* tensor = key.operand(i);
    if (tensor == nullptr || !tensor->shape.ranked) {
      return fail(Code::Input, "{}: the shape of operand {} is not known", base::printable(key.op),
                  i);
    }
    Numbers dims;
    for (const Dim& dim : tensor->shape.dims) {
      if (!dim || *dim < 1 || *dim > kMaxSize) {
        return fail(Code::Input, "{}: operand {} has a dimension of {}; expected 1 to {}",
                    base::printable(key.op), i, dim ? std::to_string(*dim) : "unknown size",
                    kMaxSize);
      }
      dims.push_back(*dim);
    }
    if (dims.size() > kMaxRank || !tensor->shape.elements()) {
      return fail(Code::Input, "{}: operand {} has the shape {}, which is too large",
                  base::printable(key.op), i, text(dims));
    }
    call.dims_.push_back(std::move(dims));
  }
  return call;
}

Status Call::count_operands(std::size_t least, std::size_t most) const {
  if (dims_.size() >= least && dims_.size() <= most) return {};
  return fail(Code::Input, "{}: has {} operands; expected {}", op(), dims_.size(),
              least == most ? std::to_string(least) : fmt::format("{} to {}", least, most));
}

std::optional<Value> Call::take(std::string_view name) {
  const Value* found = key_.attribute(name);
  if (found == nullptr) return std::nullopt;
  std::optional<Value> value(*found);
  ops::drop_attribute(key_, name);
  return value->unknown() ? std::nullopt : value;
}

Result<std::optional<std::int64_t>> Call::take_integer(std::string_view name, std::int64_t least,
                                                       std::int64_t most) {
  const auto value = take(name);
  if (!value) return std::optional<std::int64_t>();
  const std::int64_t* number = value->integer();
  if (number == nullptr || *number < least || *number > most) {
    return fail(Code::Input, "{}: argument {} is {}; expected an integer from {} to {}", op(), name,
                number == nullptr ? "not an integer" : std::to_string(*number), least, most);
  }
  return std::optional(*number);
}

Result<std::optional<Numbers>> Call::take_integers(std::string_view name, std::int64_t least,
                                                   std::int64_t most) {
  const auto value = take(name);
  if (!value) return std::optional<Numbers>();
  const List* list = value->list();
  if (list == nullptr)
    return fail(Code::Input, "{}: argument {} is not a list of integers", op(), name);
  if (list->empty()) return std::optional<Numbers>();
  if (list->size() > 2 * kMaxRank) {
    return fail(Code::Input, "{}: argument {} holds {} numbers, more than a shape can have", op(),
                name, list->size());
  }
  Numbers numbers;
  for (const Value& element : *list) {
    const std::int64_t* number = element.integer();
    if (number == nullptr || *number < least || *number > most) {
      return fail(Code::Input, "{}: argument {} holds {}; expected integers from {} to {}", op(),
                  name,
                  number == nullptr ? "values that are not integers" : std::to_string(*number),
                  least, most);
    }
    numbers.push_back(*number);
  }
  return std::optional(std::move(numbers));
}

Result<std::optional<double>> Call::take_real(std::string_view name) {
  const auto value = take(name);
  if (!value) return std::optional<double>();
  if (const double* real = value->real()) return std::optional(*real);
  return fail(Code::Input, "{}: argument {} is not a floating-point number", op(), name);
}

Result<std::optional<std::string>> Call::take_word(std::string_view name) {
  const auto value = take(name);
  if (!value) return std::optional<std::string>();
  if (const std::string* word = value->text()) return std::optional(*word);
  return fail(Code::Input, "{}: argument {} is not a string", op(), name);
}

void Call::drop(std::string_view name) { ops::drop_attribute(key_, name); }
void Call::set(std::string_view name, Value value) {
  ops::set_attribute(key_, name, std::move(value));
}

Result<std::size_t> Call::axis(std::int64_t axis, std::size_t count, bool past_end) const {
  if (past_end && axis == static_cast<std::int64_t>(count)) return count;
  const auto at = ir::axis_index(axis, count);
  if (!at)
    return fail(Code::Input, "{}: axis {} is out of range for {} dimensions", op(), axis, count);
  return *at;
}

Result<bool> Call::take_channels_last() {
  OPLAT_TRY(given, take_word("order"));
  const std::string order = given.value_or(int8() ? "NHWC" : "NCHW");
  if (order != "NHWC" && (int8() || order != "NCHW")) {
    return fail(Code::Input, "{}: order is '{}'; expected {}", op(), base::printable(order),
                int8() ? "NHWC" : "NHWC or NCHW");
  }
  set("order", order);
  return order == "NHWC";
}

Status Call::finish(Dtype dtype, const Numbers& dims) {
  TensorEntry entry;
  entry.dtype = dtype;
  entry.shape = Shape::of(dims);
  const bool sound =
      std::all_of(dims.begin(), dims.end(), [](std::int64_t d) { return d >= 1 && d <= kMaxSize; });
  if (!sound || dims.size() > kMaxRank || !entry.shape.elements()) {
    return fail(Code::Input,
                "{}: its result would have the shape {}, which is invalid or too large", op(),
                text(dims));
  }
  key_.results = {Entry(std::move(entry))};
  return {};
}

}  // namespace oplat::formats::caffe2::shapes
