// SPDX-License-Identifier: Apache-2.0
/// Caffe2's operators, keys of which are made by formats/caffe2/operators.hpp. Counted as their
/// ONNX kin: two operations for a multiply-add, std::nullopt for bias, activation and
/// requantisation fused into a convolution or product. None is a view: Caffe2 copies in Reshape,
/// Flatten and Dropout unless the net writes in place.
#include "compat/mobile_vision/operators.hpp"

#include "formats/caffe2/operators.hpp"
#include "ir/operators/arguments.hpp"
#include "ir/operators/convolution_description.hpp"

namespace oplat::compat::mobile_vision {
namespace {

using namespace ir;       // NOLINT: the file is about keys
using namespace ir::ops;  // NOLINT

std::optional<Description> describe_conv(const Key& key) {
  const bool channels_last = ops::is_word(key, "order", "NHWC");
  return describe_convolution(key, 1, channels_last, channels_last);
}

/// [rows, inner] by [columns, inner], whatever the ranks in which they are written.
struct Product {
  double rows = 1;
  double inner = 1;
  double columns = 1;
};

std::optional<Product> product_of(const Key& key) {
  const auto operand = ops::elements(key.operand(0));
  const auto weights = ops::elements(key.operand(1));
  const auto results = ops::elements(key.result(0));
  const auto columns = ops::dim(key.result(0), -1);
  if (!operand || !weights || !results || !columns || *columns < 1) return std::nullopt;
  Product product;
  product.columns = static_cast<double>(*columns);
  product.rows = *results / product.columns;
  product.inner = *weights / product.columns;
  return product;
}

std::optional<double> flops_product(const Key& key) {
  const auto product = product_of(key);
  if (!product) return std::nullopt;
  return 2 * product->rows * product->inner * product->columns;
}

std::optional<Description> describe_product(const Key& key) {
  const auto product = product_of(key);
  if (!product) return std::nullopt;
  Description d;
  d.slice = key.domain + ":" + key.op + " product";
  for (const Entry& entry : key.operands) {
    if (const auto* tensor = std::get_if<TensorEntry>(&entry))
      d.slice += ' ' + std::string(name(tensor->dtype));
  }
  d.numbers = {product->rows, product->inner, product->columns};
  Contraction contraction;
  contraction.in_c = product->inner;
  contraction.out_c = product->columns;
  contraction.out_h = product->rows;
  d.contraction = contraction;
  return d;
}

std::optional<double> flops_pool(const Key& key) {
  const auto results = ops::elements(key.result(0));
  const auto kernel = ops::integers(key, "kernels");
  if (!results || !kernel) return std::nullopt;
  double places = 1;
  for (const std::int64_t size : *kernel) places *= static_cast<double>(size);
  return *results * places;
}

/// One addition less than there are operands, for every result.
std::optional<double> flops_sum(const Key& key) {
  const auto results = ops::elements(key.result(0));
  if (!results || key.operands.empty()) return std::nullopt;
  return *results * static_cast<double>(key.operands.size() - 1);
}

constexpr int kCaffe2Softmax = 5;

}  // namespace

std::vector<OperatorInfo> caffe2_operators() {
  std::vector<OperatorInfo> list;
  const auto add = [&](std::initializer_list<std::string_view> names,
                       std::optional<double> (*flops)(const Key&),
                       std::optional<Description> (*describe)(const Key&) = nullptr) {
    for (const std::string_view name : names) {
      list.push_back({.domain = formats::caffe2::kCaffe2Domain,
                      .op = name,
                      .flops = flops,
                      .describe = describe});
    }
  };
  add({"Conv", "Int8Conv", "Int8ConvRelu"}, flops_per_filter<1>, describe_conv);
  add({"FC", "Int8FC", "Int8FCRelu"}, flops_product, describe_product);
  add({"AveragePool", "Int8AveragePool", "Int8AveragePoolRelu", "Int8MaxPool", "Int8MaxPoolRelu",
       "MaxPool"},
      flops_pool);
  add({"Int8Sum", "Int8SumRelu", "Sum"}, flops_sum);
  add({"Add", "Int8Add", "Int8AddRelu", "Int8LeakyRelu", "Int8Relu", "Int8Sigmoid", "LeakyRelu",
       "Mul", "Relu", "Sigmoid", "Sub", "Tanh"},
      flops_per_result<1>);
  add({"Int8Dequantize", "Int8Quantize", "SpatialBN"}, flops_per_result<2>);
  add({"Int8Softmax", "Softmax"}, flops_per_result<kCaffe2Softmax>);
  add({"ChannelShuffle", "Concat", "Copy", "Dropout", "Flatten", "Int8ChannelShuffle", "Int8Concat",
       "Int8Flatten", "Int8Reshape", "Int8ResizeNearest", "Int8Transpose", "NCHW2NHWC", "NHWC2NCHW",
       "Reshape", "ResizeNearest", "Transpose"},
      no_flops);
  return list;
}

}  // namespace oplat::compat::mobile_vision
