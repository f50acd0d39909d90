// SPDX-License-Identifier: Apache-2.0
#include "runtimes/reference/kernel.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>
#include <utility>

#include "base/text.hpp"
#include "ir/axis.hpp"
#include "ir/dtype.hpp"

namespace oplat::runtimes::reference {
namespace {

/// Largest attribute of a window and largest tensor; far above any network, far below an overflow
/// of our products.
constexpr std::int64_t kMaxAttribute = 1 << 20;
constexpr std::int64_t kMaxElements = std::int64_t{1} << 31;

using Call = std::function<void(const std::vector<Floats>&, FloatsOut)>;
/// The call and the dimensions of its result.
struct Plan {
  Dims dims;
  Call call;
};
using Planned = std::variant<Plan, table::Unsupported, table::Failed>;

/// Reads a key's attributes; the first one that makes no sense is kept as a complaint.
class Reader {
 public:
  explicit Reader(const ir::Key& key) : key_(key) {}

  std::int64_t integer(std::string_view name, std::int64_t otherwise) {
    const ir::Value* value = key_.attribute(name);
    if (value == nullptr) return otherwise;
    const std::int64_t* found = value->integer();
    if (found == nullptr || *found < -kMaxAttribute || *found > kMaxAttribute)
      return complain(name), otherwise;
    return *found;
  }
  float real(std::string_view name, float otherwise) {
    const ir::Value* value = key_.attribute(name);
    if (value == nullptr) return otherwise;
    if (const double* found = value->real()) return static_cast<float>(*found);
    if (const std::int64_t* found = value->integer()) return static_cast<float>(*found);
    return complain(name), otherwise;
  }
  /// `count` integers of at least `low`, or `otherwise` if the attribute is missing.
  Dims integers(std::string_view name, std::size_t count, std::int64_t low, Dims otherwise) {
    const ir::Value* value = key_.attribute(name);
    if (value == nullptr) return otherwise;
    const ir::List* list = value->list();
    if (list == nullptr || list->size() != count) return complain(name), otherwise;
    Dims found;
    for (const ir::Value& entry : *list) {
      const std::int64_t* number = entry.integer();
      if (number == nullptr || *number < low || *number > kMaxAttribute)
        return complain(name), otherwise;
      found.push_back(*number);
    }
    return found;
  }
  /// Words that mean the same as a missing attribute.
  void only(std::string_view name, std::string_view word) {
    const ir::Value* value = key_.attribute(name);
    if (value == nullptr) return;
    const std::string* found = value->text();
    if (found == nullptr || *found != word) complain(name);
  }
  [[nodiscard]] const std::string& complaint() const { return complaint_; }

 private:
  void complain(std::string_view name) {
    if (complaint_.empty()) complaint_ = fmt::format("attribute {} of {}", name, key_.op);
  }
  const ir::Key& key_;
  std::string complaint_;
};

Dims dims_of(const ir::TensorEntry& tensor) {
  Dims dims;
  for (const auto& dim : tensor.shape.dims) dims.push_back(dim.value_or(0));
  return dims;
}

Dims operand_dims(const ir::Key& key, std::size_t i) {
  const ir::TensorEntry* tensor = key.operand(i);
  return tensor == nullptr ? Dims{} : dims_of(*tensor);
}

std::size_t rank_of(const ir::Key& key, std::size_t i) { return operand_dims(key, i).size(); }

table::Failed misshapen(const ir::Key& key) {
  return table::Failed{fmt::format("the operands of {} do not fit together", key.op)};
}

/// Window attributes of a key whose input has one or two spatial dimensions.
Window read_window(Reader& reader, std::size_t spatial, const Dims& default_kernel) {
  const std::size_t first = 2 - spatial;
  const Dims kernel = reader.integers("kernel_shape", spatial, 1, default_kernel);
  const Dims strides = reader.integers("strides", spatial, 1, Dims(spatial, 1));
  const Dims dilations = reader.integers("dilations", spatial, 1, Dims(spatial, 1));
  const Dims pads = reader.integers("pads", 2 * spatial, 0, Dims(2 * spatial, 0));
  reader.only("auto_pad", "NOTSET");
  Window window;
  for (std::size_t i = 0; i < spatial; ++i) {
    window.kernel[first + i] = kernel[i];
    window.strides[first + i] = strides[i];
    window.dilations[first + i] = dilations[i];
    window.pads_begin[first + i] = pads[i];
    window.pads_end[first + i] = pads[spatial + i];
  }
  window.ceil_mode = reader.integer("ceil_mode", 0) != 0;
  return window;
}

std::array<std::int64_t, 2> spatial_size(const Dims& dims) {
  return {dims.size() == 4 ? dims[2] : 1, dims.back()};
}

/// Dimensions of a result with the given channels behind a window.
Dims windowed(const Dims& input, std::int64_t channels, const Window& window) {
  const auto size = spatial_size(input);
  Dims dims{input[0], channels};
  for (std::size_t axis = 4 - input.size(); axis < 2; ++axis)
    dims.push_back(window_steps(window, axis, size[axis]));
  return dims;
}

Planned plan_conv(const ir::Key& key) {
  const Dims x = operand_dims(key, 0);
  const Dims w = operand_dims(key, 1);
  if (x.size() != 3 && x.size() != 4)
    return table::Unsupported{"Conv of other than one or two spatial dimensions"};
  if (w.size() != x.size()) return misshapen(key);
  Reader reader(key);
  ConvShape shape;
  shape.window = read_window(reader, x.size() - 2, Dims(w.begin() + 2, w.end()));
  shape.group = reader.integer("group", 1);
  if (!reader.complaint().empty()) return table::Unsupported{reader.complaint()};
  shape.batch = x[0];
  shape.channels = x[1];
  shape.filters = w[0];
  shape.size = spatial_size(x);
  const bool bias = key.operand(2) != nullptr;
  const bool grouped = shape.group >= 1 && shape.channels % shape.group == 0 &&
                       shape.filters % shape.group == 0 && w[1] == shape.channels / shape.group;
  const auto kernel = spatial_size(w);
  if (!grouped || kernel != shape.window.kernel) return misshapen(key);
  if (bias && operand_dims(key, 2) != Dims{shape.filters}) return misshapen(key);
  return Plan{windowed(x, shape.filters, shape.window),
              [shape, bias](const std::vector<Floats>& in, FloatsOut y) {
                conv(shape, in[0], in[1], bias ? in[2] : Floats{}, y);
              }};
}

Planned plan_pool(const ir::Key& key) {
  const Dims x = operand_dims(key, 0);
  if (x.size() != 3 && x.size() != 4)
    return table::Unsupported{key.op + " of other than one or two spatial dimensions"};
  if (key.results.size() > 1 && !std::holds_alternative<ir::AbsentEntry>(key.results[1])) {
    return table::Unsupported{key.op + " with indices"};
  }
  const bool global = key.op == "GlobalAveragePool";
  if (!global && key.attribute("kernel_shape") == nullptr) return misshapen(key);
  Reader reader(key);
  PoolShape shape;
  shape.size = spatial_size(x);
  shape.planes = x[0] * x[1];
  if (global) {
    shape.window.kernel = shape.size;
  } else {
    shape.window = read_window(reader, x.size() - 2, Dims(x.size() - 2, 1));
  }
  const bool include = reader.integer("count_include_pad", 0) != 0;
  if (!reader.complaint().empty()) return table::Unsupported{reader.complaint()};
  for (const std::size_t axis : {0U, 1U}) {
    const std::int64_t span = (shape.window.kernel[axis] - 1) * shape.window.dilations[axis] + 1;
    if (shape.window.pads_begin[axis] >= span || shape.window.pads_end[axis] >= span)
      return misshapen(key);
  }
  const Dims dims = windowed(x, x[1], shape.window);
  if (key.op == "MaxPool") {
    return Plan{dims,
                [shape](const std::vector<Floats>& in, FloatsOut y) { max_pool(shape, in[0], y); }};
  }
  return Plan{dims, [shape, include](const std::vector<Floats>& in, FloatsOut y) {
                average_pool(shape, include, in[0], y);
              }};
}

Planned plan_gemm(const ir::Key& key) {
  const Dims a = operand_dims(key, 0);
  const Dims b = operand_dims(key, 1);
  if (a.size() != 2 || b.size() != 2) return misshapen(key);
  Reader reader(key);
  GemmShape shape;
  shape.transpose_a = reader.integer("transA", 0) != 0;
  shape.transpose_b = reader.integer("transB", 0) != 0;
  shape.alpha = reader.real("alpha", 1);
  shape.beta = reader.real("beta", 1);
  if (!reader.complaint().empty()) return table::Unsupported{reader.complaint()};
  shape.m = a[shape.transpose_a ? 1 : 0];
  shape.k = a[shape.transpose_a ? 0 : 1];
  shape.n = b[shape.transpose_b ? 0 : 1];
  if (b[shape.transpose_b ? 1 : 0] != shape.k) return misshapen(key);
  const bool has_c = key.operand(2) != nullptr;
  if (has_c) {
    const Dims c = operand_dims(key, 2);
    Dims full;
    if (!broadcast(c, {shape.m, shape.n}, full) || full != Dims{shape.m, shape.n})
      return misshapen(key);
    const std::int64_t columns = c.empty() ? 1 : c.back();
    const std::int64_t rows = c.size() < 2 ? 1 : c[c.size() - 2];
    shape.c_column_stride = columns == 1 ? 0 : 1;
    shape.c_row_stride = rows == 1 ? 0 : columns;
  }
  return Plan{{shape.m, shape.n}, [shape, has_c](const std::vector<Floats>& in, FloatsOut y) {
                gemm(shape, in[0], in[1], has_c ? in[2] : Floats{}, y);
              }};
}

Planned plan_matmul(const ir::Key& key) {
  const Dims a = operand_dims(key, 0);
  const Dims b = operand_dims(key, 1);
  if (a.size() < 2 || b.size() < 2) return table::Unsupported{"MatMul of a vector"};
  if (a.back() != b[b.size() - 2]) return misshapen(key);
  Dims dims;
  if (!broadcast(Dims(a.begin(), a.end() - 2), Dims(b.begin(), b.end() - 2), dims))
    return misshapen(key);
  dims.push_back(a[a.size() - 2]);
  dims.push_back(b.back());
  return Plan{
      dims, [a, b](const std::vector<Floats>& in, FloatsOut y) { matmul(a, b, in[0], in[1], y); }};
}

Planned plan_pointwise(const ir::Key& key) {
  const Dims a = operand_dims(key, 0);
  const Dims b = operand_dims(key, 1);
  Dims dims;
  if (!broadcast(a, b, dims)) return misshapen(key);
  if (key.op == "Add") {
    return Plan{dims,
                [a, b](const std::vector<Floats>& in, FloatsOut y) { add(a, b, in[0], in[1], y); }};
  }
  return Plan{dims,
              [a, b](const std::vector<Floats>& in, FloatsOut y) { mul(a, b, in[0], in[1], y); }};
}

Planned plan_unary(const ir::Key& key) {
  const Dims dims = operand_dims(key, 0);
  if (key.op == "Relu")
    return Plan{dims, [](const std::vector<Floats>& in, FloatsOut y) { relu(in[0], y); }};
  return Plan{dims, [](const std::vector<Floats>& in, FloatsOut y) { sigmoid(in[0], y); }};
}

Planned plan_clip(const ir::Key& key) {
  Reader reader(key);
  // Bounds were attributes before version 11 and are operands since.
  const float low = reader.real("min", std::numeric_limits<float>::lowest());
  const float high = reader.real("max", std::numeric_limits<float>::max());
  if (!reader.complaint().empty()) return table::Unsupported{reader.complaint()};
  for (const std::size_t i : {1U, 2U}) {
    const ir::TensorEntry* bound = key.operand(i);
    if (bound != nullptr && bound->shape.elements() != 1) return misshapen(key);
  }
  return Plan{operand_dims(key, 0), [low, high](const std::vector<Floats>& in, FloatsOut y) {
                const float least = in.size() > 1 && !in[1].empty() ? in[1][0] : low;
                const float most = in.size() > 2 && !in[2].empty() ? in[2][0] : high;
                clip(least, most, in[0], y);
              }};
}

Planned plan_softmax(const ir::Key& key) {
  const Dims dims = operand_dims(key, 0);
  // Before version 13 everything from the axis on was one dimension.
  const bool flattens = key.since.value_or(13) < 13;
  Reader reader(key);
  const auto axis = ir::axis_index(reader.integer("axis", flattens ? 1 : -1), dims.size());
  if (!reader.complaint().empty()) return table::Unsupported{reader.complaint()};
  if (!axis) return misshapen(key);
  std::int64_t outer = 1;
  std::int64_t size = 1;
  std::int64_t inner = 1;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const std::int64_t dim = dims[i];
    if (i < *axis) {
      outer *= dim;
    } else if (i == *axis || flattens) {
      size *= dim;
    } else {
      inner *= dim;
    }
  }
  return Plan{dims, [=](const std::vector<Floats>& in, FloatsOut y) {
                softmax(outer, size, inner, in[0], y);
              }};
}

struct Operator {
  std::string_view name;
  std::size_t min_operands;
  std::size_t max_operands;
  Planned (*plan)(const ir::Key& key);
};
constexpr std::array kOperators{
    Operator{"Conv", 2, 3, plan_conv},
    Operator{"Gemm", 2, 3, plan_gemm},
    Operator{"MatMul", 2, 2, plan_matmul},
    Operator{"Relu", 1, 1, plan_unary},
    Operator{"Sigmoid", 1, 1, plan_unary},
    Operator{"Clip", 1, 3, plan_clip},
    Operator{"Add", 2, 2, plan_pointwise},
    Operator{"Mul", 2, 2, plan_pointwise},
    Operator{"MaxPool", 1, 1, plan_pool},
    Operator{"AveragePool", 1, 1, plan_pool},
    Operator{"GlobalAveragePool", 1, 1, plan_pool},
    Operator{"Softmax", 1, 1, plan_softmax},
};

/// Why the loops cannot hold this tensor; empty: they can.
std::string refusal(const ir::TensorEntry& tensor) {
  if (tensor.dtype != ir::Dtype::F32) return fmt::format("dtype {}", ir::name(tensor.dtype));
  const auto elements = tensor.shape.elements();
  if (!elements) return "a shape that is not known";
  // No kernel that a runtime executes is empty, and without such tensors no product of dimensions
  // can overflow.
  if (*elements == 0) return "an empty tensor";
  if (*elements > kMaxElements) return fmt::format("a tensor of {} elements", *elements);
  return "";
}

/// The value of every element, where the key states a single one.
std::optional<float> stated_value(const ir::TensorEntry& tensor) {
  if (!tensor.value) return std::nullopt;
  const ir::Value* value = &*tensor.value;
  if (const ir::List* list = value->list(); list != nullptr && list->size() == 1)
    value = &list->front();
  if (const double* real = value->real()) return static_cast<float>(*real);
  if (const std::int64_t* integer = value->integer()) return static_cast<float>(*integer);
  return std::nullopt;
}

}  // namespace

Built build(const ir::Key& key) {
  const std::string full = key.domain.empty() ? key.op : key.domain + ":" + key.op;
  const auto known = std::find_if(kOperators.begin(), kOperators.end(),
                                  [&](const Operator& o) { return o.name == key.op; });
  if (!key.domain.empty() || known == kOperators.end()) {
    return table::Unsupported{"operator " + base::printable(full) + " has no plain loops"};
  }
  if (key.operands.size() < known->min_operands || key.operands.size() > known->max_operands ||
      key.results.empty()) {
    return misshapen(key);
  }
  Kernel kernel;
  for (std::size_t i = 0; i < key.operands.size(); ++i) {
    const ir::TensorEntry* tensor = key.operand(i);
    if (tensor == nullptr && i < known->min_operands) return misshapen(key);
    const std::string why = tensor == nullptr ? "" : refusal(*tensor);
    if (!why.empty()) return table::Unsupported{fmt::format("{} with {}", key.op, why)};
    kernel.operand_elements.push_back(tensor == nullptr ? 0 : *tensor->shape.elements());
    kernel.constant.push_back(tensor != nullptr && tensor->constant);
    const auto* alias = std::get_if<ir::AliasEntry>(&key.operands[i]);
    kernel.source.push_back(alias == nullptr ? i : alias->index);
    kernel.values.push_back(tensor == nullptr ? std::nullopt : stated_value(*tensor));
  }
  if (rank_of(key, 0) == 0 && known->min_operands == 1 && key.op != "Relu" && key.op != "Sigmoid" &&
      key.op != "Clip") {
    return misshapen(key);
  }
  auto planned = known->plan(key);
  if (auto* unsupported = std::get_if<table::Unsupported>(&planned)) return std::move(*unsupported);
  if (auto* failed = std::get_if<table::Failed>(&planned)) return std::move(*failed);
  auto& plan = std::get<Plan>(planned);
  const ir::TensorEntry* result = key.result(0);
  if (result == nullptr || result->dtype != ir::Dtype::F32 || !result->shape.elements() ||
      dims_of(*result) != plan.dims) {
    return table::Failed{fmt::format("the result of {} has shape [{}], the key says another",
                                     key.op, fmt::join(plan.dims, ","))};
  }
  kernel.result_elements = *result->shape.elements();
  if (kernel.result_elements > kMaxElements)
    return table::Unsupported{key.op + " with a result that is too large"};
  kernel.call = std::move(plan.call);
  for (std::size_t i = 0; i < key.operands.size(); ++i) {
    const ir::TensorEntry* tensor = key.operand(i);
    if (tensor == nullptr || tensor->constant) continue;
    if (tensor->shape == result->shape) kernel.chained = i;
    break;
  }
  return kernel;
}

}  // namespace oplat::runtimes::reference
