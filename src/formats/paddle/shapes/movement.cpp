// SPDX-License-Identifier: Apache-2.0
/// Operators that move elements or only rename their dimensions.
#include <algorithm>
#include <array>

#include "formats/paddle/shapes/call.hpp"

namespace oplat::formats::paddle::shapes {

using namespace ir;  // NOLINT: the file is about keys

namespace {

/// 0 keeps the operand's dimension at that place, one -1 takes what is left.
Status reshape(Call& call) {
  OPLAT_TRY(x, call.operand("X"));
  OPLAT_TRY(given, call.numbers("ShapeTensor", "Shape", "shape"));
  if (!given) return fail(Code::Input, "{}: the shape of the result is not stated", call.op());
  Numbers dims = *given;
  if (dims.size() > kMaxRank)
    return fail(Code::Input, "{}: has {} dimensions, which is too many", call.op(), dims.size());
  std::optional<std::size_t> open;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 0 && i < x->dims.size()) dims[i] = x->dims[i];
    if (dims[i] < -1 || dims[i] > kMaxSize || (dims[i] == -1 && open)) {
      return fail(Code::Input, "{}: {} cannot take the shape {}", call.op(), text(x->dims),
                  text(*given));
    }
    if (dims[i] == -1) open = i, dims[i] = 1;
  }
  const std::int64_t elements = product(x->dims);
  const std::int64_t others = product(dims);
  if (open && others > 0 && elements % others == 0) dims[*open] = elements / others;
  if (product(dims) != elements) {
    return fail(Code::Input, "{}: {} elements of {} cannot take the shape {}", call.op(), elements,
                text(x->dims), text(*given));
  }
  call.give("Out", dims, x->values);
  return {};
}

Status flatten_range(Call& call) {
  OPLAT_TRY(x, call.operand("X"));
  OPLAT_TRY(first, call.integer("start_axis", 1));
  OPLAT_TRY(last, call.integer("stop_axis", 1));
  if (x->dims.empty()) {
    call.give("Out", {1}, x->values);
    return {};
  }
  OPLAT_TRY(start, call.axis(first, x->dims.size()));
  OPLAT_TRY(stop, call.axis(last, x->dims.size()));
  if (stop < start)
    return fail(Code::Input, "{}: the range from axis {} to {} is empty", call.op(), first, last);
  const std::span<const std::int64_t> all(x->dims);
  Numbers dims(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(start));
  dims.push_back(product(all.subspan(start, stop - start + 1)));
  dims.insert(dims.end(), all.begin() + static_cast<std::ptrdiff_t>(stop) + 1, all.end());
  call.give("Out", dims, x->values);
  return {};
}

Status flatten(Call& call) {
  OPLAT_TRY(x, call.operand("X"));
  OPLAT_TRY(axis, call.integer("axis", 1));
  OPLAT_TRY(at, call.axis(axis, x->dims.size(), true));
  const std::span<const std::int64_t> all(x->dims);
  call.give("Out", {product(all.first(at)), product(all.subspan(at))}, x->values);
  return {};
}

Status transpose(Call& call) {
  OPLAT_TRY(x, call.operand("X"));
  OPLAT_TRY(given, call.integers("axis"));
  Numbers order = given.value_or(Numbers{});
  const auto rank = static_cast<std::int64_t>(x->dims.size());
  for (std::int64_t& axis : order) axis += axis < 0 ? rank : 0;
  Numbers sorted = order;
  std::sort(sorted.begin(), sorted.end());
  for (std::int64_t i = 0; i < rank; ++i) {
    if (static_cast<std::int64_t>(sorted.size()) != rank ||
        sorted[static_cast<std::size_t>(i)] != i) {
      return fail(Code::Input, "{}: axis {} is not a permutation of {} dimensions", call.op(),
                  text(order), rank);
    }
  }
  Numbers dims;
  for (const std::int64_t axis : order) dims.push_back(x->dims[static_cast<std::size_t>(axis)]);
  call.give("Out", dims);
  return {};
}

/// The axis, which may be an operand.
Result<std::int64_t> axis_of(const Call& call, std::string_view slot, std::int64_t otherwise) {
  OPLAT_TRY(given, call.numbers("", slot, "axis"));
  return given && !given->empty() ? given->front() : otherwise;
}

/// The values of all, one behind the other, where each is known.
std::optional<Numbers> joined(std::span<const PaddleTensor> tensors) {
  Numbers values;
  for (const PaddleTensor& tensor : tensors) {
    if (!tensor.values || tensor.dims.size() > 1) return std::nullopt;
    values.insert(values.end(), tensor.values->begin(), tensor.values->end());
  }
  return values;
}

Status concat(Call& call) {
  OPLAT_TRY(x, call.operand("X"));
  OPLAT_TRY(given, axis_of(call, "AxisTensor", 0));
  Numbers dims = x->dims;
  OPLAT_TRY(axis, call.axis(given, dims.size()));
  dims[axis] = 0;
  for (const PaddleTensor& each : call.operands("X")) {
    Numbers rest = each.dims;
    if (rest.size() == dims.size()) {
      dims[axis] += rest[axis];
      rest[axis] = dims[axis];
    }
    if (rest != dims || dims[axis] > kMaxSize) {
      return fail(Code::Input, "{}: {} and {} cannot be joined along axis {}", call.op(),
                  text(each.dims), text(x->dims), axis);
    }
  }
  call.give("Out", dims, joined(call.operands("X")));
  return {};
}

Status split(Call& call) {
  OPLAT_TRY(x, call.operand("X"));
  OPLAT_TRY(given, axis_of(call, "AxisTensor", 0));
  OPLAT_TRY(axis, call.axis(given, x->dims.size()));
  OPLAT_TRY(count, call.integer("num", 0));
  OPLAT_TRY(listed, call.numbers("SectionsTensorList", "", "sections"));
  Numbers sections = listed.value_or(Numbers{});
  const std::int64_t length = x->dims[axis];
  if (sections.empty()) {
    const std::int64_t parts = count > 0 ? count : static_cast<std::int64_t>(call.results("Out"));
    if (parts < 1 || parts > static_cast<std::int64_t>(call.results("Out")) ||
        length % parts != 0) {
      return fail(Code::Input, "{}: {} along axis {} cannot be split into {} parts", call.op(),
                  length, axis, parts);
    }
    sections.assign(static_cast<std::size_t>(parts), length / parts);
  }
  std::int64_t left = length;
  std::int64_t* open = nullptr;
  for (std::int64_t& section : sections) {
    if (section == -1 && open == nullptr) {
      open = &section;
    } else if (section < 0 || section > left) {
      return fail(Code::Input, "{}: {} along axis {} cannot be split into {}", call.op(), length,
                  axis, text(sections));
    } else {
      left -= section;
    }
  }
  if (open != nullptr) *open = left;
  if ((open == nullptr && left != 0) || sections.size() != call.results("Out")) {
    return fail(Code::Input, "{}: {} along axis {} cannot be split into {} for {} results",
                call.op(), length, axis, text(sections), call.results("Out"));
  }
  std::ptrdiff_t at = 0;
  for (const std::int64_t section : sections) {
    Numbers dims = x->dims;
    dims[axis] = section;
    std::optional<Numbers> values;
    if (x->values && x->dims.size() == 1) {
      values = Numbers(x->values->begin() + at, x->values->begin() + at + section);
      at += section;
    }
    call.give("Out", std::move(dims), std::move(values));
  }
  return {};
}

Status stack(Call& call) {
  OPLAT_TRY(x, call.operand("X"));
  OPLAT_TRY(given, call.integer("axis", 0));
  OPLAT_TRY(axis, call.axis(given, x->dims.size(), true));
  for (const PaddleTensor& each : call.operands("X")) {
    if (each.dims != x->dims)
      return fail(Code::Input, "{}: {} cannot be stacked on {}", call.op(), text(each.dims),
                  text(x->dims));
  }
  Numbers dims = x->dims;
  dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(axis),
              static_cast<std::int64_t>(call.operands("X").size()));
  call.give("Y", dims, axis == 0 ? joined(call.operands("X")) : std::nullopt);
  return {};
}

Status unstack_into(Call& call, std::string_view slot) {
  OPLAT_TRY(x, call.operand("X"));
  OPLAT_TRY(given, call.integer("axis", 0));
  OPLAT_TRY(axis, call.axis(given, x->dims.size()));
  Numbers dims = x->dims;
  if (dims[axis] != static_cast<std::int64_t>(call.results(slot))) {
    return fail(Code::Input, "{}: {} along axis {} cannot be split into {} results", call.op(),
                dims[axis], axis, call.results(slot));
  }
  dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis));
  const bool known = x->values && x->dims.size() == 1;
  for (std::size_t i = 0; i < call.results(slot); ++i) {
    call.give(slot, dims, known ? std::optional(Numbers{(*x->values)[i]}) : std::nullopt);
  }
  return {};
}

Status unstack(Call& call) { return unstack_into(call, "Y"); }
Status unbind(Call& call) { return unstack_into(call, "Out"); }

Status squeeze(Call& call) {
  OPLAT_TRY(x, call.operand("X"));
  OPLAT_TRY(given, call.numbers("", "AxesTensor", "axes"));
  std::vector<bool> gone(x->dims.size(), !given || given->empty());
  for (const std::int64_t each : given.value_or(Numbers{})) {
    OPLAT_TRY(axis, call.axis(each, x->dims.size()));
    gone[axis] = true;
  }
  Numbers dims;
  for (std::size_t i = 0; i < gone.size(); ++i) {
    if (!gone[i] || x->dims[i] != 1) dims.push_back(x->dims[i]);
  }
  call.give("Out", dims, x->values);
  return {};
}

Status unsqueeze(Call& call) {
  OPLAT_TRY(x, call.operand("X"));
  OPLAT_TRY(given, call.numbers("AxesTensorList", "AxesTensor", "axes"));
  Numbers dims = x->dims;
  for (const std::int64_t each : given.value_or(Numbers{})) {
    if (dims.size() >= kMaxRank)
      return fail(Code::Input, "{}: axes {} lead to too many dimensions", call.op(), text(*given));
    OPLAT_TRY(axis, call.axis(each, dims.size(), true));
    dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(axis), 1);
  }
  call.give("Out", dims, x->values);
  return {};
}

/// -1 keeps the operand's dimension.
Status expand(Call& call) {
  OPLAT_TRY(x, call.operand("X"));
  OPLAT_TRY(given, call.numbers("expand_shapes_tensor", "Shape", "shape"));
  if (!given || given->size() < x->dims.size() || given->size() > kMaxRank) {
    return fail(Code::Input, "{}: {} cannot be expanded to {}", call.op(), text(x->dims),
                text(given.value_or(Numbers{})));
  }
  Numbers dims = *given;
  const std::size_t added = dims.size() - x->dims.size();
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const std::int64_t from = i < added ? 1 : x->dims[i - added];
    if (dims[i] == -1 && i >= added) dims[i] = from;
    if (dims[i] < 0 || (from != 1 && dims[i] != from)) {
      return fail(Code::Input, "{}: {} cannot be expanded to {}", call.op(), text(x->dims),
                  text(*given));
    }
  }
  std::optional<Numbers> values;
  if (x->values && x->values->size() == 1 &&
      product(dims) <= static_cast<std::int64_t>(kMaxValues)) {
    values = Numbers(static_cast<std::size_t>(product(dims)), x->values->front());
  }
  call.give("Out", dims, values);
  return {};
}

Status expand_as(Call& call) {
  if (call.has("Y")) {
    OPLAT_TRY(y, call.operand("Y"));
    call.give("Out", y->dims);
    return {};
  }
  OPLAT_TRY(target, call.integers("target_shape"));
  call.give("Out", target.value_or(Numbers{}));
  return {};
}

Status tile_by(Call& call, std::string_view list, std::string_view tensor,
               std::string_view attribute) {
  OPLAT_TRY(x, call.operand("X"));
  OPLAT_TRY(given, call.numbers(list, tensor, attribute));
  Numbers times = given.value_or(Numbers{});
  Numbers dims = x->dims;
  if (times.size() > kMaxRank)
    return fail(Code::Input, "{}: has {} repetitions, which is too many", call.op(), times.size());
  while (times.size() < dims.size()) times.insert(times.begin(), 1);
  while (dims.size() < times.size()) dims.insert(dims.begin(), 1);
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (times[i] < 0 || times[i] > kMaxSize)
      return fail(Code::Input, "{}: repetitions {} are out of range", call.op(), text(times));
    dims[i] *= times[i];
  }
  call.give("Out", dims);
  return {};
}

Status tile(Call& call) {
  return tile_by(call, "repeat_times_tensor", "RepeatTimes", "repeat_times");
}
Status expand_times(Call& call) {
  return tile_by(call, "expand_times_tensor", "ExpandTimes", "expand_times");
}

/// Before and after each dimension, the outermost first.
Status pad(Call& call) {
  OPLAT_TRY(x, call.operand("X"));
  OPLAT_TRY(pads, call.integers("paddings"));
  if (!pads || pads->size() != 2 * x->dims.size()) {
    return fail(Code::Input, "{}: paddings {} do not fit {}", call.op(),
                text(pads.value_or(Numbers{})), text(x->dims));
  }
  Numbers dims = x->dims;
  for (std::size_t i = 0; i < pads->size(); ++i)
    dims[i / 2] += std::clamp((*pads)[i], -kMaxSize, kMaxSize);
  call.give("Out", dims);
  return {};
}

constexpr std::array kMovementOperators = {
    Operator{"pad", pad},
    Operator{"reshape2", reshape},
    Operator{"reshape", reshape},
    Operator{"flatten_contiguous_range", flatten_range},
    Operator{"flatten2", flatten},
    Operator{"flatten", flatten},
    Operator{"transpose2", transpose},
    Operator{"transpose", transpose},
    Operator{"concat", concat},
    Operator{"split", split},
    Operator{"stack", stack},
    Operator{"unstack", unstack},
    Operator{"unbind", unbind},
    Operator{"squeeze2", squeeze},
    Operator{"squeeze", squeeze},
    Operator{"unsqueeze2", unsqueeze},
    Operator{"unsqueeze", unsqueeze},
    Operator{"expand_v2", expand},
    Operator{"expand_as_v2", expand_as},
    Operator{"expand", expand_times},
    Operator{"tile", tile},
    Operator{"shuffle_channel", unary},
    Operator{"flip", unary},
    Operator{"roll", unary},
    Operator{"temporal_shift", unary},
    Operator{"affine_channel", unary},
};

}  // namespace

std::span<const Operator> movement_operators() { return kMovementOperators; }

}  // namespace oplat::formats::paddle::shapes
