// SPDX-License-Identifier: Apache-2.0
/// Operators that take parts of a tensor, by position, by index or by rank.
#include <algorithm>
#include <array>

#include "formats/paddle/shapes/call.hpp"

namespace oplat::formats::paddle::shapes {

using namespace ir;  // NOLINT: the file is about keys

namespace {

/// Begin, end and step along each of `axes`, as the operator has them.
struct Range {
  Numbers axes;
  Numbers starts;
  Numbers ends;
  Numbers steps;
};

Result<Range> range_of(const Call& call) {
  OPLAT_TRY(axes, call.integers("axes"));
  OPLAT_TRY(starts, call.numbers("StartsTensorList", "StartsTensor", "starts"));
  OPLAT_TRY(ends, call.numbers("EndsTensorList", "EndsTensor", "ends"));
  OPLAT_TRY(steps, call.numbers("StridesTensorList", "StridesTensor", "strides"));
  Range range;
  range.axes = axes.value_or(Numbers{});
  range.starts = starts.value_or(Numbers{});
  range.ends = ends.value_or(Numbers{});
  range.steps =
      call.op() == "strided_slice" ? steps.value_or(Numbers{}) : Numbers(range.axes.size(), 1);
  if (range.starts.size() != range.axes.size() || range.ends.size() != range.axes.size() ||
      range.steps.size() != range.axes.size()) {
    return fail(
        Code::Input, "{}: has {} axes, {} starts, {} ends and {} steps; expected the same number",
        call.op(), range.axes.size(), range.starts.size(), range.ends.size(), range.steps.size());
  }
  return range;
}

/// First position and number of positions.
struct Part {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

Result<Part> part_of(const Call& call, std::int64_t start, std::int64_t end, std::int64_t step,
                     std::int64_t length) {
  if (step == 0 || std::abs(step) > kMaxSize)
    return fail(Code::Input, "{}: a step of {} is out of range", call.op(), step);
  const auto settle = [&](std::int64_t at) {
    const std::int64_t counted = at < 0 ? std::max(at, -kMaxSize * 2) + length : at;
    return step > 0 ? std::clamp<std::int64_t>(counted, 0, length)
                    : std::clamp<std::int64_t>(counted, -1, length - 1);
  };
  const std::int64_t first = settle(start);
  // Backwards -1 is not the last, but what comes before the first.
  const std::int64_t last = step < 0 && end == -1 ? -1 : settle(end);
  const std::int64_t way = step > 0 ? last - first : first - last;
  const std::int64_t size = std::abs(step);
  return Part{.first = first, .count = way <= 0 ? 0 : (way + size - 1) / size};
}

Status slice(Call& call) {
  OPLAT_TRY(x, call.operand("Input"));
  OPLAT_TRY(range, range_of(call));
  Numbers dims = x->dims;
  Part only;
  for (std::size_t i = 0; i < range.axes.size(); ++i) {
    OPLAT_TRY(axis, call.axis(range.axes[i], dims.size()));
    OPLAT_TRY(part, part_of(call, range.starts[i], range.ends[i], range.steps[i], x->dims[axis]));
    dims[axis] = part.count;
    only = part;
  }
  std::optional<Numbers> values;
  if (x->values && x->dims.size() == 1) {
    values = Numbers{};
    if (range.axes.empty()) values = x->values;
    for (std::int64_t i = 0; i < only.count && !range.axes.empty(); ++i) {
      values->push_back(
          (*x->values)[static_cast<std::size_t>(only.first + i * range.steps.back())]);
    }
  }
  OPLAT_TRY(decreased, call.integers("decrease_axis"));
  std::vector<bool> gone(dims.size(), false);
  for (const std::int64_t each : decreased.value_or(Numbers{})) {
    OPLAT_TRY(axis, call.axis(each, dims.size()));
    if (dims[axis] != 1)
      return fail(Code::Input, "{}: {} positions along axis {} cannot be dropped; expected 1",
                  call.op(), dims[axis], axis);
    gone[axis] = true;
  }
  Numbers kept;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (!gone[i]) kept.push_back(dims[i]);
  }
  call.give("Out", kept, values);
  return {};
}

Status gather(Call& call) {
  OPLAT_TRY(x, call.operand("X"));
  OPLAT_TRY(index, call.operand("Index"));
  OPLAT_TRY(given, call.numbers("", "Axis", "axis"));
  OPLAT_TRY(axis, call.axis(given && !given->empty() ? given->front() : 0, x->dims.size()));
  Numbers dims = x->dims;
  const auto at = dims.begin() + static_cast<std::ptrdiff_t>(axis);
  const bool column = index->dims.size() == 2 && index->dims[1] == 1;
  const Numbers inner = column ? Numbers{index->dims[0]} : index->dims;
  dims.insert(dims.erase(at), inner.begin(), inner.end());
  std::optional<Numbers> values;
  if (x->values && index->values && x->dims.size() == 1) {
    values = Numbers{};
    for (const std::int64_t i : *index->values) {
      if (i < 0 || i >= x->dims[0])
        return fail(Code::Input, "{}: index {} is out of range for {}", call.op(), i, x->dims[0]);
      values->push_back((*x->values)[static_cast<std::size_t>(i)]);
    }
  }
  call.give("Out", dims, values);
  return {};
}

Status gather_nd(Call& call) {
  OPLAT_TRY(x, call.operand("X"));
  OPLAT_TRY(index, call.operand("Index"));
  const std::int64_t depth = index->dims.empty() ? -1 : index->dims.back();
  if (depth < 0 || depth > static_cast<std::int64_t>(x->dims.size())) {
    return fail(Code::Input, "{}: {} does not fit the index {}", call.op(), text(x->dims),
                text(index->dims));
  }
  Numbers dims(index->dims.begin(), index->dims.end() - 1);
  dims.insert(dims.end(), x->dims.begin() + depth, x->dims.end());
  call.give("Out", dims);
  return {};
}

Status index_select(Call& call) {
  OPLAT_TRY(x, call.operand("X"));
  OPLAT_TRY(index, call.operand("Index"));
  OPLAT_TRY(given, call.integer("dim", 0));
  OPLAT_TRY(axis, call.axis(given, x->dims.size()));
  Numbers dims = x->dims;
  dims[axis] = product(index->dims);
  call.give("Out", dims);
  return {};
}

/// Rows of a table; old forms have a last dimension of 1 behind the indices, which goes.
Status look_up(Call& call) {
  OPLAT_TRY(ids, call.operand("Ids"));
  OPLAT_TRY(table, call.operand("W"));
  if (table->dims.size() != 2)
    return fail(Code::Input, "{}: the table has the shape {}; expected two dimensions", call.op(),
                text(table->dims));
  Numbers dims = ids->dims;
  if (call.op() == "lookup_table" && !dims.empty() && dims.back() == 1) dims.pop_back();
  dims.push_back(table->dims[1]);
  call.give("Out", dims);
  return {};
}

Status one_hot(Call& call) {
  OPLAT_TRY(x, call.operand("X"));
  OPLAT_TRY(depth, call.numbers("", "depth_tensor", "depth"));
  Numbers dims = x->dims;
  dims.push_back(depth && !depth->empty() ? depth->front() : 0);
  call.give("Out", dims);
  return {};
}

Status top(Call& call) {
  OPLAT_TRY(x, call.operand("X"));
  OPLAT_TRY(given, call.numbers("", "K", "k"));
  OPLAT_TRY(axis, call.integer("axis", -1));
  OPLAT_TRY(at, call.axis(axis, x->dims.size()));
  Numbers dims = x->dims;
  dims[at] = given && !given->empty() ? given->front() : 1;
  call.give("Out", dims);
  call.give("Indices", dims);
  return {};
}

Status sort(Call& call) {
  OPLAT_TRY(x, call.operand("X"));
  call.give("Out", x->dims);
  call.give("Indices", x->dims);
  return {};
}

Status arg_extreme(Call& call) {
  OPLAT_TRY(x, call.operand("X"));
  OPLAT_TRY(given, call.numbers("", "Axis", "axis"));
  const bool keep = call.flag("keepdims", false);
  if (call.flag("flatten", false)) {
    call.give("Out", keep ? Numbers(x->dims.size(), 1) : Numbers{});
    return {};
  }
  OPLAT_TRY(axis, call.axis(given && !given->empty() ? given->front() : -1, x->dims.size()));
  Numbers dims = x->dims;
  if (keep) {
    dims[axis] = 1;
  } else {
    dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis));
  }
  call.give("Out", dims);
  return {};
}

constexpr std::array kSlicingOperators = {
    Operator{"slice", slice},
    Operator{"strided_slice", slice},
    Operator{"gather", gather},
    Operator{"gather_nd", gather_nd},
    Operator{"index_select", index_select},
    Operator{"lookup_table", look_up},
    Operator{"lookup_table_v2", look_up},
    Operator{"one_hot", one_hot},
    Operator{"one_hot_v2", one_hot},
    Operator{"top_k", top},
    Operator{"top_k_v2", top},
    Operator{"argsort", sort},
    Operator{"arg_max", arg_extreme},
    Operator{"arg_min", arg_extreme},
};

}  // namespace

std::span<const Operator> slicing_operators() { return kSlicingOperators; }

}  // namespace oplat::formats::paddle::shapes
