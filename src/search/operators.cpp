// SPDX-License-Identifier: Apache-2.0
/// Caffe2's operators, int8 and fp32.
#include "search/operators.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace oplat::search {
namespace {

// Of Caffe2's TensorProto.DataType.
constexpr int kFloat = 1;
constexpr int kInt32 = 2;
constexpr int kUint8 = 6;

std::string integer(std::string_view name, std::int64_t value) {
  return fmt::format("name: \"{}\"\ni: {}\n", name, value);
}

/// Rows that a window leaves.
std::int64_t slid(std::int64_t size, std::int64_t kernel, std::int64_t pad, std::int64_t stride) {
  return (size + 2 * pad - kernel) / stride + 1;
}

}  // namespace

std::vector<std::int64_t> Operators::shape() const {
  const Tensor& t = tensor_;
  if (t.flat) return {t.batch, t.channels};
  if (int8()) return {t.batch, t.size, t.size, t.channels};
  return {t.batch, t.channels, t.size, t.size};
}

std::string Operators::order() const {
  return fmt::format("name: \"order\"\ns: \"{}\"\n", int8() ? "NHWC" : "NCHW");
}

void Operators::input() {
  if (!int8()) return;
  queries_.push_back(
      {"NCHW2NHWC", {}, {{tensor_.batch, tensor_.channels, tensor_.size, tensor_.size}}, {kFloat}});
  queries_.push_back({"Int8Quantize", {}, {shape()}, {kFloat}});
}

void Operators::conv(const Convolution& how) {
  ir::LutQuery query;
  query.op_type = !int8() ? "Conv" : how.relu ? "Int8ConvRelu" : "Int8Conv";
  const std::int64_t pad = how.kernel / 2;
  if (how.group > 1) query.op_args.push_back(integer("group", how.group));
  query.op_args.push_back(integer("kernel", how.kernel));
  query.op_args.push_back(order());
  query.op_args.push_back(integer("pad", pad));
  query.op_args.push_back(integer("stride", how.stride));
  const std::int64_t in = tensor_.channels / how.group;
  const std::int64_t k = how.kernel;
  if (int8()) {
    query.input_shapes = {shape(), {how.channels, k, k, in}, {how.channels}};
    query.input_dtypes = {kUint8, kUint8, kInt32};
  } else {
    query.input_shapes = {shape(), {how.channels, in, k, k}, {how.channels}};
    query.input_dtypes = {kFloat, kFloat, kFloat};
  }
  queries_.push_back(std::move(query));
  tensor_.channels = how.channels;
  tensor_.size = slid(tensor_.size, k, pad, how.stride);
  if (!int8() && how.relu) queries_.push_back({"Relu", {order()}, {shape()}, {kFloat}});
}

void Operators::channel_shuffle(std::int64_t group) {
  queries_.push_back({int8() ? "Int8ChannelShuffle" : "ChannelShuffle",
                      {integer("group", group), order()},
                      {shape()},
                      {int8() ? kUint8 : kFloat}});
}

void Operators::sum() {
  const int dtype = int8() ? kUint8 : kFloat;
  queries_.push_back({int8() ? "Int8Sum" : "Sum", {order()}, {shape(), shape()}, {dtype, dtype}});
}

void Operators::average_pool(std::int64_t kernel, std::int64_t stride) {
  const std::vector<std::string> args = {integer("kernel", kernel), order(),
                                         integer("stride", stride)};
  queries_.push_back(
      {int8() ? "Int8AveragePool" : "AveragePool", args, {shape()}, {int8() ? kUint8 : kFloat}});
  tensor_.size = slid(tensor_.size, kernel, 0, stride);
}

void Operators::fully_connected(std::int64_t channels) {
  const std::int64_t in =
      tensor_.flat ? tensor_.channels : tensor_.channels * tensor_.size * tensor_.size;
  ir::LutQuery query;
  query.op_type = int8() ? "Int8FC" : "FC";
  query.op_args = {order()};
  query.input_shapes = {shape(), {channels, in}, {channels}};
  query.input_dtypes =
      int8() ? std::vector<int>{kUint8, kUint8, kInt32} : std::vector<int>{kFloat, kFloat, kFloat};
  queries_.push_back(std::move(query));
  tensor_ = {tensor_.batch, channels, 1, true};
}

void Operators::output() {
  queries_.push_back(
      {int8() ? "Int8Softmax" : "Softmax", {order()}, {shape()}, {int8() ? kUint8 : kFloat}});
  if (int8()) queries_.push_back({"Int8Dequantize", {}, {shape()}, {kUint8}});
}

}  // namespace oplat::search
