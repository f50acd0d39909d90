// SPDX-License-Identifier: Apache-2.0
/// Constant folding (core/optimizer/constant_folding.cc): a node whose operands are all constants
/// becomes one, and a Shape of a known size does. A dequantisation stays, since it belongs to the
/// node that reads it. Numbers are computed for few elements and for operators of which sizes are
/// made; of the others the result has a size and no numbers, like a weight.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <utility>

#include "plan/onnxruntime/net.hpp"

namespace oplat::plan::ort {
namespace {

constexpr std::int64_t kMaxNumbers = 64;
constexpr std::int64_t kMaxReals = 16;

constexpr std::array<std::string_view, 5> kDrawn = {
    "RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike", "Multinomial"};

/// Whether a whole number is not a rounded one.
bool is_exact(double number) {
  constexpr double kMax = 9007199254740992;  // 2^53
  return std::fabs(number) < kMax;
}

/// Flat numbers of a tensor: either whole ones or reals.
struct Numbers {
  bool real = false;
  bool exact = true;  ///< false: one of them is not known
  Ints whole = {};
  std::vector<double> reals = {};
  [[nodiscard]] std::size_t size() const { return real ? reals.size() : whole.size(); }
  [[nodiscard]] double at(std::size_t i) const {
    return real ? reals[i] : static_cast<double>(whole[i]);
  }
  void push(double number) {
    if (real) {
      reals.push_back(static_cast<double>(static_cast<float>(number)));
    } else {
      exact = exact && is_exact(number);
      whole.push_back(is_exact(number) ? static_cast<std::int64_t>(number) : 0);
    }
  }
  void take(const Numbers& from, std::size_t i) {
    if (real) {
      reals.push_back(from.at(i));
    } else {
      if (from.real) {
        push(from.reals[i]);
      } else {
        whole.push_back(from.whole[i]);
      }
    }
  }
};

std::optional<Numbers> numbers_of(const Net& net, TensorId id) {
  if (!net.is_constant(id)) return std::nullopt;
  const Tensor& tensor = net.tensor(id);
  Numbers numbers;
  if (!ir::is_float(tensor.dtype)) {
    auto whole = net.ints(id);
    if (!whole) return std::nullopt;
    numbers.whole = std::move(*whole);
    return numbers;
  }
  numbers.real = true;
  const std::int64_t elements = tensor.dims.elements();
  if (tensor.value == nullptr || elements > kMaxNumbers) return std::nullopt;
  for (const ir::Value& one : *tensor.value) {
    if (one.real() == nullptr) return std::nullopt;
    numbers.reals.push_back(*one.real());
  }
  if (numbers.reals.size() == 1 && elements > 1)
    numbers.reals.resize(static_cast<std::size_t>(elements), numbers.reals[0]);
  if (static_cast<std::int64_t>(numbers.reals.size()) != elements) return std::nullopt;
  return numbers;
}

/// Position in an operand of `from` of the element that is at `at` in a result of `to`.
std::size_t broadcast_index(std::size_t at, const Dims& to, const Dims& from) {
  std::size_t index = 0;
  std::size_t step = 1;
  for (int i = to.size(); i-- > 0;) {
    const auto dim = static_cast<std::size_t>(to[i]);
    const std::size_t digit = at % dim;
    at /= dim;
    const int own = i - (to.size() - from.size());
    if (own < 0) continue;
    if (from[own] != 1) index += digit * step;
    step *= static_cast<std::size_t>(from[own]);
  }
  return index;
}

std::optional<Numbers> fold_each(
    const Net& net, NodeId id, const std::function<double(const std::vector<double>&)>& function) {
  const Tensor& result = net.tensor(net.result(id));
  std::vector<Numbers> operands;
  for (const TensorId one : net.node(id).inputs) {
    auto numbers = numbers_of(net, one);
    if (!numbers) return std::nullopt;
    operands.push_back(std::move(*numbers));
  }
  Numbers out;
  out.real = ir::is_float(result.dtype);
  std::vector<double> arguments(operands.size());
  for (std::int64_t i = 0; i < result.dims.elements(); ++i) {
    for (std::size_t k = 0; k < operands.size(); ++k) {
      const Dims& dims = net.tensor(net.node(id).inputs[k]).dims;
      arguments[k] =
          operands[k].at(broadcast_index(static_cast<std::size_t>(i), result.dims, dims));
      if (!operands[k].real && !is_exact(arguments[k])) return std::nullopt;
    }
    out.push(function(arguments));
  }
  return out;
}

std::optional<Numbers> fold_where(const Net& net, NodeId id) {
  const auto chosen = numbers_of(net, net.input(id, 0)), yes = numbers_of(net, net.input(id, 1)),
             no = numbers_of(net, net.input(id, 2));
  if (!chosen || !yes || !no) return std::nullopt;
  const Tensor& result = net.tensor(net.result(id));
  Numbers out;
  out.real = yes->real;
  for (std::int64_t i = 0; i < result.dims.elements(); ++i) {
    const auto at = [&](std::size_t k) {
      return broadcast_index(static_cast<std::size_t>(i), result.dims,
                             net.tensor(net.input(id, k)).dims);
    };
    if (chosen->at(at(0)) != 0) {
      out.take(*yes, at(1));
    } else {
      out.take(*no, at(2));
    }
  }
  return out;
}

std::optional<Numbers> fold_gather(const Net& net, NodeId id) {
  const auto from = numbers_of(net, net.input(id, 0)), at = numbers_of(net, net.input(id, 1));
  if (!from || !at || net.tensor(net.input(id, 0)).dims.size() != 1) return std::nullopt;
  Numbers out;
  out.real = from->real;
  const auto n = static_cast<std::int64_t>(from->size());
  for (std::int64_t index : at->whole) {
    if (index < 0) index += n;
    if (index < 0 || index >= n) return std::nullopt;
    out.take(*from, static_cast<std::size_t>(index));
  }
  return out;
}

std::optional<Numbers> fold_concat(const Net& net, NodeId id) {
  if (net.tensor(net.result(id)).dims.size() != 1) return std::nullopt;
  Numbers out;
  out.real = ir::is_float(net.tensor(net.result(id)).dtype);
  for (const TensorId one : net.node(id).inputs) {
    const auto numbers = numbers_of(net, one);
    if (!numbers) return std::nullopt;
    for (std::size_t i = 0; i < numbers->size(); ++i) out.take(*numbers, i);
  }
  return out;
}

/// Elements of `x` for each place of a result of `y`: `where` says of a place along an axis of the
/// result which axis of the operand that is and where along it.
template <class Where>
std::optional<Numbers> taken(const Numbers& from, const Dims& x, const Dims& y, Where where) {
  Numbers out;
  out.real = from.real;
  for (std::int64_t i = 0; i < y.elements(); ++i) {
    std::int64_t rest = i;
    Ints at(static_cast<std::size_t>(x.size()), 0);
    for (int axis = y.size(); axis-- > 0;) {
      const auto [of, place] = where(axis, rest % y[axis]);
      rest /= y[axis];
      at[static_cast<std::size_t>(of)] = place;
    }
    std::int64_t index = 0;
    for (int axis = 0; axis < x.size(); ++axis) {
      const std::int64_t place = at[static_cast<std::size_t>(axis)];
      if (place < 0 || place >= x[axis]) return std::nullopt;
      index = index * x[axis] + place;
    }
    out.take(from, static_cast<std::size_t>(index));
  }
  return out;
}

std::optional<Numbers> fold_slice(const Net& net, NodeId id) {
  const auto from = numbers_of(net, net.input(id, 0));
  const auto starts = net.ints_given(id, "starts", 1);
  const auto axes = net.ints_given(id, "axes", 3);
  const auto steps = net.ints_given(id, "steps", 4);
  if (!from || !starts) return std::nullopt;
  const Dims& x = net.tensor(net.input(id, 0)).dims;
  const Dims& y = net.tensor(net.result(id)).dims;
  Ints first(static_cast<std::size_t>(x.size()), 0), stride(static_cast<std::size_t>(x.size()), 1);
  for (std::size_t i = 0; i < starts->size(); ++i) {
    std::int64_t axis = axes ? (*axes)[i] : static_cast<std::int64_t>(i);
    if (axis < 0) axis += x.size();
    const std::int64_t n = x[static_cast<int>(axis)];
    const std::int64_t step = steps ? std::clamp<std::int64_t>((*steps)[i], -n - 1, n + 1) : 1;
    const std::int64_t start = (*starts)[i] < 0 ? (*starts)[i] + n : (*starts)[i];
    first[static_cast<std::size_t>(axis)] =
        std::clamp<std::int64_t>(start, 0, std::max<std::int64_t>(0, step < 0 ? n - 1 : n));
    stride[static_cast<std::size_t>(axis)] = step;
  }
  return taken(*from, x, y, [&](int axis, std::int64_t digit) {
    const auto i = static_cast<std::size_t>(axis);
    return std::pair(axis, first[i] + digit * stride[i]);
  });
}

std::optional<Numbers> fold_transpose(const Net& net, NodeId id) {
  const auto from = numbers_of(net, net.input(id, 0));
  if (!from) return std::nullopt;
  const Dims& x = net.tensor(net.input(id, 0)).dims;
  const auto perm = net.attribute_ints(id, "perm");
  return taken(*from, x, net.tensor(net.result(id)).dims, [&](int axis, std::int64_t digit) {
    const std::int64_t of = perm ? (*perm)[static_cast<std::size_t>(axis)] : x.size() - 1 - axis;
    return std::pair(static_cast<int>(of), digit);
  });
}

std::optional<Numbers> fold_reduced(const Net& net, NodeId id) {
  const auto from = numbers_of(net, net.input(id, 0));
  if (!from || from->size() == 0 || net.tensor(net.result(id)).dims.elements() != 1)
    return std::nullopt;
  const std::string_view op = net.node(id).op;
  double sum = op == "ReduceProd" ? 1 : op == "ReduceSum" ? 0 : from->at(0);
  for (std::size_t i = 0; i < from->size(); ++i) {
    const double one = from->at(i);
    sum = op == "ReduceProd"  ? sum * one
          : op == "ReduceSum" ? sum + one
          : op == "ReduceMax" ? std::max(sum, one)
                              : std::min(sum, one);
  }
  Numbers out;
  out.real = from->real;
  out.push(sum);
  return out;
}

std::optional<Numbers> fold_range(const Net& net, NodeId id) {
  const auto start = net.number(net.input(id, 0)), delta = net.number(net.input(id, 2));
  const Tensor& result = net.tensor(net.result(id));
  if (!start || !delta || result.dims.elements() > kMaxNumbers) return std::nullopt;
  Numbers out;
  out.real = ir::is_float(result.dtype);
  for (std::int64_t i = 0; i < result.dims.elements(); ++i)
    out.push(*start + static_cast<double>(i) * *delta);
  return out;
}

std::optional<Numbers> fold_shape(const Net& net, NodeId id) {
  const Dims& dims = net.tensor(net.input(id, 0)).dims;
  const std::int64_t rank = dims.size();
  std::int64_t start = net.attribute_int(id, "start", 0);
  if (start < 0) start += rank;
  start = std::clamp<std::int64_t>(start, 0, rank);
  Numbers out;
  const std::int64_t count = net.tensor(net.result(id)).dims[0];
  for (std::int64_t i = 0; i < count; ++i) out.whole.push_back(dims[static_cast<int>(start + i)]);
  return out;
}

/// Of ConstantOfShape, as many as a list of numbers holds; one where they are more.
std::optional<Numbers> fold_filled(const Net& net, NodeId id) {
  const Tensor& result = net.tensor(net.result(id));
  Numbers out;
  out.real = ir::is_float(result.dtype);
  double number = 0;
  const std::string_view text = net.attribute_text(id, "value", "");
  if (const std::size_t at = text.rfind('='); at != std::string_view::npos) {
    std::string digits(text.substr(at + 1));
    std::erase_if(digits, [](char c) { return c == '[' || c == ']'; });
    number = std::strtod(digits.c_str(), nullptr);
  }
  out.push(number);
  return out;
}

using Function = double (*)(const std::vector<double>&);

Function function_of(std::string_view op) {
  using V = std::vector<double>;
  struct Entry {
    std::string_view op;
    Function function;
  };
  static constexpr std::array kFunctions = {
      Entry{"Add", [](const V& v) { return v[0] + v[1]; }},
      Entry{"Sub", [](const V& v) { return v[0] - v[1]; }},
      Entry{"Mul", [](const V& v) { return v[0] * v[1]; }},
      Entry{"Pow", [](const V& v) { return std::pow(v[0], v[1]); }},
      Entry{"Neg", [](const V& v) { return -v[0]; }},
      Entry{"Abs", [](const V& v) { return std::fabs(v[0]); }},
      Entry{"Floor", [](const V& v) { return std::floor(v[0]); }},
      Entry{"Ceil", [](const V& v) { return std::ceil(v[0]); }},
      Entry{"Sqrt", [](const V& v) { return std::sqrt(v[0]); }},
      Entry{"Reciprocal", [](const V& v) { return 1 / v[0]; }},
      Entry{"Exp", [](const V& v) { return std::exp(v[0]); }},
      Entry{"Min", [](const V& v) { return *std::min_element(v.begin(), v.end()); }},
      Entry{"Max", [](const V& v) { return *std::max_element(v.begin(), v.end()); }},
      Entry{"Equal", [](const V& v) { return v[0] == v[1] ? 1.0 : 0.0; }},
      Entry{"Greater", [](const V& v) { return v[0] > v[1] ? 1.0 : 0.0; }},
      Entry{"Less", [](const V& v) { return v[0] < v[1] ? 1.0 : 0.0; }},
      Entry{"Not", [](const V& v) { return v[0] == 0 ? 1.0 : 0.0; }},
      Entry{"And", [](const V& v) { return v[0] != 0 && v[1] != 0 ? 1.0 : 0.0; }},
      Entry{"Or", [](const V& v) { return v[0] != 0 || v[1] != 0 ? 1.0 : 0.0; }},
  };
  for (const Entry& entry : kFunctions)
    if (entry.op == op) return entry.function;
  return nullptr;
}

std::optional<Numbers> evaluate(const Net& net, NodeId id) {
  const std::string_view op = net.node(id).op;
  const Tensor& result = net.tensor(net.result(id));
  if (op == "ConstantOfShape") return fold_filled(net, id);
  if (result.dims.elements() > kMaxNumbers) return std::nullopt;
  if (op == "Shape") return fold_shape(net, id);
  if (op == "Size") {
    Numbers out;
    out.whole.push_back(net.tensor(net.input(id, 0)).dims.elements());
    return out;
  }
  if (op == "Gather") return fold_gather(net, id);
  if (op == "Concat") return fold_concat(net, id);
  if (op == "Slice") return fold_slice(net, id);
  if (op == "Where") return fold_where(net, id);
  if (op == "Range") return fold_range(net, id);
  if (op.starts_with("Reduce") &&
      (op == "ReduceProd" || op == "ReduceSum" || op == "ReduceMax" || op == "ReduceMin"))
    return fold_reduced(net, id);
  if (op == "Reshape" || op == "Flatten" || op == "Squeeze" || op == "Unsqueeze" ||
      op == "Identity")
    return numbers_of(net, net.input(id, 0));
  if (op == "Transpose") return fold_transpose(net, id);
  if (op == "Cast" || op == "Expand") {
    const auto from = numbers_of(net, net.input(id, 0));
    if (!from) return std::nullopt;
    Numbers out;
    out.real = ir::is_float(result.dtype);
    for (std::int64_t i = 0; i < result.dims.elements(); ++i) {
      const std::size_t at = broadcast_index(static_cast<std::size_t>(i), result.dims,
                                             net.tensor(net.input(id, 0)).dims);
      if (result.dtype == ir::Dtype::Bool) {
        out.push(from->at(at) != 0 ? 1 : 0);
      } else {
        out.take(*from, at);
      }
    }
    return out;
  }
  const bool real = ir::is_float(result.dtype);
  if (op == "Div")
    return fold_each(net, id, [real](const std::vector<double>& v) {
      return v[1] == 0 ? 0 : real ? v[0] / v[1] : std::trunc(v[0] / v[1]);
    });
  if (op == "Mod")
    return fold_each(net, id, [](const std::vector<double>& v) {
      return v[1] == 0 ? 0 : v[0] - v[1] * std::floor(v[0] / v[1]);
    });
  if (const Function function = function_of(op)) return fold_each(net, id, function);
  return std::nullopt;
}

ir::List list_of(const Numbers& numbers) {
  ir::List list;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (numbers.real) {
      list.emplace_back(numbers.reals[i]);
    } else {
      list.emplace_back(numbers.whole[i]);
    }
  }
  return list;
}

}  // namespace

void Net::fold(NodeId id) {
  const Node& n = node(id);
  if (!n.domain.empty() || n.op == "DequantizeLinear" || result(id) == kNone) return;
  if (std::find(kDrawn.begin(), kDrawn.end(), n.op) != kDrawn.end()) return;
  const bool of_size = n.op == "Shape" || n.op == "Size";
  const bool constants = std::all_of(n.inputs.begin(), n.inputs.end(), [&](TensorId one) {
    return one == kNone || is_constant(one);
  });
  if (!constants && !of_size) return;
  const Ids outputs = n.outputs;
  const auto numbers = evaluate(*this, id);
  for (const TensorId one : outputs) {
    if (one == kNone) continue;
    edit(one).constant = true;
    edit(one).producer = kNoNode;
    order_.clear();
  }
  const std::int64_t elements = tensor(outputs[0]).dims.elements();
  if (numbers && numbers->exact && outputs.size() == 1 &&
      (!numbers->real || elements <= kMaxReals) &&
      (static_cast<std::int64_t>(numbers->size()) == elements || numbers->size() == 1))
    set_value(outputs[0], list_of(*numbers));
  detach(id);
  nodes_[index(id)].alive = false;
}

}  // namespace oplat::plan::ort
