// SPDX-License-Identifier: Apache-2.0
/// Views, copies and resizes.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "plan/onnxruntime/shapes/rules.hpp"

namespace oplat::plan::ort::shapes {
namespace {

bool reshape(Net& net, NodeId id) {
  const Tensor x = operand(net, id, 0);
  const auto wanted = net.ints_given(id, "shape", 1);
  if (!wanted || wanted->size() > Dims::kMaxRank) return false;
  const bool zero_is_zero = net.attribute_int(id, "allowzero", 0) == 1;
  Dims dims;
  std::int64_t known = 1;
  int open = -1;
  for (std::size_t i = 0; i < wanted->size(); ++i) {
    std::int64_t one = (*wanted)[i];
    if (one == 0 && !zero_is_zero) {
      if (static_cast<int>(i) >= x.dims.size()) return false;
      one = x.dims[static_cast<int>(i)];
    }
    if (one == -1) {
      if (open >= 0) return false;
      open = static_cast<int>(i);
      one = 1;
    }
    if (one < 0 || __builtin_mul_overflow(known, one, &known)) return false;
    dims.push(one);
  }
  const std::int64_t elements = x.dims.elements();
  if (open >= 0) {
    if (known == 0 || elements % known != 0) return false;
    dims[open] = elements / known;
  } else if (known != elements) {
    return false;
  }
  set(net, id, 0, x.dtype, dims);
  return true;
}

bool flatten(Net& net, NodeId id) {
  const Tensor x = operand(net, id, 0);
  std::int64_t axis = net.attribute_int(id, "axis", 1);
  if (axis < 0) axis += x.dims.size();
  if (axis < 0 || axis > x.dims.size()) return false;
  Dims dims{1, 1};
  for (int i = 0; i < x.dims.size(); ++i) dims[i < axis ? 0 : 1] *= x.dims[i];
  set(net, id, 0, x.dtype, dims);
  return true;
}

bool squeeze(Net& net, NodeId id) {
  const Tensor x = operand(net, id, 0);
  const bool given = net.attribute(id, "axes") != nullptr || has(net, id, 1);
  const auto axes = axes_of(net, id, 1, x.dims.size(), false);
  if (!axes) return false;
  Dims dims;
  for (int i = 0; i < x.dims.size(); ++i) {
    const bool goes = given ? (*axes)[static_cast<std::size_t>(i)] : x.dims[i] == 1;
    if (!goes) dims.push(x.dims[i]);
  }
  set(net, id, 0, x.dtype, dims);
  return true;
}

bool unsqueeze(Net& net, NodeId id) {
  const Tensor x = operand(net, id, 0);
  const auto axes = net.ints_given(id, "axes", 1);
  if (!axes) return false;
  const int rank = x.dims.size() + static_cast<int>(axes->size());
  if (rank > static_cast<int>(Dims::kMaxRank)) return false;
  std::vector<bool> added(static_cast<std::size_t>(rank), false);
  for (const std::int64_t one : *axes) {
    const auto axis = axis_in(one, rank);
    if (!axis) return false;
    added[static_cast<std::size_t>(*axis)] = true;
  }
  Dims dims;
  int next = 0;
  for (int i = 0; i < rank; ++i)
    dims.push(added[static_cast<std::size_t>(i)] || next >= x.dims.size() ? 1 : x.dims[next++]);
  set(net, id, 0, x.dtype, dims);
  return true;
}

bool transpose(Net& net, NodeId id) {
  const Tensor x = operand(net, id, 0);
  Ints perm = net.attribute_ints(id, "perm").value_or(Ints());
  if (perm.empty())
    for (int i = x.dims.size(); i-- > 0;) perm.push_back(i);
  if (static_cast<int>(perm.size()) != x.dims.size()) return false;
  Dims dims;
  for (const std::int64_t one : perm) {
    if (one < 0 || one >= x.dims.size()) return false;
    dims.push(x.dims[static_cast<int>(one)]);
  }
  std::sort(perm.begin(), perm.end());
  if (std::unique(perm.begin(), perm.end()) != perm.end()) return false;
  set(net, id, 0, x.dtype, dims);
  return true;
}

bool concat_from(Net& net, NodeId id, std::size_t first, std::size_t step, ir::Dtype dtype) {
  if (!has(net, id, first)) return false;
  Dims dims = operand(net, id, first).dims;
  const auto axis = axis_in(net.attribute_int(id, "axis", 1), dims.size());
  if (!axis) return false;
  for (std::size_t i = first + step; i < net.node(id).inputs.size(); i += step) {
    if (!has(net, id, i)) return false;
    Dims more = operand(net, id, i).dims;
    if (more.size() != dims.size()) return false;
    const std::int64_t sum = dims[*axis] + more[*axis];
    more[*axis] = dims[*axis];
    if (!(more == dims)) return false;  // they may differ along the axis alone
    dims[*axis] = sum;
  }
  set(net, id, 0, dtype, dims);
  return true;
}

bool concat(Net& net, NodeId id) { return concat_from(net, id, 0, 1, operand(net, id, 0).dtype); }

bool qlinear_concat(Net& net, NodeId id) {
  return has(net, id, 1) && concat_from(net, id, 2, 3, operand(net, id, 1).dtype);
}

bool split(Net& net, NodeId id) {
  const Tensor x = operand(net, id, 0);
  const auto axis = axis_in(net.attribute_int(id, "axis", 0), x.dims.size());
  if (!axis) return false;
  const std::size_t parts = net.node(id).outputs.size();
  if (parts == 0) return false;
  std::optional<Ints> sizes = net.attribute_ints(id, "split");
  if (!sizes && has(net, id, 1)) {
    sizes = net.ints(net.input(id, 1));
    if (!sizes) return false;
  }
  if (!sizes) {
    const std::int64_t n = static_cast<std::int64_t>(parts);
    if (net.attribute(id, "num_outputs") == nullptr && x.dims[*axis] % n != 0) return false;
    const std::int64_t each = (x.dims[*axis] + n - 1) / n;
    sizes.emplace(parts, each);
    sizes->back() = x.dims[*axis] - each * (n - 1);
  }
  if (sizes->size() != parts || !std::all_of(sizes->begin(), sizes->end(), is_size)) return false;
  if (std::accumulate(sizes->begin(), sizes->end(), std::int64_t{0}) != x.dims[*axis]) return false;
  for (std::size_t i = 0; i < parts; ++i) {
    Dims dims = x.dims;
    dims[*axis] = (*sizes)[i];
    set(net, id, i, x.dtype, dims);
  }
  return true;
}

bool slice(Net& net, NodeId id) {
  const Tensor x = operand(net, id, 0);
  const auto starts = net.ints_given(id, "starts", 1);
  const auto ends = net.ints_given(id, "ends", 2);
  auto axes = net.ints_given(id, "axes", 3);
  auto steps = net.ints_given(id, "steps", 4);
  if (!starts || !ends || starts->size() != ends->size()) return false;
  if ((has(net, id, 3) && !axes) || (has(net, id, 4) && !steps)) return false;
  if (!axes) {
    axes.emplace();
    for (std::size_t i = 0; i < starts->size(); ++i) axes->push_back(static_cast<std::int64_t>(i));
  }
  if (!steps) steps.emplace(starts->size(), 1);
  if (axes->size() != starts->size() || steps->size() != starts->size()) return false;
  Dims dims = x.dims;
  for (std::size_t i = 0; i < starts->size(); ++i) {
    const auto axis = axis_in((*axes)[i], dims.size());
    const std::int64_t step = std::clamp((*steps)[i], -2 * kMaxDim, 2 * kMaxDim);
    if (!axis || step == 0) return false;
    const std::int64_t n = x.dims[*axis];
    const auto from_end = [&](std::int64_t at) { return at < 0 ? at + n : at; };
    std::int64_t start = from_end((*starts)[i]);
    std::int64_t end = from_end((*ends)[i]);
    if (step > 0) {
      start = std::clamp<std::int64_t>(start, 0, n);
      end = std::clamp<std::int64_t>(end, 0, n);
      dims[*axis] = end > start ? (end - start + step - 1) / step : 0;
    } else {
      start = std::clamp<std::int64_t>(start, 0, n - 1);
      end = std::clamp<std::int64_t>(end, -1, n - 1);
      dims[*axis] = start > end ? (start - end - step - 1) / -step : 0;
    }
  }
  set(net, id, 0, x.dtype, dims);
  return true;
}

bool gather(Net& net, NodeId id) {
  if (!has(net, id, 1)) return false;
  const Tensor x = operand(net, id, 0);
  const Dims& at = operand(net, id, 1).dims;
  const auto axis = axis_in(net.attribute_int(id, "axis", 0), x.dims.size());
  if (!axis || x.dims.size() - 1 + at.size() > static_cast<int>(Dims::kMaxRank)) return false;
  Dims dims;
  for (int i = 0; i < *axis; ++i) dims.push(x.dims[i]);
  for (int i = 0; i < at.size(); ++i) dims.push(at[i]);
  for (int i = *axis + 1; i < x.dims.size(); ++i) dims.push(x.dims[i]);
  set(net, id, 0, x.dtype, dims);
  return true;
}

bool gather_elements(Net& net, NodeId id) {
  if (!has(net, id, 1)) return false;
  set(net, id, 0, operand(net, id, 0).dtype, operand(net, id, 1).dims);
  return true;
}

bool gather_nd(Net& net, NodeId id) {
  const Tensor x = operand(net, id, 0);
  const Dims& at = operand(net, id, 1).dims;
  const std::int64_t batch = net.attribute_int(id, "batch_dims", 0);
  if (at.size() == 0 || batch < 0 || batch >= at.size()) return false;
  const std::int64_t taken = batch + at[at.size() - 1];
  if (taken > x.dims.size()) return false;
  Dims dims;
  for (int i = 0; i + 1 < at.size(); ++i) dims.push(at[i]);
  for (int i = static_cast<int>(taken); i < x.dims.size(); ++i) dims.push(x.dims[i]);
  set(net, id, 0, x.dtype, dims);
  return true;
}

bool expand(Net& net, NodeId id) {
  const Tensor x = operand(net, id, 0);
  const auto wanted = net.ints(net.input(id, 1));
  if (!wanted) return false;
  const auto to = Dims::of(*wanted);
  const auto dims = to ? broadcast(x.dims, *to) : std::nullopt;
  if (dims) set(net, id, 0, x.dtype, *dims);
  return dims.has_value();
}

bool tile(Net& net, NodeId id) {
  const Tensor x = operand(net, id, 0);
  const auto times = net.ints(net.input(id, 1));
  if (!times || static_cast<int>(times->size()) != x.dims.size()) return false;
  Dims dims = x.dims;
  if (!std::all_of(times->begin(), times->end(), is_size)) return false;
  for (int i = 0; i < dims.size(); ++i) dims[i] *= (*times)[static_cast<std::size_t>(i)];
  set(net, id, 0, x.dtype, dims);
  return true;
}

bool pad(Net& net, NodeId id) {
  const Tensor x = operand(net, id, 0);
  const auto pads = net.ints_given(id, "pads", 1);
  if (!pads || has(net, id, 3)) return false;
  const auto rank = static_cast<std::size_t>(x.dims.size());
  if (pads->size() != 2 * rank) return false;
  if (std::any_of(pads->begin(), pads->end(),
                  [](std::int64_t one) { return one < -kMaxDim || one > kMaxDim; }))
    return false;
  Dims dims = x.dims;
  for (std::size_t i = 0; i < rank; ++i) dims.at[i] += (*pads)[i] + (*pads)[rank + i];
  set(net, id, 0, x.dtype, dims);
  return true;
}

std::optional<std::vector<double>> reals(const Net& net, TensorId id) {
  if (id == kNone || !net.is_constant(id) || net.tensor(id).value == nullptr) return std::nullopt;
  std::vector<double> numbers;
  for (const ir::Value& one : *net.tensor(id).value) {
    if (one.real() == nullptr) return std::nullopt;
    numbers.push_back(*one.real());
  }
  const std::int64_t elements = net.tensor(id).dims.elements();
  if (numbers.size() == 1 && elements > 1 && elements <= 16)
    numbers.resize(static_cast<std::size_t>(elements), numbers[0]);
  return numbers;
}

bool resize(Net& net, NodeId id) {
  const Tensor x = operand(net, id, 0);
  const bool old = net.node(id).op == "Upsample" || net.node(id).inputs.size() == 2;
  if (net.attribute(id, "axes") != nullptr ||
      net.attribute_text(id, "keep_aspect_ratio_policy", "stretch") != "stretch")
    return false;
  Dims dims = x.dims;
  if (has(net, id, 3)) {
    const auto sizes = net.ints(net.input(id, 3));
    if (!sizes || static_cast<int>(sizes->size()) != dims.size()) return false;
    for (int i = 0; i < dims.size(); ++i) dims[i] = (*sizes)[static_cast<std::size_t>(i)];
  } else {
    const auto scales = reals(net, net.input(id, old ? 1 : 2));
    if (!scales || static_cast<int>(scales->size()) != dims.size()) return false;
    for (int i = 0; i < dims.size(); ++i) {
      // As the runtime does, in 32 bits: 10 times 0.7 is 7 there, and less in 64.
      const double size = std::floor(static_cast<float>(dims[i]) *
                                     static_cast<float>((*scales)[static_cast<std::size_t>(i)]));
      if (!(size >= 0 && size <= static_cast<double>(kMaxDim))) return false;
      dims[i] = static_cast<std::int64_t>(size);
    }
  }
  set(net, id, 0, x.dtype, dims);
  return true;
}

bool depth_to_space(Net& net, NodeId id) {
  const Tensor x = operand(net, id, 0);
  const std::int64_t block = net.attribute_int(id, "blocksize", 0);
  constexpr std::int64_t kMaxBlock = std::int64_t{1} << 15U;
  if (x.dims.size() != 4 || block <= 0 || block > kMaxBlock) return false;
  const bool deep = net.node(id).op == "DepthToSpace";
  const Dims& d = x.dims;
  const std::int64_t area = block * block;
  if (deep ? d[1] % area != 0 : d[2] % block != 0 || d[3] % block != 0) return false;
  set(net, id, 0, x.dtype,
      deep ? Dims{d[0], d[1] / area, d[2] * block, d[3] * block}
           : Dims{d[0], d[1] * area, d[2] / block, d[3] / block});
  return true;
}

}  // namespace

void add_movement(Rules& to) {
  to.onnx.insert({{"Reshape", reshape},
                  {"Flatten", flatten},
                  {"Squeeze", squeeze},
                  {"Unsqueeze", unsqueeze},
                  {"Transpose", transpose},
                  {"Concat", concat},
                  {"Split", split},
                  {"Slice", slice},
                  {"Gather", gather},
                  {"GatherElements", gather_elements},
                  {"GatherND", gather_nd},
                  {"Expand", expand},
                  {"Tile", tile},
                  {"Pad", pad},
                  {"Resize", resize},
                  {"Upsample", resize},
                  {"DepthToSpace", depth_to_space},
                  {"SpaceToDepth", depth_to_space}});
  to.contrib.emplace("QLinearConcat", qlinear_concat);
}

}  // namespace oplat::plan::ort::shapes
