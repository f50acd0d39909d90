// SPDX-License-Identifier: Apache-2.0
/// QNNPACK's kernels against plain integer loops: what is timed computes what the key says.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "ir/key.hpp"
#include "runtimes/qnnpack/engine.hpp"
#include "runtimes/qnnpack/program.hpp"

namespace oplat::runtimes::qnnpack {
namespace {

constexpr std::uint64_t kSeed = 7;
using Bytes = std::vector<int>;

Spec spec_of(const std::string& text) {
  const auto key = ir::parse(text);
  EXPECT_TRUE(key) << text;
  auto read = read_spec(*key);
  if (auto* unsupported = std::get_if<table::Unsupported>(&read))
    ADD_FAILURE() << unsupported->reason;
  if (auto* failed = std::get_if<table::Failed>(&read)) ADD_FAILURE() << failed->reason;
  return std::get<Spec>(read);
}

Bytes bytes_of(const std::string& text) {
  Bytes bytes;
  for (const char c : text) bytes.push_back(static_cast<unsigned char>(c));
  return bytes;
}

/// One kernel of a key, run once.
class Kernel {
 public:
  explicit Kernel(const std::string& text)
      : spec(spec_of(text)), constants(make_constants(spec, kSeed)) {
    static const auto engine = start_engine();
    EXPECT_TRUE(engine) << engine.error().message;
    StepOptions step;
    step.constants = &constants;
    for (std::size_t i = 0; i < spec.inputs.size(); ++i)
      step.inputs.push_back(program_.add_input(spec.inputs[i], kSeed + i));
    const auto result = program_.add_step(spec, step);
    if (!result) {
      ADD_FAILURE() << result.error().message;
      return;
    }
    program_.finish(1);
    // Twice: the second run works with what the first one left packed.
    for (int run = 0; run < 2; ++run) {
      program_.release();
      const auto status = program_.run();
      EXPECT_TRUE(status) << status.error().message;
    }
    for (const Slot slot : step.inputs) inputs.push_back(program_.bytes(slot));
    output = program_.bytes(*result);
  }

  Spec spec;
  Constants constants;
  std::vector<std::string> inputs;
  std::string output;

 private:
  Program program_;
};

/// What a sum in units of kScale * `scale` is as a byte.
int quantised(double sum, double scale, bool relu) {
  const double byte = std::nearbyint(sum * scale) + static_cast<double>(kZeroPoint);
  return static_cast<int>(std::clamp(byte, relu ? static_cast<double>(kZeroPoint) : 0.0, 255.0));
}

void expect_near(const Bytes& expected, const std::string& found) {
  const Bytes bytes = bytes_of(found);
  ASSERT_EQ(expected.size(), bytes.size());
  int off = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    ASSERT_LE(std::abs(expected[i] - bytes[i]), 1) << "element " << i << " of " << bytes.size();
    off += expected[i] != bytes[i] ? 1 : 0;
  }
  // Halves are rounded in another way here and there, no more.
  EXPECT_LE(off, static_cast<int>(bytes.size() / 20 + 1));
  // A kernel that gives the same everywhere would pass where the loops do too.
  EXPECT_NE(*std::min_element(bytes.begin(), bytes.end()),
            *std::max_element(bytes.begin(), bytes.end()));
}

Bytes conv_loops(const Kernel& kernel) {
  const Spec& spec = kernel.spec;
  const Bytes x = bytes_of(kernel.inputs[0]);
  const Dims& in = spec.inputs[0].dims;
  const Dims& w = spec.filter;
  const Dims& out = spec.result.dims;
  Bytes y;
  for (std::int64_t n = 0; n < out[0]; ++n)
    for (std::int64_t oh = 0; oh < out[1]; ++oh)
      for (std::int64_t ow = 0; ow < out[2]; ++ow)
        for (std::int64_t o = 0; o < w[0]; ++o) {
          std::int64_t sum = kernel.constants.bias[static_cast<std::size_t>(o)];
          const std::int64_t first = o / (w[0] / spec.group) * w[3];  // input channel of the group
          for (std::int64_t kh = 0; kh < w[1]; ++kh)
            for (std::int64_t kw = 0; kw < w[2]; ++kw) {
              const std::int64_t h =
                  oh * spec.window.strides[0] + kh * spec.window.dilations[0] - spec.window.pads[0];
              const std::int64_t v =
                  ow * spec.window.strides[1] + kw * spec.window.dilations[1] - spec.window.pads[1];
              if (h < 0 || h >= in[1] || v < 0 || v >= in[2]) continue;
              for (std::int64_t c = 0; c < w[3]; ++c) {
                const auto at =
                    static_cast<std::size_t>(((n * in[1] + h) * in[2] + v) * in[3] + first + c);
                const auto weight =
                    static_cast<std::size_t>(((o * w[1] + kh) * w[2] + kw) * w[3] + c);
                sum += std::int64_t{x[at] - static_cast<int>(kZeroPoint)} *
                       kernel.constants.filter[weight];
              }
            }
          y.push_back(
              quantised(static_cast<double>(sum), kernel.constants.filter_scale, spec.relu));
        }
  return y;
}

class ConvTest : public ::testing::TestWithParam<const char*> {};

TEST_P(ConvTest, EqualsPlainLoops) {
  const Kernel kernel(GetParam());
  expect_near(conv_loops(kernel), kernel.output);
}

INSTANTIATE_TEST_SUITE_P(
    QnnpackKernels, ConvTest,
    ::testing::Values("caffe2:Int8Conv{dilations=[1,1],group=1,kernels=[3,3],order=NHWC,pads=[1,1,"
                      "1,1],strides=[1,1]}("
                      "u8[1,9,11,6],u8c[10,3,3,6],i32c[10])->(u8[1,9,11,10])",
                      "caffe2:Int8ConvRelu{dilations=[1,1],group=1,kernels=[1,1],order=NHWC,pads=["
                      "0,0,0,0],strides=[1,"
                      "1]}(u8[2,5,7,16],u8c[12,1,1,16],i32c[12])->(u8[2,5,7,12])",
                      "caffe2:Int8Conv{dilations=[1,1],group=1,kernels=[1,1],order=NHWC,pads=[0,0,"
                      "0,0],strides=[2,2]}("
                      "u8[1,8,8,8],u8c[16,1,1,8],i32c[16])->(u8[1,4,4,16])",
                      "caffe2:Int8ConvRelu{dilations=[1,1],group=4,kernels=[3,3],order=NHWC,pads=["
                      "1,1,1,1],strides=[2,"
                      "2]}(u8[1,10,10,16],u8c[24,3,3,4],i32c[24])->(u8[1,5,5,24])",
                      "caffe2:Int8Conv{dilations=[1,1],group=24,kernels=[3,3],order=NHWC,pads=[1,1,"
                      "1,1],strides=[1,1]}("
                      "u8[1,7,6,24],u8c[24,3,3,1],i32c[24])->(u8[1,7,6,24])",
                      "caffe2:Int8ConvRelu{dilations=[1,1],group=16,kernels=[5,5],order=NHWC,pads=["
                      "2,2,2,2],strides=[2,"
                      "2]}(u8[1,12,12,16],u8c[16,5,5,1],i32c[16])->(u8[1,6,6,16])",
                      "caffe2:Int8Conv{dilations=[1,1],group=1,kernels=[1,7],order=NHWC,pads=[0,3,"
                      "0,3],strides=[1,2]}("
                      "u8[1,4,16,5],u8c[6,1,7,5],i32c[6])->(u8[1,4,8,6])",
                      "caffe2:Int8Conv{dilations=[2,2],group=1,kernels=[3,3],order=NHWC,pads=[2,2,"
                      "2,2],strides=[1,1]}("
                      "u8[1,8,8,4],u8c[8,3,3,4],i32c[8])->(u8[1,8,8,8])"));

TEST(QnnpackKernels, FullyConnectedEqualsPlainLoops) {
  for (const char* shape : {"u8[3,40]", "u8[3,2,2,10]"}) {
    const Kernel kernel(
        fmt::format("caffe2:Int8FC{{order=NHWC}}({},u8c[17,40],i32c[17])->(u8[3,17])", shape));
    const Bytes x = bytes_of(kernel.inputs[0]);
    Bytes expected;
    for (std::size_t row = 0; row < 3; ++row)
      for (std::size_t o = 0; o < 17; ++o) {
        std::int64_t sum = kernel.constants.bias[o];
        for (std::size_t i = 0; i < 40; ++i)
          sum += std::int64_t{x[row * 40 + i] - static_cast<int>(kZeroPoint)} *
                 kernel.constants.filter[o * 40 + i];
        expected.push_back(
            quantised(static_cast<double>(sum), kernel.constants.filter_scale, false));
      }
    expect_near(expected, kernel.output);
  }
}

TEST(QnnpackKernels, SumEqualsPlainLoops) {
  for (const bool relu : {false, true}) {
    const Kernel kernel(
        fmt::format("caffe2:Int8Sum{}{{order=NHWC}}(u8[1,6,5,20],u8[1,6,5,20])->(u8[1,6,5,20])",
                    relu ? "Relu" : ""));
    const Bytes a = bytes_of(kernel.inputs[0]);
    const Bytes b = bytes_of(kernel.inputs[1]);
    Bytes expected;
    for (std::size_t i = 0; i < a.size(); ++i)
      expected.push_back(quantised(a[i] + b[i] - 2.0 * static_cast<double>(kZeroPoint), 1, relu));
    expect_near(expected, kernel.output);
  }
}

/// Mean or maximum of what each window holds; padding counts as zero in a mean, as QNNPACK has it.
Bytes pool_loops(const Kernel& kernel, bool mean) {
  const Spec& spec = kernel.spec;
  const Bytes x = bytes_of(kernel.inputs[0]);
  const Dims& in = spec.inputs[0].dims;
  const Dims& out = spec.result.dims;
  Bytes y;
  for (std::int64_t place = 0; place < out[0] * out[1] * out[2]; ++place)
    for (std::int64_t c = 0; c < out[3]; ++c) {
      const std::int64_t n = place / (out[1] * out[2]);
      const std::int64_t oh = place / out[2] % out[1];
      const std::int64_t ow = place % out[2];
      int sum = 0;
      int most = 0;
      for (std::int64_t kh = 0; kh < spec.window.kernel[0]; ++kh)
        for (std::int64_t kw = 0; kw < spec.window.kernel[1]; ++kw) {
          const std::int64_t h = oh * spec.window.strides[0] + kh - spec.window.pads[0];
          const std::int64_t v = ow * spec.window.strides[1] + kw - spec.window.pads[1];
          if (h < 0 || h >= in[1] || v < 0 || v >= in[2]) continue;
          const int value = x[static_cast<std::size_t>(((n * in[1] + h) * in[2] + v) * in[3] + c)];
          sum += value - static_cast<int>(kZeroPoint);
          most = std::max(most, value);
        }
      y.push_back(
          mean ? quantised(sum,
                           1.0 / static_cast<double>(spec.window.kernel[0] * spec.window.kernel[1]),
                           false)
               : most);
    }
  return y;
}

TEST(QnnpackKernels, PoolsEqualPlainLoops) {
  for (const char* key : {"caffe2:Int8AveragePool{kernels=[3,3],order=NHWC,pads=[1,1,1,1],strides=["
                          "2,2]}(u8[1,9,9,12])->(u8[1,5,5,12])",
                          "caffe2:Int8AveragePool{kernels=[7,7],order=NHWC,pads=[0,0,0,0],strides=["
                          "1,1]}(u8[1,7,7,30])->(u8[1,1,1,30])",
                          "caffe2:Int8AveragePool{kernels=[4,6],order=NHWC,pads=[0,0,0,0],strides=["
                          "1,1]}(u8[2,4,6,40])->(u8[2,1,1,40]"
                          ")"}) {
    const Kernel kernel(key);
    expect_near(pool_loops(kernel, true), kernel.output);
  }
  const Kernel kernel(
      "caffe2:Int8MaxPool{kernels=[3,3],order=NHWC,pads=[1,1,1,1],strides=[2,2]}(u8[1,9,9,12])->("
      "u8[1,5,5,12])");
  expect_near(pool_loops(kernel, false), kernel.output);
}

TEST(QnnpackKernels, ChannelShuffleTransposesGroups) {
  const Kernel kernel(
      "caffe2:Int8ChannelShuffle{group=3,order=NHWC}(u8[1,4,5,12])->(u8[1,4,5,12])");
  const Bytes x = bytes_of(kernel.inputs[0]);
  Bytes expected(x.size());
  for (std::size_t pixel = 0; pixel < 20; ++pixel)
    for (std::size_t g = 0; g < 3; ++g)
      for (std::size_t c = 0; c < 4; ++c)
        expected[pixel * 12 + c * 3 + g] = x[pixel * 12 + g * 4 + c];
  EXPECT_EQ(bytes_of(kernel.output), expected);
}

TEST(QnnpackKernels, SoftmaxSumsUpToOne) {
  // An image of one point is the same vector.
  for (const char* key : {"caffe2:Int8Softmax{order=NHWC}(u8[1,10])->(u8[1,10])",
                          "caffe2:Int8Softmax{axis=1,order=NHWC}(u8[1,1,1,10])->(u8[1,1,1,10])"}) {
    SCOPED_TRACE(key);
    const Kernel kernel(key);
    const Bytes x = bytes_of(kernel.inputs[0]);
    double sum = 0;
    for (const int byte : x) sum += std::exp(byte * kScale);
    Bytes expected;
    for (const int byte : x)
      expected.push_back(static_cast<int>(
          std::min(255.0, std::nearbyint(std::exp(byte * kScale) / sum / kSoftmaxScale))));
    expect_near(expected, kernel.output);
  }
}

TEST(QnnpackKernels, ReluClampsAtZero) {
  const Kernel kernel("caffe2:Int8Relu{order=NHWC}(u8[1,3,4,9])->(u8[1,3,4,9])");
  Bytes expected = bytes_of(kernel.inputs[0]);
  for (int& byte : expected) byte = std::max(byte, static_cast<int>(kZeroPoint));
  EXPECT_EQ(bytes_of(kernel.output), expected);
}

TEST(QnnpackKernels, ConcatAlongTheChannelsOfTheKey) {
  const Kernel kernel(
      "caffe2:Int8Concat{axis=3,order=NHWC}(u8[1,2,3,4],u8[1,2,3,5])->(u8[1,2,3,9])");
  const Bytes a = bytes_of(kernel.inputs[0]);
  const Bytes b = bytes_of(kernel.inputs[1]);
  Bytes expected;
  for (std::ptrdiff_t pixel = 0; pixel < 6; ++pixel) {
    expected.insert(expected.end(), a.begin() + pixel * 4, a.begin() + (pixel + 1) * 4);
    expected.insert(expected.end(), b.begin() + pixel * 5, b.begin() + (pixel + 1) * 5);
  }
  EXPECT_EQ(bytes_of(kernel.output), expected);
}

TEST(QnnpackKernels, LayoutsAndReshapesKeepTheElements) {
  const Kernel there("caffe2:NCHW2NHWC{}(f32[1,3,4,5])->(f32[1,4,5,3])");
  const Kernel back("caffe2:NHWC2NCHW{}(f32[1,4,5,3])->(f32[1,3,4,5])");
  const auto element = [](const std::string& bytes, std::size_t i) {
    float value = 0;
    std::memcpy(&value, bytes.data() + i * sizeof value, sizeof value);
    return value;
  };
  ASSERT_EQ(there.output.size(), 60 * sizeof(float));
  ASSERT_EQ(back.output.size(), 60 * sizeof(float));
  for (std::size_t pixel = 0; pixel < 20; ++pixel)
    for (std::size_t c = 0; c < 3; ++c) {
      EXPECT_EQ(element(there.output, pixel * 3 + c), element(there.inputs[0], c * 20 + pixel));
      EXPECT_EQ(element(back.output, c * 20 + pixel), element(back.inputs[0], pixel * 3 + c));
    }
  const Kernel flat("caffe2:Int8Flatten{}(u8[2,3,4,5])->(u8[2,60])");
  EXPECT_EQ(flat.output, flat.inputs[0]);
}

TEST(QnnpackKernels, QuantiseAndDequantiseAreInverse) {
  const Kernel quantise("caffe2:Int8Quantize{}(f32[1,3,4,5])->(u8[1,3,4,5])");
  const Bytes found = bytes_of(quantise.output);
  for (std::size_t i = 0; i < found.size(); ++i) {
    float value = 0;
    std::memcpy(&value, quantise.inputs[0].data() + i * sizeof value, sizeof value);
    EXPECT_NEAR(found[i], value / kScale + static_cast<double>(kZeroPoint), 0.51);
  }
  const Kernel dequantise("caffe2:Int8Dequantize{}(u8[1,3,4,5])->(f32[1,3,4,5])");
  const Bytes x = bytes_of(dequantise.inputs[0]);
  for (std::size_t i = 0; i < x.size(); ++i) {
    float value = 0;
    std::memcpy(&value, dequantise.output.data() + i * sizeof value, sizeof value);
    EXPECT_FLOAT_EQ(value, static_cast<float>((x[i] - static_cast<int>(kZeroPoint)) * kScale));
  }
}

}  // namespace
}  // namespace oplat::runtimes::qnnpack
