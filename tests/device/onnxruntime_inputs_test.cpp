// SPDX-License-Identifier: Apache-2.0
/// Sets of inputs that a session takes in turn.
#include <algorithm>
#include <cstring>

#include "device/runtime_fixture.hpp"
#include "formats/onnx.hpp"
#include "ir/key.hpp"
#include "runtimes/onnxruntime/inputs.hpp"
#include "runtimes/onnxruntime/library.hpp"

namespace oplat::device_test {
namespace {

using runtimes::onnxruntime::InputData;
using runtimes::onnxruntime::Session;

class VariedInputs : public OnnxRuntimeTest {
 protected:
  /// Loaded into this process once; nullptr where it cannot be.
  static const runtimes::onnxruntime::Api* api() {
    static const runtimes::onnxruntime::Api* const loaded = [] {
      const auto library = runtimes::onnxruntime::find_library();
      const auto api = library ? runtimes::onnxruntime::Api::load(*library) : nullptr;
      return api ? *api : nullptr;
    }();
    return loaded;
  }

  /// A session whose output is its input, converted; it has run once, on 0.
  void SetUp() override {
    OnnxRuntimeTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    const auto key = ir::parse("Cast/13{to=7}(f32[1])->(i64[1])");
    ASSERT_TRUE(key);
    formats::onnx::KernelModelOptions options;
    options.results_as_outputs = true;
    const auto kernel = formats::onnx::write_kernel_model(*key, options);
    ASSERT_TRUE(kernel) << kernel.error().message;
    name_ = kernel->inputs.front().name;
    ASSERT_NE(api(), nullptr);
    auto session = runtimes::onnxruntime::Session::create(*api(), kernel->bytes, {});
    ASSERT_TRUE(session) << session.error().error.message;
    session_ = std::move(*session);
    ASSERT_TRUE(session_->bind(inputs(0)));
    ASSERT_TRUE(session_->run());
  }

  /// A session of a sum of 1 MB, whose operands lie at `place`.
  std::unique_ptr<Session> sum_at(Session::Place place) {
    const auto key = ir::parse("Add/14{}(f32[262144],f32[262144])->(f32[262144])");
    const auto kernel = formats::onnx::write_kernel_model(*key, {});
    auto inputs = runtimes::onnxruntime::kernel_inputs(kernel->inputs, 1);
    auto session = Session::create(*api(), kernel->bytes, {});
    EXPECT_TRUE(inputs && session && (*session)->bind(*std::move(inputs), place));
    return session ? std::move(*session) : nullptr;
  }

  std::vector<InputData> inputs(float value) const {
    InputData input{name_, ir::Dtype::F32, {1}, std::string(sizeof value, '\0')};
    std::memcpy(input.bytes.data(), &value, sizeof value);
    return {input};
  }

  /// What the next runs give.
  std::vector<std::int64_t> next_runs(int count) {
    std::vector<std::int64_t> found;
    for (int i = 0; i < count; ++i) {
      EXPECT_TRUE(session_->run());
      const auto output = session_->first_output();
      EXPECT_TRUE(output && output->size() == 1);
      if (output && output->size() == 1) found.push_back(output->front());
    }
    return found;
  }

  std::unique_ptr<runtimes::onnxruntime::Session> session_;
  std::string name_;
};

using Values = std::vector<std::int64_t>;

TEST_F(VariedInputs, AreTakenInTurn) {
  float made = 0;
  const auto runs = vary_inputs(
      *session_, [&](std::uint64_t) { return inputs(++made); }, 1, 3);
  EXPECT_EQ(runs, 3U);
  EXPECT_EQ(next_runs(6), (Values{0, 1, 2, 3, 0, 1}));
}

TEST_F(VariedInputs, AreNotMadeWhereAllAreTheSame) {
  EXPECT_EQ(vary_inputs(
                *session_, [&](std::uint64_t) { return inputs(0); }, 1),
            0U);
  EXPECT_EQ(next_runs(2), (Values{0, 0}));
}

TEST_F(VariedInputs, EndBeforeThoseThatGiveAnotherResult) {
  float made = 0;
  const auto runs = vary_inputs(
      *session_, [&](std::uint64_t) { return inputs(++made); }, 1, 31,
      [&] { return session_->first_output()->front() < 3; });
  EXPECT_EQ(runs, 3U);
  EXPECT_EQ(next_runs(4), (Values{0, 1, 2, 0}));
}

TEST_F(VariedInputs, EndBeforeThoseThatTheModelRefuses) {
  // Of another type than the model's.
  const auto wrong = [&](std::uint64_t) {
    auto other = inputs(7);
    other.front().dtype = ir::Dtype::I32;
    return other;
  };
  EXPECT_EQ(vary_inputs(*session_, wrong, 1), 1U);
  EXPECT_EQ(next_runs(2), (Values{0, 0}));
  const auto none = [](std::uint64_t) {
    return Result<std::vector<InputData>>(fail(Code::Usage, "no data"));
  };
  EXPECT_EQ(vary_inputs(*session_, none, 1), 0U);
}

TEST_F(VariedInputs, KeepToTheirShareOfMemory) {
  // 1.5 MiB: two of them are within 4 MiB.
  const auto large = [&](float value) {
    auto one = inputs(value);
    one.front().dims = {393216};
    one.front().bytes.resize(std::size_t{393216} * sizeof(float));
    return one;
  };
  const auto key = ir::parse("Cast/13{to=7}(f32[393216])->(i64[393216])");
  const auto kernel = formats::onnx::write_kernel_model(*key, {});
  ASSERT_TRUE(kernel);
  auto session = runtimes::onnxruntime::Session::create(*api(), kernel->bytes, {});
  ASSERT_TRUE(session && (*session)->bind(large(0)) && (*session)->run());
  float made = 0;
  EXPECT_EQ(vary_inputs(
                **session, [&](std::uint64_t) { return large(++made); }, 1),
            1U);
}

// Loads of 64 bytes cross a line each where an operand does not begin at one: pools and strided
// depthwise convolutions took a third longer.
TEST_F(VariedInputs, OperandsOfKernelsBeginAtALineOfTheCache) {
  const auto session = sum_at(Session::Place::Runtimes);
  ASSERT_NE(session, nullptr);
  for (std::size_t i = 0; i < 2; ++i) {
    const auto place = session->address_of_input(i);
    ASSERT_TRUE(place) << place.error().message;
    EXPECT_EQ(*place % 64, 0U) << i;
  }
  EXPECT_TRUE(session->run());
  ASSERT_TRUE(session->first_output());
  EXPECT_EQ(session->first_output()->front(), 262144);
}

}  // namespace
}  // namespace oplat::device_test
