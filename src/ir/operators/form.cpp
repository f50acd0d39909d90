// SPDX-License-Identifier: Apache-2.0
/// Slices and loops of a description.
#include "ir/operators/form.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "ir/axis.hpp"
#include "ir/dtype.hpp"

namespace oplat::ir::ops {

std::optional<DimSizes> sizes_of(const TensorEntry* tensor) {
  if (tensor == nullptr || !tensor->shape.ranked) return std::nullopt;
  DimSizes sizes;
  for (const Dim& dim : tensor->shape.dims) {
    if (!dim || *dim < 1) return std::nullopt;
    sizes.push_back(static_cast<double>(*dim));
  }
  return sizes;
}

double lines_in_a_set(double stride_bytes, double rows) {
  constexpr double kLine = 64;
  constexpr double kSets = 64;
  // The least distance of two lines that share a set and are not the same.
  double step = kLine * kSets;
  while (step > kLine && std::fmod(stride_bytes, step) != 0) step /= 2;
  return rows * step / (kLine * kSets);
}

double product_of(const DimSizes& sizes, std::size_t from, std::size_t to) {
  double all = 1;
  for (std::size_t i = from; i < to; ++i) all *= sizes[i];
  return all;
}

std::string said(const Value& value) {
  if (const auto* number = value.integer()) return std::to_string(*number);
  if (const auto* text = value.text()) return *text;
  // A factor of one may be left out; which other factor it is changes nothing.
  if (const auto* real = value.real()) return *real == 1 ? "one" : "real";
  if (const auto* list = value.list()) {
    std::string text = "[";
    for (const Value& each : *list) text += said(each) + ' ';
    return text + ']';
  }
  return "?";
}

namespace {

/// Operators whose loops differ by an instruction that costs the same: in ONNX Runtime a mean is a
/// sum that is divided once for each result, a minimum is a maximum with the other comparison.
constexpr std::pair<std::string_view, std::string_view> kAlike[] = {
    {"Sub", "Add"}, {"Mul", "Add"}, {"ReduceMean", "ReduceSum"}, {"ReduceMin", "ReduceMax"}};

std::string_view loops_of(const Key& key) {
  if (!key.domain.empty()) return key.op;
  const auto* const found = std::find_if(std::begin(kAlike), std::end(kAlike),
                                         [&](const auto& each) { return each.first == key.op; });
  return found == std::end(kAlike) ? std::string_view(key.op) : found->second;
}

}  // namespace

Form::Form(const Key& key, Names unsaid, Constants constants) : key_(key), constants_(constants) {
  description_.slice = key.domain + ":";
  description_.slice.append(loops_of(key));
  for (const auto* const named : {&key.tags, &key.attributes}) {
    for (const auto& [name, value] : *named) {
      if (std::find(unsaid.begin(), unsaid.end(), name) == unsaid.end()) add(name, value);
    }
  }
}

Form& Form::types(std::size_t count) {
  for (std::size_t i = 0; i < std::min(count, key_.operands.size()); ++i) add(key_.operands[i]);
  description_.slice += "->";
  for (const Entry& entry : key_.results) add(entry);
  return *this;
}

Form& Form::stride(double elements, double rows) {
  const auto* tensor = std::get_if<TensorEntry>(&key_.operands.front());
  const auto bits_of = tensor == nullptr ? std::nullopt : bits(tensor->dtype);
  if (!(elements > 1 && bits_of)) return *this;
  description_.stride_bytes = elements * *bits_of / 8;
  description_.lines_in_a_set = lines_in_a_set(description_.stride_bytes, rows);
  return *this;
}

void Form::add(const std::string& name, const Value& value) {
  description_.slice.append(" ").append(name).append("=").append(said(value));
}
void Form::add(const Entry& entry) {
  std::string& slice = description_.slice;
  const auto* tensor = std::get_if<TensorEntry>(&entry);
  if (tensor == nullptr) {
    slice += std::holds_alternative<AbsentEntry>(entry) ? " -" : " &";
    return;
  }
  slice.append(" ").append(name(tensor->dtype));
  if (constants_ == Constants::Said && tensor->constant) slice += 'c';
  // Of one number that decides the algorithm, such as an exponent; lists are sizes.
  if (!tensor->value) return;
  if (const auto* real = tensor->value->real()) slice += fmt::format("={:g}", *real);
  // Of zero points only whether they are zero: that has kernels of its own.
  const bool zero_point = tensor->dtype == Dtype::U8 || tensor->dtype == Dtype::I8;
  if (const auto* number = tensor->value->integer(); number && (!zero_point || *number == 0))
    slice += fmt::format("={}", *number);
}

void add_loops(Form& form, const DimSizes& sizes,
               const std::function<std::string(std::size_t)>& kind_of) {
  std::string kind;
  double length = 1;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 1) continue;
    const std::string own = kind_of(i);
    if (own != kind) {
      if (!kind.empty()) form.loop(kind, length);
      kind = own;
      length = 1;
    }
    length *= sizes[i];
  }
  // A kernel of one element is a loop of one.
  form.loop(kind.empty() ? "one" : kind, length);
}

std::optional<Around> around(const TensorEntry* tensor, std::int64_t axis) {
  const auto sizes = sizes_of(tensor);
  const auto place = sizes ? axis_index(axis, sizes->size()) : std::nullopt;
  if (!place) return std::nullopt;
  return Around{product_of(*sizes, 0, *place), (*sizes)[*place],
                product_of(*sizes, *place + 1, sizes->size())};
}

}  // namespace oplat::ir::ops
