// SPDX-License-Identifier: Apache-2.0
/// Padding arithmetic of ONNX's convolution and pooling operators.
#include "ir/operators/window.hpp"

#include <algorithm>

#include "ir/operators/arguments.hpp"

namespace oplat::ir::ops {
namespace {

using Numbers = std::vector<std::int64_t>;

/// Keeps every product below 2^62; no image or kernel comes near.
constexpr std::int64_t kMaxExtent = std::int64_t{1} << 30;

bool in_range(const Numbers& numbers) {
  return std::all_of(numbers.begin(), numbers.end(),
                     [](std::int64_t n) { return n >= 1 && n <= kMaxExtent; });
}

bool holds_integer(const Value& value) { return value.integer() != nullptr; }

/// The spatial dimensions of operand 0, if all are known.
std::optional<Numbers> spatial(const Key& key, const WindowForm& form, std::size_t count) {
  const TensorEntry* image = key.operand(0);
  if (rank(image) != count + 2) return std::nullopt;
  Numbers numbers;
  for (std::size_t i = 0; i < count; ++i) {
    const auto size = dim(image, static_cast<int>(i + (form.channels_last ? 1 : 2)));
    if (!size) return std::nullopt;
    numbers.push_back(*size);
  }
  return numbers;
}

/// Number of spatial dimensions, by whatever the key has.
std::optional<std::size_t> spatial_rank(const Key& key, const WindowForm& form) {
  const Value* kernel = key.attribute("kernel_shape");
  const List* sizes = kernel == nullptr ? nullptr : kernel->list();
  if (sizes != nullptr && std::all_of(sizes->begin(), sizes->end(), holds_integer))
    return sizes->size();
  const auto size = rank(key.operand(form.weights.value_or(0)));
  if (!size || *size < 2) return std::nullopt;
  return *size - 2;
}

void fill_kernel_shape(Key& key, std::size_t weights, std::size_t count) {
  if (key.attribute("kernel_shape") != nullptr) return;
  Numbers kernel;
  for (std::size_t i = 0; i < count; ++i) {
    const auto size = dim(key.operand(weights), static_cast<int>(i + 2));
    if (!size) return;
    kernel.push_back(*size);
  }
  fill_attribute(key, "kernel_shape", Value::ints(kernel));
}

/// Pads of SAME_UPPER and SAME_LOWER, or std::nullopt if a number is missing or absurd.
std::optional<Numbers> same_pads(const Key& key, const WindowForm& form, std::size_t count,
                                 bool upper) {
  const auto size = spatial(key, form, count);
  const auto kernel = integers(key, "kernel_shape");
  const auto strides = integers(key, "strides");
  const auto dilations = form.dilations ? integers(key, "dilations") : Numbers(count, 1);
  if (!size || !kernel || !strides || !dilations) return std::nullopt;
  if (kernel->size() != count || strides->size() != count || dilations->size() != count)
    return std::nullopt;
  if (!in_range(*size) || !in_range(*kernel) || !in_range(*strides) || !in_range(*dilations))
    return std::nullopt;
  Numbers outputs(count, 0);
  if (form.transposed && key.attribute("output_padding") != nullptr) {
    const auto output_padding = integers(key, "output_padding");
    if (!output_padding || output_padding->size() != count) return std::nullopt;
    outputs = *output_padding;
    if (!std::all_of(outputs.begin(), outputs.end(),
                     [](std::int64_t n) { return n >= 0 && n <= kMaxExtent; })) {
      return std::nullopt;
    }
  }
  Numbers pads(2 * count, 0);
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t extent = ((*kernel)[i] - 1) * (*dilations)[i] + 1;
    std::int64_t total = 0;
    if (form.transposed) {
      // The result is asked to be size * stride.
      total = outputs[i] + extent - (*strides)[i];
    } else {
      const std::int64_t windows = ((*size)[i] - 1) / (*strides)[i] + 1;
      total = (windows - 1) * (*strides)[i] + extent - (*size)[i];
    }
    total = std::max<std::int64_t>(total, 0);
    pads[i] = upper ? total / 2 : total - total / 2;
    pads[count + i] = total - pads[i];
  }
  return pads;
}

}  // namespace

void canonicalise_window(Key& key, const WindowForm& form) {
  const auto count = spatial_rank(key, form);
  // More dimensions than any runtime has kernels for; bounds what a hostile kernel_shape makes us
  // fill.
  if (!count || *count > 16) return;
  if (form.weights) fill_kernel_shape(key, *form.weights, *count);
  const auto fill = [&](std::string_view name, std::size_t size, std::int64_t number) {
    if (key.attribute(name) == nullptr)
      key.attributes.emplace_back(name, List(size, Value(number)));
  };
  fill("strides", *count, 1);
  if (form.dilations) fill("dilations", *count, 1);

  // With output_shape the runtime derives the pads itself; auto_pad then says which side gets the
  // odd one.
  if (form.transposed && key.attribute("output_shape") != nullptr) {
    if (is_word(key, "auto_pad", "NOTSET")) drop_attribute(key, "auto_pad");
    return;
  }
  const Value* auto_pad = key.attribute("auto_pad");
  if (auto_pad == nullptr || is_word(key, "auto_pad", "NOTSET")) {
    fill("pads", 2 * *count, 0);
  } else if (is_word(key, "auto_pad", "VALID")) {
    set_attribute(key, "pads", Value::ints(Numbers(2 * *count, 0)));
  } else if (const bool upper = is_word(key, "auto_pad", "SAME_UPPER");
             upper || is_word(key, "auto_pad", "SAME_LOWER")) {
    auto pads = same_pads(key, form, *count, upper);
    if (!pads) return;
    set_attribute(key, "pads", Value::ints(*pads));
  } else {
    return;
  }
  drop_attribute(key, "auto_pad");
}

}  // namespace oplat::ir::ops
