// SPDX-License-Identifier: Apache-2.0
/// Implausible rows: impossible sizes, bounds that the best rows set, rows of unknown batch
/// against the others.
#include "estimate/sanity.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "compat/paddleslim/key.hpp"
#include "compat/registry.hpp"

namespace oplat::estimate {
namespace {

using testing::HasSubstr;

std::string key_of(std::string_view text) {
  return ir::print(compat::paddleslim::paddle_key_of(text));
}
std::string conv(std::int64_t batch, std::int64_t in, std::int64_t out, std::int64_t size) {
  return key_of(
      fmt::format("conv2d in=({0}, {1}, {3}, {3}) weight=({2}, {1}, 1, 1) out=({0}, {2}, {3}, {3}) "
                  "pad=0 stride=1 group=1 dilation=1 "
                  "quant=None bit_length=None",
                  batch, in, out, size));
}
std::string swish(std::int64_t batch, std::int64_t channels, std::int64_t size) {
  return key_of(
      fmt::format("swish in=({0}, {1}, {2}, {2}) out=({0}, {1}, {2}, {2})", batch, channels, size));
}

/// Convolutions at 10 GFLOP/s.
class Rows {
 public:
  Rows() {
    for (std::int64_t out = 1; out <= 40; ++out)
      add(conv(1, 32, 8 * out, 14), 2.0 * 32 * 8 * static_cast<double>(out) * 14 * 14 / 10);
  }
  std::size_t add(std::string key, double ns) {
    samples_.push_back({std::move(key), std::log(ns)});
    return samples_.size() - 1;
  }
  [[nodiscard]] Sanity check(const SanityRequest& request = {}) const {
    std::vector<CheckedRow> rows;
    for (const Sample& sample : samples_) rows.push_back({sample.key, std::exp(sample.log_ns)});
    return check_rows(rows, compat::catalogue(), request);
  }
  [[nodiscard]] const std::vector<Sample>& samples() const { return samples_; }

 private:
  std::vector<Sample> samples_;
};

const SuspectRow* find(const Sanity& sanity, std::size_t row) {
  for (const SuspectRow& suspect : sanity.suspects) {
    if (suspect.row == row) return &suspect;
  }
  return nullptr;
}

TEST(Sanity, RowsThatAgreeHaveNoFault) {
  const Sanity sanity = Rows().check();
  EXPECT_TRUE(sanity.suspects.empty());
  EXPECT_EQ(sanity.examined, 40U);
  EXPECT_NEAR(sanity.flops_per_ns.value(), 15, 1e-6);
}

TEST(Sanity, TooFastIsBeyondTheBestRowsByHalf) {
  Rows rows;
  const double ns = 2.0 * 64 * 64 * 28 * 28 / 10;
  const std::size_t fast = rows.add(conv(-1, 64, 64, 28), ns / 1.6);
  const std::size_t fair = rows.add(conv(-1, 64, 64, 27), ns / 1.3);
  const Sanity sanity = rows.check();
  ASSERT_NE(find(sanity, fast), nullptr);
  EXPECT_EQ(find(sanity, fast)->fault, Fault::TooFast);
  EXPECT_THAT(find(sanity, fast)->reason, HasSubstr("16 GFLOP/s; the limit is 15"));
  EXPECT_EQ(find(sanity, fair), nullptr);
  SanityRequest request;
  request.peak_flops_per_ns = 100;
  EXPECT_TRUE(rows.check(request).suspects.empty());
}

TEST(Sanity, AnOperatorThatPicksMovesWhatItPicks) {
  Rows rows;
  // One of 197 lines: all of them would be 600 KB in 308 ns.
  const std::size_t row = rows.add("Gather/13{axis=1}(f32[1,197,192],i64c[]=0)->(f32[1,192])", 308);
  EXPECT_EQ(find(rows.check({std::nullopt, 60}), row), nullptr);
}

TEST(Sanity, WeightsThatMeetOnlyPaddingAreNotMoved) {
  const char* const key =
      "com.microsoft.nchwc:Conv/1@block=16{dilations=[1,1],group=1,kernel_shape=[3,3],"
      "pads=[1,1,1,1],strides=[1,1]}(f32[1,128,1,1],f32c[64,128,3,3],f32c[64])->(f32[1,64,1,1])";
  const char* const triangle = "Trilu/14{upper=0}(f32[240,240])->(f32[240,240])";
  SanityRequest limits;
  limits.peak_bytes_per_ns = 400;
  // 294,912 bytes of weights, of which one place in nine is used; 230,400 bytes are written.
  for (const CheckedRow& row : {CheckedRow{key, 456}, CheckedRow{triangle, 1020}})
    EXPECT_TRUE(check_rows({&row, 1}, compat::catalogue(), limits).suspects.empty()) << row.key;
  for (const CheckedRow& row : {CheckedRow{key, 50}, CheckedRow{triangle, 500}})
    EXPECT_EQ(check_rows({&row, 1}, compat::catalogue(), limits).suspects.size(), 1U) << row.key;
}

TEST(Sanity, WinogradMayBeFiveTimesAsFast) {
  Rows rows;
  const auto window = [](std::int64_t stride, std::int64_t out) {
    return key_of(
        fmt::format("conv2d in=(1, 32, 28, 28) weight=(32, 32, 3, 3) out=(1, 32, {1}, {1}) pad=1 "
                    "stride={0} group=1 dilation=1 quant=None "
                    "bit_length=None",
                    stride, out));
  };
  const std::size_t winograd = rows.add(window(1, 28), 2.0 * 32 * 32 * 9 * 28 * 28 / 40);
  const std::size_t strided = rows.add(window(2, 14), 2.0 * 32 * 32 * 9 * 14 * 14 / 40);
  const Sanity sanity = rows.check();
  EXPECT_EQ(find(sanity, winograd), nullptr);
  EXPECT_NE(find(sanity, strided), nullptr);
}

TEST(Sanity, OfTwinsTheOneThatDoesNotSayItsBatchIsInDoubt) {
  Rows rows;
  const std::size_t known = rows.add(swish(1, 32, 56), 1e6);
  const std::size_t off = rows.add(swish(-1, 32, 56), 2.1e6);
  rows.add(swish(1, 16, 56), 5e5);
  const std::size_t near = rows.add(swish(-1, 16, 56), 9e5);
  const Sanity sanity = rows.check();
  EXPECT_EQ(find(sanity, known), nullptr);
  ASSERT_NE(find(sanity, off), nullptr);
  EXPECT_EQ(find(sanity, off)->fault, Fault::Twin);
  EXPECT_EQ(find(sanity, near), nullptr);
}

TEST(Sanity, TheRowThatDisagreesWithMostIsInDoubt) {
  Rows rows;
  for (std::int64_t channels = 1; channels <= 10; ++channels)
    rows.add(swish(-1, channels, 56), 1e5 * static_cast<double>(channels));
  const std::size_t slow = rows.add(swish(-1, 2, 28), 4e6);
  const std::size_t fast = rows.add(swish(-1, 20, 56), 5e3);
  const Sanity sanity = rows.check();
  ASSERT_NE(find(sanity, slow), nullptr);
  EXPECT_EQ(find(sanity, slow)->fault, Fault::Order);
  ASSERT_NE(find(sanity, fast), nullptr);
  EXPECT_EQ(sanity.suspects.size(), 2U);
}

TEST(Sanity, SizesThatNoKernelHas) {
  Rows rows;
  const std::size_t channels =
      rows.add(key_of("conv2d in=(1, 32, 14, 14) weight=(8, 16, 1, 1) out=(1, 8, 14, 14) pad=0 "
                      "stride=1 group=1 dilation=1 "
                      "quant=None bit_length=None"),
               1e6);
  const std::size_t window = rows.add(key_of("conv2d in=(1, 32, 14, 14) weight=(8, 32, 3, 3) "
                                             "out=(1, 8, 28, 28) pad=1 stride=1 group=1 dilation=1 "
                                             "quant=None bit_length=None"),
                                      1e6);
  const std::size_t same = rows.add(key_of("relu in=(1, 8) out=(1, 9)"), 1e6);
  const std::size_t joined =
      rows.add(key_of("concat in=(1, 8, 4, 4)(1, 8, 4, 4) axis=1 out=(1, 17, 4, 4)"), 1e6);
  const std::size_t padded = rows.add(key_of("depthwise_conv2d in=(1, 32, 113, 113) weight=(32, 1, "
                                             "3, 3) out=(1, 32, 56, 56) pad=0 stride=2 group=32 "
                                             "dilation=1 quant=None bit_length=None"),
                                      1e7);
  const std::size_t absurd = rows.add(
      key_of("conv2d in=(1, 32, 14, 14) weight=(8, 32, 4611686018427387904, 3) out=(1, 8, 28, 28) "
             "pad=1 stride=1 "
             "group=4611686018427387904 dilation=4611686018427387904 quant=None bit_length=None"),
      1e6);
  const Sanity sanity = rows.check();
  const SuspectRow* const kept = find(sanity, absurd);
  EXPECT_TRUE(kept == nullptr || kept->fault != Fault::Sizes) << "whose products no 63 bits hold";
  for (const std::size_t row : {channels, window, same, joined}) {
    ASSERT_NE(find(sanity, row), nullptr) << row;
    EXPECT_EQ(find(sanity, row)->fault, Fault::Sizes);
  }
  EXPECT_EQ(find(sanity, padded), nullptr);
}

TEST(Sanity, RowsOfUnknownBatchStandInWhereNothingElseAnswers) {
  Rows rows;
  rows.add(swish(1, 32, 56), 1e6);
  rows.add(swish(-1, 32, 56), 1.1e6);  // superfluous
  rows.add(swish(-1, 64, 56), 2.1e6);  // wanted
  rows.add(swish(-1, 48, 56), 1.6e6);  // wanted
  rows.add(conv(-1, 32, 500, 14),
           2.0 * 32 * 500 * 14 * 14 / 10);  // of convolutions there are more of known batch
  rows.add(swish(-1, 32, 28), 3e6);         // slower than a larger one
  rows.add(key_of("scale in=(-1, -1, -1, -1) out=(-1, -1, -1, -1)"), 1e4);
  const std::vector<Sample> found = stand_ins(rows.samples(), compat::catalogue());
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found.front().key, swish(1, 64, 56));
  EXPECT_EQ(training_set(rows.samples(), true, compat::catalogue()).excluded, 1U);
}

TEST(Sanity, ARowThatIsSetAsideLeavesItsPlaceToAStandIn) {
  Rows rows;
  for (const std::int64_t channels : {32, 64, 96})
    rows.add(swish(-1, channels, 56), 33e3 * static_cast<double>(channels));
  rows.add(swish(1, 96, 56), 1);  // faster than any memory
  const std::string key = swish(1, 96, 56);
  const auto times = [&](bool exclude_suspects) {
    std::vector<double> ns;
    for (const Sample& sample :
         training_set(rows.samples(), exclude_suspects, compat::catalogue()).samples) {
      if (sample.key == key) ns.push_back(std::round(std::exp(sample.log_ns)));
    }
    return ns;
  };
  EXPECT_EQ(times(false), std::vector<double>{1})
      << "who does not ask for it gets every row as it is";
  EXPECT_EQ(times(true), std::vector<double>{33e3 * 96});
}

TEST(Sanity, ABatchThatIsNotKnownIsOne) {
  EXPECT_EQ(key_with_batch_one(swish(-1, 8, 4)), swish(1, 8, 4));
  EXPECT_EQ(key_with_batch_one(conv(-1, 8, 8, 4)), conv(1, 8, 8, 4));
  EXPECT_EQ(key_with_batch_one(swish(1, 8, 4)), std::nullopt);
  EXPECT_EQ(key_with_batch_one(key_of("scale in=(-1, -1, 3, 3) out=(-1, -1, 3, 3)")), std::nullopt);
  EXPECT_EQ(key_with_batch_one("no key ?"), std::nullopt);
}

TEST(Sanity, FewRowsSetNoBound) {
  const std::vector<std::string> keys = {conv(1, 8, 8, 4), swish(-1, 8, 4)};
  const std::vector<CheckedRow> rows = {{keys[0], 1e-3}, {keys[1], 1e-3}};
  const Sanity sanity = check_rows(rows, compat::catalogue());
  EXPECT_FALSE(sanity.flops_per_ns);
  EXPECT_FALSE(sanity.bytes_per_ns);
  EXPECT_TRUE(sanity.suspects.empty());
  EXPECT_TRUE(check_rows({}, compat::catalogue()).suspects.empty());
}

}  // namespace
}  // namespace oplat::estimate
