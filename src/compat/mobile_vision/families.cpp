// SPDX-License-Identifier: Apache-2.0
/// Caffe2's operators, int8 and fp32.
#include "compat/mobile_vision/families.hpp"

#include <fmt/format.h>

#include <string_view>

namespace oplat::compat::mobile_vision {
namespace {

using search::Convolution, search::Kernels, search::StandIn, search::Tensor;

// Of Caffe2's TensorProto.DataType.
constexpr int kFloat = 1;
constexpr int kInt32 = 2;
constexpr int kUint8 = 6;

std::string integer_argument(std::string_view name, std::int64_t value) {
  return fmt::format("name: \"{}\"\ni: {}\n", name, value);
}

class Caffe2Family final : public search::Family {
 public:
  explicit Caffe2Family(bool int8) : int8_(int8) {}

  std::string_view name() const override { return int8_ ? "caffe2-int8" : "caffe2-fp32"; }

  void input(const Tensor& in, Kernels& kernels) const override {
    if (!int8_) return;
    add(kernels, {"NCHW2NHWC", {}, {{in.batch, in.channels, in.size, in.size}}, {kFloat}});
    add(kernels, {"Int8Quantize", {}, {shape(in)}, {kFloat}});
  }

  void conv(const Tensor& in, const Convolution& how, Kernels& kernels) const override {
    formats::caffe2::LutQuery query;
    query.op_type = !int8_ ? "Conv" : how.relu ? "Int8ConvRelu" : "Int8Conv";
    if (how.group > 1) query.op_args.push_back(integer_argument("group", how.group));
    query.op_args.push_back(integer_argument("kernel", how.kernel));
    query.op_args.push_back(order());
    query.op_args.push_back(integer_argument("pad", how.kernel / 2));
    query.op_args.push_back(integer_argument("stride", how.stride));
    const std::int64_t inner = in.channels / how.group;
    const std::int64_t k = how.kernel;
    if (int8_) {
      query.input_shapes = {shape(in), {how.channels, k, k, inner}, {how.channels}};
      query.input_dtypes = {kUint8, kUint8, kInt32};
    } else {
      query.input_shapes = {shape(in), {how.channels, inner, k, k}, {how.channels}};
      query.input_dtypes = {kFloat, kFloat, kFloat};
    }
    add(kernels, query);
    if (int8_ || !how.relu) return;
    Tensor out = in;
    out.channels = how.channels;
    out.size = (in.size + 2 * (k / 2) - k) / how.stride + 1;
    add(kernels, {"Relu", {order()}, {shape(out)}, {kFloat}});
  }

  void channel_shuffle(const Tensor& in, std::int64_t group, Kernels& kernels) const override {
    add(kernels, {int8_ ? "Int8ChannelShuffle" : "ChannelShuffle",
                  {integer_argument("group", group), order()},
                  {shape(in)},
                  {dtype()}});
  }

  void sum(const Tensor& in, Kernels& kernels) const override {
    add(kernels,
        {int8_ ? "Int8Sum" : "Sum", {order()}, {shape(in), shape(in)}, {dtype(), dtype()}});
  }

  void average_pool(const Tensor& in, std::int64_t kernel, std::int64_t stride,
                    Kernels& kernels) const override {
    add(kernels, {int8_ ? "Int8AveragePool" : "AveragePool",
                  {integer_argument("kernel", kernel), order(), integer_argument("stride", stride)},
                  {shape(in)},
                  {dtype()}});
  }

  void fully_connected(const Tensor& in, std::int64_t channels, Kernels& kernels) const override {
    const std::int64_t inner = in.flat ? in.channels : in.channels * in.size * in.size;
    formats::caffe2::LutQuery query;
    query.op_type = int8_ ? "Int8FC" : "FC";
    query.op_args = {order()};
    query.input_shapes = {shape(in), {channels, inner}, {channels}};
    query.input_dtypes =
        int8_ ? std::vector<int>{kUint8, kUint8, kInt32} : std::vector<int>{kFloat, kFloat, kFloat};
    add(kernels, query);
  }

  void output(const Tensor& in, Kernels& kernels) const override {
    add(kernels, {int8_ ? "Int8Softmax" : "Softmax", {order()}, {shape(in)}, {dtype()}});
    if (int8_) add(kernels, {"Int8Dequantize", {}, {shape(in)}, {kUint8}});
  }

  /// Original look-up tables hold Int8ConvRelu only, whose rows answer for Int8Conv too: QNNPACK
  /// clamps in either case.
  std::optional<StandIn> stand_in(std::string_view key) const override {
    constexpr std::string_view kPlain = "caffe2:Int8Conv{";
    constexpr std::string_view kTwin = "caffe2:Int8ConvRelu{";
    if (!key.starts_with(kPlain)) return std::nullopt;
    return StandIn{std::string(kTwin).append(key.substr(kPlain.size())), "of Int8ConvRelu"};
  }

 private:
  static void add(Kernels& kernels, const formats::caffe2::LutQuery& query) {
    kernels.push_back(formats::caffe2::key_of(query));
  }
  [[nodiscard]] int dtype() const { return int8_ ? kUint8 : kFloat; }
  [[nodiscard]] std::vector<std::int64_t> shape(const Tensor& t) const {
    if (t.flat) return {t.batch, t.channels};
    if (int8_) return {t.batch, t.size, t.size, t.channels};
    return {t.batch, t.channels, t.size, t.size};
  }
  [[nodiscard]] std::string order() const {
    return fmt::format("name: \"order\"\ns: \"{}\"\n", int8_ ? "NHWC" : "NCHW");
  }

  bool int8_;
};

}  // namespace

const search::Family& int8_family() {
  static const Caffe2Family family(true);
  return family;
}

const search::Family& fp32_family() {
  static const Caffe2Family family(false);
  return family;
}

Result<formats::caffe2::LutQuery> query_of(const std::string& key) {
  OPLAT_TRY(parsed, ir::parse(key));
  auto query = formats::caffe2::lut_query_of(parsed);
  if (!query) return fail(Code::Internal, "no query for {}", key);
  return std::move(*query);
}

}  // namespace oplat::compat::mobile_vision
