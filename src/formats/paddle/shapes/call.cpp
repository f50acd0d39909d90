// SPDX-License-Identifier: Apache-2.0
/// Attributes and operands of one Paddle operator, and the list of operators.
#include "formats/paddle/shapes/call.hpp"

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "base/text.hpp"
#include "ir/axis.hpp"

namespace oplat::formats::paddle {

using namespace ir;  // NOLINT: the file is about keys

namespace shapes {

std::string text(const Numbers& numbers) { return fmt::format("[{}]", fmt::join(numbers, ",")); }

std::int64_t product(std::span<const std::int64_t> numbers) {
  // With a dimension of 0, others may be of any size: what does not fit is more than anything
  // allowed.
  std::int64_t result = 1;
  for (const std::int64_t number : numbers) {
    if (__builtin_mul_overflow(result, number, &result))
      return std::numeric_limits<std::int64_t>::max();
  }
  return result;
}

Result<const PaddleTensor*> Call::operand(std::string_view slot) const {
  const auto found = source_.operands.find(slot);
  if (found != source_.operands.end() && !found->second.empty()) return &found->second.front();
  return fail(Code::Input, "{}: operand {} is missing", base::printable(op()), slot);
}

std::span<const PaddleTensor> Call::operands(std::string_view slot) const {
  const auto found = source_.operands.find(slot);
  if (found == source_.operands.end()) return {};
  return found->second;
}

std::size_t Call::results(std::string_view slot) const {
  const auto found = source_.results.find(slot);
  return found == source_.results.end() ? 0 : found->second;
}

const Value* Call::attribute(std::string_view name) const {
  for (const NamedValue& each : source_.attributes) {
    if (each.first == name) return &each.second;
  }
  return nullptr;
}

Result<std::int64_t> Call::integer(std::string_view name, std::int64_t otherwise,
                                   std::int64_t least, std::int64_t most) const {
  const Value* value = attribute(name);
  if (value == nullptr) return otherwise;
  const std::int64_t* number = value->integer();
  if (number == nullptr || *number < least || *number > most) {
    return fail(Code::Input, "{}: attribute {} is {}; expected an integer from {} to {}", op(),
                name, number == nullptr ? "not an integer" : std::to_string(*number), least, most);
  }
  return *number;
}

Result<std::optional<Numbers>> Call::integers(std::string_view name) const {
  const Value* value = attribute(name);
  if (value == nullptr) return std::optional<Numbers>();
  if (const std::int64_t* number = value->integer()) return std::optional(Numbers{*number});
  const List* list = value->list();
  if (list == nullptr)
    return fail(Code::Input, "{}: attribute {} is not a list of integers", op(), name);
  Numbers numbers;
  for (const Value& element : *list) {
    const std::int64_t* number = element.integer();
    if (number == nullptr)
      return fail(Code::Input, "{}: attribute {} holds values that are not integers", op(), name);
    numbers.push_back(*number);
  }
  return std::optional(std::move(numbers));
}

bool Call::flag(std::string_view name, bool otherwise) const {
  const Value* value = attribute(name);
  if (value == nullptr) return otherwise;
  if (const std::int64_t* number = value->integer()) return *number != 0;
  return value->text() != nullptr && *value->text() == "true";
}

std::vector<double> Call::reals(std::string_view name) const {
  const Value* value = attribute(name);
  std::vector<double> numbers;
  const auto add = [&](const Value& v) {
    if (v.real() != nullptr) numbers.push_back(*v.real());
    if (v.integer() != nullptr) numbers.push_back(static_cast<double>(*v.integer()));
  };
  if (value == nullptr) return numbers;
  if (const List* list = value->list()) {
    std::for_each(list->begin(), list->end(), add);
  } else {
    add(*value);
  }
  return numbers;
}

std::string Call::word(std::string_view name, std::string_view otherwise) const {
  const Value* value = attribute(name);
  return value != nullptr && value->text() != nullptr ? *value->text() : std::string(otherwise);
}

Result<std::optional<Numbers>> Call::values(std::string_view slot) const {
  if (!has(slot)) return std::optional<Numbers>();
  Numbers all;
  for (const PaddleTensor& tensor : operands(slot)) {
    if (!tensor.values) {
      return fail(Code::Missing,
                  "{}: the values of operand {} depend on data that is only known at run time",
                  op(), slot);
    }
    all.insert(all.end(), tensor.values->begin(), tensor.values->end());
  }
  return std::optional(std::move(all));
}

Result<std::optional<Numbers>> Call::numbers(std::string_view list, std::string_view tensor,
                                             std::string_view attribute) const {
  for (const std::string_view slot : {list, tensor}) {
    if (slot.empty() || !has(slot)) continue;
    return values(slot);
  }
  if (attribute.empty()) return std::optional<Numbers>();
  return integers(attribute);
}

Result<std::size_t> Call::axis(std::int64_t axis, std::size_t rank, bool past_end) const {
  const auto at = ir::axis_index(axis, rank + (past_end ? 1 : 0));
  if (!at)
    return fail(Code::Input, "{}: axis {} is out of range for {} dimensions", op(), axis, rank);
  return *at;
}

void Call::give(std::string_view slot, Numbers dims, std::optional<Numbers> values) {
  const bool fits = values && values->size() <= kMaxValues &&
                    static_cast<std::int64_t>(values->size()) == product(dims);
  if (!fits) values.reset();
  given_[std::string(slot)].push_back({.dims = std::move(dims), .values = std::move(values)});
}

Result<PaddleSlots> Call::finish() {
  for (const auto& [slot, tensors] : given_) {
    for (const PaddleTensor& tensor : tensors) {
      const bool sound = std::all_of(tensor.dims.begin(), tensor.dims.end(),
                                     [](std::int64_t d) { return d >= 0 && d <= kMaxSize; });
      if (!sound || tensor.dims.size() > kMaxRank || !Shape::of(tensor.dims).elements()) {
        return fail(Code::Input,
                    "{}: its result {} would have the shape {}, which is invalid or too large",
                    op(), slot, text(tensor.dims));
      }
    }
  }
  return std::move(given_);
}

Status unary(Call& call) {
  OPLAT_TRY(x, call.operand("X"));
  call.give("Out", x->dims);
  return {};
}

Result<Numbers> broadcast(const Call& call, const Numbers& x, const Numbers& y, std::int64_t axis) {
  const bool swapped = x.size() < y.size();
  const Numbers& wide = swapped ? y : x;
  Numbers narrow = swapped ? x : y;
  const auto room = static_cast<std::int64_t>(wide.size() - narrow.size());
  std::int64_t start = axis < 0 ? room : axis;
  // Ones behind the last dimension of the shorter one were once allowed to stand over.
  while (start > static_cast<std::int64_t>(wide.size() - narrow.size()) && !narrow.empty() &&
         narrow.back() == 1) {
    narrow.pop_back();
  }
  if (start > static_cast<std::int64_t>(wide.size() - narrow.size())) {
    return fail(Code::Input, "{}: operands {} and {} do not fit with axis {}", call.op(), text(x),
                text(y), axis);
  }
  Numbers result = wide;
  for (std::size_t i = 0; i < narrow.size(); ++i) {
    std::int64_t& dim = result[static_cast<std::size_t>(start) + i];
    if (dim != narrow[i] && dim != 1 && narrow[i] != 1) {
      return fail(Code::Input, "{}: operands {} and {} do not fit", call.op(), text(x), text(y));
    }
    if (dim == 1) dim = narrow[i];
  }
  return result;
}

namespace {

const std::unordered_map<std::string_view, Infer>& operators() {
  static const auto kAll = [] {
    std::unordered_map<std::string_view, Infer> all;
    for (const auto family :
         {image_operators(), detection_operators(), movement_operators(), slicing_operators(),
          elementwise_operators(), number_operators(), product_operators()}) {
      for (const Operator& each : family) all.emplace(each.name, each.infer);
    }
    return all;
  }();
  return kAll;
}

}  // namespace
}  // namespace shapes

Result<PaddleSlots> infer_paddle(const PaddleCall& call) {
  const auto found = shapes::operators().find(call.op);
  if (found == shapes::operators().end()) {
    return fail(Code::Missing, "{}: oplat cannot infer the results of this operator",
                base::printable(call.op));
  }
  shapes::Call inner(call);
  OPLAT_CHECK(found->second(inner));
  return inner.finish();
}

}  // namespace oplat::formats::paddle
