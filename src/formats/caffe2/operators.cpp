// SPDX-License-Identifier: Apache-2.0
/// What each Caffe2 operator makes of its operands: shape, element type, canonical arguments.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "base/text.hpp"
#include "formats/caffe2/call.hpp"
#include "formats/caffe2/operators.hpp"
#include "ir/image.hpp"

namespace oplat::formats::caffe2 {

using namespace ir;  // NOLINT: the file is about keys

namespace shapes {
namespace {

std::int64_t product(std::span<const std::int64_t> dims) {
  // Operands hold fewer than 2^63 elements (Call::of).
  return std::accumulate(dims.begin(), dims.end(), std::int64_t{1}, std::multiplies<>());
}

Result<Image> take_image(Call& call) {
  OPLAT_TRY(channels_last, call.take_channels_last());
  const Numbers& x = call.dims(0);
  if (x.size() < 3 || x.size() > 5 || (call.int8() && x.size() != 4)) {
    return fail(Code::Input, "{}: operand 0 has the shape {}; expected an image of {} dimensions",
                call.op(), text(x), call.int8() ? "4" : "3 to 5");
  }
  Image image;
  image.channels_last = channels_last;
  image.batch = x.front();
  image.channels = channels_last ? x.back() : x[1];
  image.sizes =
      channels_last ? Numbers(x.begin() + 1, x.end() - 1) : Numbers(x.begin() + 2, x.end());
  return image;
}

Status check_vector(const Call& call, std::size_t operand, std::int64_t length) {
  if (call.dims(operand) == Numbers{length}) return {};
  return fail(Code::Input, "{}: operand {} has the shape {}; expected [{}]", call.op(), operand,
              text(call.dims(operand)), length);
}

/// Filters are [O,spatial...,I/group] where channels are last, else [O,I/group,spatial...].
Status convolution(Call& call) {
  OPLAT_CHECK(call.count_operands(2, 3));
  OPLAT_TRY(image, take_image(call));
  OPLAT_TRY(window, take_window(call, image.sizes));
  OPLAT_TRY(given, call.take_integer("group", 1, kMaxSize));
  const std::int64_t group = given.value_or(1);
  call.set("group", group);
  const Numbers& filter = call.dims(1);
  const std::int64_t outputs = filter.empty() ? 0 : filter.front();
  if (image.channels % group != 0 || outputs % group != 0) {
    return fail(Code::Input, "{0}: group {3} does not divide {1} input and {2} output channels",
                call.op(), image.channels, outputs, group);
  }
  const Image expected{.channels_last = image.channels_last,
                       .batch = outputs,
                       .channels = image.channels / group,
                       .sizes = window.kernels};
  if (filter != expected.dims()) {
    return fail(Code::Input, "{}: the filter has the shape {}; expected {}", call.op(),
                text(filter), text(expected.dims()));
  }
  if (call.operands() == 3) OPLAT_CHECK(check_vector(call, 2, outputs));
  OPLAT_TRY(sizes, slide(call, window, image.sizes));
  image.channels = outputs;
  image.sizes = std::move(sizes);
  return call.finish(call.dtype(0), image.dims());
}

Status pool(Call& call) {
  OPLAT_CHECK(call.count_operands(1, 1));
  OPLAT_TRY(image, take_image(call));
  OPLAT_TRY(window, take_window(call, image.sizes));
  OPLAT_TRY(sizes, slide(call, window, image.sizes));
  image.sizes = std::move(sizes);
  return call.finish(call.dtype(0), image.dims());
}

/// Int8 operators carry the order whether they read it or not; others that do not read it lose it.
Status settle_order(Call& call) {
  if (!call.int8()) {
    call.drop("order");
    return {};
  }
  OPLAT_TRY(channels_last, call.take_channels_last());
  (void)channels_last;
  return {};
}

/// X as a matrix, split at `axis`, by W [N,K] split at `axis_w`.
Status fully_connected(Call& call) {
  OPLAT_CHECK(call.count_operands(2, 3));
  OPLAT_CHECK(settle_order(call));
  OPLAT_TRY(given, call.take_integer("axis", -kMaxSize, kMaxSize));
  OPLAT_TRY(given_w, call.take_integer("axis_w", -kMaxSize, kMaxSize));
  const Numbers& x = call.dims(0);
  const Numbers& w = call.dims(1);
  OPLAT_TRY(at, call.axis(given.value_or(1), x.size(), true));
  OPLAT_TRY(at_w, call.axis(given_w.value_or(1), w.size(), true));
  call.set("axis", static_cast<std::int64_t>(at));
  if (at_w != 1) call.set("axis_w", static_cast<std::int64_t>(at_w));
  const std::int64_t inner = product(std::span(x).subspan(at));
  const std::int64_t inner_w = product(std::span(w).subspan(at_w));
  const std::int64_t outputs = product(std::span(w).first(at_w));
  if (inner != inner_w) {
    return fail(Code::Input,
                "{}: {} split at axis {} has rows of {}, but the weights {} have rows of {}",
                call.op(), text(x), at, inner, text(w), inner_w);
  }
  if (call.operands() == 3) OPLAT_CHECK(check_vector(call, 2, outputs));
  Numbers dims(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(at));
  dims.push_back(outputs);
  return call.finish(call.dtype(0), dims);
}

Status same_shape(Call& call) {
  OPLAT_CHECK(settle_order(call));
  return call.finish(call.dtype(0), call.dims(0));
}

Status unary(Call& call) {
  OPLAT_CHECK(call.count_operands(1, 1));
  return same_shape(call);
}

Status leaky_relu(Call& call) {
  OPLAT_TRY(alpha, call.take_real("alpha"));
  call.set("alpha", alpha.value_or(0.01));
  return unary(call);
}

Status dropout(Call& call) {
  call.drop("ratio");
  return unary(call);
}

Status quantise(Call& call) {
  OPLAT_CHECK(call.count_operands(1, 1));
  call.drop("order");
  return call.finish(Dtype::U8, call.dims(0));
}

Status dequantise(Call& call) {
  OPLAT_CHECK(call.count_operands(1, 1));
  call.drop("order");
  return call.finish(Dtype::F32, call.dims(0));
}

Status softmax(Call& call) {
  OPLAT_TRY(given, call.take_integer("axis", -kMaxSize, kMaxSize));
  OPLAT_TRY(at, call.axis(given.value_or(1), call.dims(0).size(), true));
  call.set("axis", static_cast<std::int64_t>(at));
  return unary(call);
}

Status sum(Call& call) {
  for (std::size_t i = 1; i < call.operands(); ++i) {
    if (call.dims(i) == call.dims(0) && call.dtype(i) == call.dtype(0)) continue;
    return fail(Code::Input, "{}: operand {} is {}{}; expected {}{} as for operand 0", call.op(), i,
                name(call.dtype(i)), text(call.dims(i)), name(call.dtype(0)), text(call.dims(0)));
  }
  return same_shape(call);
}

Status add_int8(Call& call) {
  OPLAT_CHECK(call.count_operands(2, 2));
  return sum(call);
}

/// As NumPy broadcasts; with `broadcast`, as Caffe2 once did: operand 1 against the dimensions of
/// operand 0 from `axis`.
Status binary(Call& call) {
  OPLAT_CHECK(call.count_operands(2, 2));
  OPLAT_CHECK(settle_order(call));
  OPLAT_TRY(legacy, call.take_integer("broadcast", 0, 1));
  OPLAT_TRY(given, call.take_integer("axis", -kMaxSize, kMaxSize));
  Numbers a = call.dims(0);
  Numbers b = call.dims(1);
  const auto apart = [&] {
    return fail(Code::Input, "{}: the shapes {} and {} do not broadcast", call.op(),
                text(call.dims(0)), text(call.dims(1)));
  };
  if (legacy.value_or(0) == 1) {
    if (b.size() > a.size()) return apart();
    const std::size_t room = a.size() - b.size();
    std::size_t at = room;
    if (given && *given != -1) {
      OPLAT_TRY(chosen, call.axis(*given, a.size(), true));
      if (chosen > room) return apart();
      at = chosen;
    }
    b.resize(b.size() + (room - at), 1);
    if (at != room) call.set("axis", static_cast<std::int64_t>(at));
    if (at != room) call.set("broadcast", 1);
  }
  const std::size_t count = std::max(a.size(), b.size());
  a.insert(a.begin(), count - a.size(), 1);
  b.insert(b.begin(), count - b.size(), 1);
  for (std::size_t i = 0; i < count; ++i) {
    if (a[i] != b[i] && a[i] != 1 && b[i] != 1) return apart();
    a[i] = std::max(a[i], b[i]);
  }
  return call.finish(call.dtype(0), a);
}

Status channel_shuffle(Call& call) {
  OPLAT_CHECK(call.count_operands(1, 1));
  OPLAT_TRY(image, take_image(call));
  OPLAT_TRY(group, call.take_integer("group", 1, kMaxSize));
  // Older nets treat it as a convolution of kernel 1.
  for (const char* name : {"kernel", "stride", "pad"}) call.drop(name);
  if (!group || image.channels % *group != 0) {
    return fail(Code::Input, "{}: {} channels do not divide into {} groups", call.op(),
                image.channels, group ? std::to_string(*group) : "unknown");
  }
  call.set("group", *group);
  return call.finish(call.dtype(0), call.dims(0));
}

Status spatial_bn(Call& call) {
  OPLAT_CHECK(call.count_operands(5, 7));
  OPLAT_TRY(image, take_image(call));
  for (std::size_t i = 1; i < 5; ++i) OPLAT_CHECK(check_vector(call, i, image.channels));
  for (const char* name : {"epsilon", "momentum", "num_batches"}) call.drop(name);
  return call.finish(call.dtype(0), call.dims(0));
}

template <bool kToLast>
Status reorder(Call& call) {
  OPLAT_CHECK(call.count_operands(1, 1));
  call.drop("order");
  const Numbers& x = call.dims(0);
  if (x.size() < 3)
    return fail(Code::Input, "{}: operand 0 has the shape {}; expected an image", call.op(),
                text(x));
  Numbers dims = x;
  if (kToLast) {
    std::rotate(dims.begin() + 1, dims.begin() + 2, dims.end());
  } else {
    std::rotate(dims.begin() + 1, dims.end() - 1, dims.end());
  }
  return call.finish(call.dtype(0), dims);
}

Status concat(Call& call) {
  OPLAT_TRY(order, call.take_word("order"));
  OPLAT_TRY(given, call.take_integer("axis", -kMaxSize, kMaxSize));
  OPLAT_TRY(added, call.take_integer("add_axis", 0, 1));
  const bool add_axis = added.value_or(0) == 1;
  // Without an order, Int8Concat joins along the first dimension, Concat along the second.
  const std::int64_t usual = order == "NHWC" ? 3 : order == "NCHW" || !call.int8() ? 1 : 0;
  const std::size_t rank = call.dims(0).size();
  OPLAT_TRY(at, call.axis(given.value_or(usual), rank + (add_axis ? 1 : 0)));
  Numbers dims = call.dims(0);
  if (add_axis) dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(at), 1);
  for (std::size_t i = 1; i < call.operands(); ++i) {
    Numbers each = call.dims(i);
    if (add_axis)
      each.insert(each.begin() + static_cast<std::ptrdiff_t>(std::min(at, each.size())), 1);
    bool fits = each.size() == dims.size();
    for (std::size_t d = 0; fits && d < dims.size(); ++d)
      fits = each[d] == dims[d] || (d == at && !add_axis);
    if (!fits) {
      return fail(Code::Input,
                  "{}: operands of the shapes {} and {} cannot be joined along axis {}", call.op(),
                  text(call.dims(0)), text(call.dims(i)), at);
    }
    dims[at] += each[at];
  }
  call.set("add_axis", add_axis ? 1 : 0);
  call.set("axis", static_cast<std::int64_t>(at));
  if (call.int8()) call.set("order", "NHWC");
  return call.finish(call.dtype(0), dims);
}

/// 0 keeps the operand's dimension of that place, -1 takes what is left. The key holds what comes
/// out.
Status reshape(Call& call) {
  OPLAT_CHECK(call.count_operands(1, 2));
  OPLAT_CHECK(settle_order(call));
  OPLAT_TRY(shape, call.take_integers("shape", -1, kMaxSize));
  if (!shape) return fail(Code::Input, "{}: no argument states the shape of its result", call.op());
  const Numbers& x = call.dims(0);
  const std::int64_t elements = product(x);
  Numbers dims = *shape;
  std::optional<std::size_t> open;
  std::int64_t known = 1;
  const auto unfit = [&] {
    return fail(Code::Input, "{}: {} cannot take the shape {}", call.op(), text(x), text(*shape));
  };
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 0) {
      if (i >= x.size()) return unfit();
      dims[i] = x[i];
    }
    if (dims[i] == -1) {
      if (open) return unfit();
      open = i;
    } else if (dims[i] > elements / known) {
      return unfit();
    } else {
      known *= dims[i];
    }
  }
  if (open ? elements % known != 0 : known != elements) return unfit();
  if (open) dims[*open] = elements / known;
  call.set("shape", Value::ints(dims));
  return call.finish(call.dtype(0), dims);
}

Status flatten(Call& call) {
  OPLAT_CHECK(call.count_operands(1, 1));
  OPLAT_CHECK(settle_order(call));
  OPLAT_TRY(given, call.take_integer("axis", -kMaxSize, kMaxSize));
  const Numbers& x = call.dims(0);
  OPLAT_TRY(at, call.axis(given.value_or(1), x.size(), true));
  call.set("axis", static_cast<std::int64_t>(at));
  return call.finish(call.dtype(0),
                     {product(std::span(x).first(at)), product(std::span(x).subspan(at))});
}

Status resize(Call& call) {
  OPLAT_CHECK(call.count_operands(1, 1));
  OPLAT_TRY(image, take_image(call));
  if (image.sizes.size() != 2)
    return fail(Code::Input, "{}: operand 0 has the shape {}; expected 4 dimensions", call.op(),
                text(call.dims(0)));
  const char* names[] = {"height_scale", "width_scale"};
  for (std::size_t i = 0; i < 2; ++i) {
    OPLAT_TRY(given, call.take_real(names[i]));
    const double scale = given.value_or(1.0);
    const double size = std::floor(static_cast<double>(image.sizes[i]) * scale);
    if (!(size >= 1 && size <= static_cast<double>(kMaxSize))) {
      return fail(Code::Input, "{0}: {1} is {2}, which turns {4} into {3}", call.op(), names[i],
                  scale, size, image.sizes[i]);
    }
    image.sizes[i] = static_cast<std::int64_t>(size);
    call.set(names[i], scale);
  }
  return call.finish(call.dtype(0), image.dims());
}

Status transpose(Call& call) {
  OPLAT_CHECK(call.count_operands(1, 1));
  OPLAT_CHECK(settle_order(call));
  const Numbers& x = call.dims(0);
  OPLAT_TRY(given, call.take_integers("axes", 0, kMaxSize));
  Numbers axes(x.size());
  std::iota(axes.begin(), axes.end(), std::int64_t{0});
  Numbers sorted = given.value_or(axes);
  std::sort(sorted.begin(), sorted.end());
  if (sorted != axes)
    return fail(Code::Input, "{}: axes {} are not a permutation of {} dimensions", call.op(),
                text(*given), x.size());
  if (given) {
    axes = *given;
  } else {
    std::reverse(axes.begin(), axes.end());
  }
  Numbers dims;
  for (const std::int64_t axis : axes) dims.push_back(x[static_cast<std::size_t>(axis)]);
  call.set("axes", Value::ints(axes));
  return call.finish(call.dtype(0), dims);
}

struct Operator {
  std::string_view name;
  Infer infer;
  std::size_t parameters = 0;  ///< operands from the second to this one
};

constexpr Operator kOperators[] = {
    {"Add", binary},
    {"AveragePool", pool},
    {"ChannelShuffle", channel_shuffle},
    {"Concat", concat},
    {"Conv", convolution, 2},
    {"Copy", unary},
    {"Dropout", dropout},
    {"FC", fully_connected, 2},
    {"Flatten", flatten},
    {"Int8Add", add_int8},
    {"Int8AddRelu", add_int8},
    {"Int8AveragePool", pool},
    {"Int8AveragePoolRelu", pool},
    {"Int8ChannelShuffle", channel_shuffle},
    {"Int8Concat", concat},
    {"Int8Conv", convolution, 2},
    {"Int8ConvRelu", convolution, 2},
    {"Int8Dequantize", dequantise},
    {"Int8FC", fully_connected, 2},
    {"Int8FCRelu", fully_connected, 2},
    {"Int8Flatten", flatten},
    {"Int8LeakyRelu", leaky_relu},
    {"Int8MaxPool", pool},
    {"Int8MaxPoolRelu", pool},
    {"Int8Quantize", quantise},
    {"Int8Relu", unary},
    {"Int8Reshape", reshape},
    {"Int8ResizeNearest", resize},
    {"Int8Sigmoid", unary},
    {"Int8Softmax", softmax},
    {"Int8Sum", sum},
    {"Int8SumRelu", sum},
    {"Int8Transpose", transpose},
    {"LeakyRelu", leaky_relu},
    {"MaxPool", pool},
    {"Mul", binary},
    {"NCHW2NHWC", reorder<true>},
    {"NHWC2NCHW", reorder<false>},
    {"Relu", unary},
    {"Reshape", reshape},
    {"ResizeNearest", resize},
    {"Sigmoid", unary},
    {"Softmax", softmax},
    {"SpatialBN", spatial_bn, 4},
    {"Sub", binary},
    {"Sum", sum},
    {"Tanh", unary},
    {"Transpose", transpose},
};

const Operator* find(std::string_view op) {
  const auto* found =
      std::lower_bound(std::begin(kOperators), std::end(kOperators), op,
                       [](const Operator& o, std::string_view name) { return o.name < name; });
  return found != std::end(kOperators) && found->name == op ? found : nullptr;
}

/// Arguments of any operator that change nothing about the time in inference on a CPU.
constexpr std::string_view kInert[] = {
    "Y_scale",           "Y_zero_point", "ws_nbytes_limit",
    "is_test",           "use_cudnn",    "cudnn_exhaustive_search",
    "exhaustive_search", "no_bias",      "init_params"};

}  // namespace

Infer inference_of(std::string_view op) {
  const Operator* found = find(op);
  return found == nullptr ? nullptr : found->infer;
}

std::size_t parameters_of(std::string_view op) {
  const Operator* found = find(op);
  return found == nullptr ? 0 : found->parameters;
}

}  // namespace shapes

bool is_caffe2_operator(std::string_view op) { return shapes::inference_of(op) != nullptr; }

bool is_caffe2_parameter(std::string_view op, std::size_t operand) {
  return operand >= 1 && operand <= shapes::parameters_of(op);
}

void mark_caffe2_parameters(Key& key) {
  for (std::size_t i = 0; i < key.operands.size(); ++i) {
    auto* tensor = std::get_if<TensorEntry>(&key.operands[i]);
    if (tensor != nullptr && is_caffe2_parameter(key.op, i)) tensor->constant = true;
  }
}

Status complete_caffe2(Key& key) {
  const shapes::Infer infer = shapes::inference_of(key.op);
  if (infer == nullptr) {
    return fail(Code::Input, "{}: oplat cannot infer the result shape of this operator",
                base::printable(key.op));
  }
  OPLAT_TRY(call, shapes::Call::of(key));
  for (const std::string_view name : shapes::kInert) call.drop(name);
  // An argument without a value, or with none of a list's, says nothing.
  std::erase_if(key.attributes, [](const NamedValue& a) {
    return a.second.unknown() || (a.second.list() != nullptr && a.second.list()->empty());
  });
  OPLAT_CHECK(infer(call));
  key.canonicalise();
  return {};
}

}  // namespace oplat::formats::caffe2
