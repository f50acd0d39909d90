// SPDX-License-Identifier: Apache-2.0
/// Seeded data: in range, without zeros and denormals, the same every time.
#include "formats/random_data.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

namespace oplat::formats {
namespace {

using ir::Dtype;

template <class T>
std::vector<T> numbers(const std::string& bytes) {
  std::vector<T> out(bytes.size() / sizeof(T));
  std::memcpy(out.data(), bytes.data(), out.size() * sizeof(T));
  return out;
}

/// A binary16 number, by its definition.
double half(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const double mantissa = (bits & 1023) / 1024.0;
  const double magnitude =
      exponent == 0 ? std::ldexp(mantissa, -14) : std::ldexp(1 + mantissa, exponent - 15);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

double bfloat(std::uint16_t bits) {
  const int exponent = bits >> 7 & 255;
  const double magnitude = std::ldexp(1 + (bits & 127) / 128.0, exponent - 127);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

template <class Values, class Decode>
void expect_in_range(const Values& values, double low, double high, Decode decode) {
  bool negative = false;
  bool positive = false;
  double least = high;
  double most = low;
  for (const auto value : values) {
    const double number = decode(value);
    ASSERT_GE(std::fabs(number), low);
    ASSERT_LE(std::fabs(number), high);
    (number < 0 ? negative : positive) = true;
    least = std::min(least, std::fabs(number));
    most = std::max(most, std::fabs(number));
  }
  EXPECT_TRUE(negative && positive);
  EXPECT_LT(least, low + (high - low) / 10);  // a thousand draws reach both ends
  EXPECT_GT(most, high - (high - low) / 10);
}

TEST(RandomData, FloatsLieInTheirRangeWithBothSigns) {
  const auto same = [](double x) { return x; };
  expect_in_range(numbers<float>(random_data(Dtype::F32, 1000, {}, 1)), 0.75, 1.25, same);
  expect_in_range(numbers<double>(random_data(Dtype::F64, 1000, {}, 1)), 0.75, 1.25, same);
  expect_in_range(numbers<float>(random_data(Dtype::F32, 1000, {.low = 0.01, .high = 0.02}, 1)),
                  0.0099, 0.0201, same);
}

TEST(RandomData, HalfFloatsDecodeToTheRange) {
  expect_in_range(numbers<std::uint16_t>(random_data(Dtype::F16, 1000, {}, 1)), 0.75, 1.25, half);
  expect_in_range(numbers<std::uint16_t>(random_data(Dtype::BF16, 1000, {}, 1)), 0.75, 1.25,
                  bfloat);
}

TEST(RandomData, AsWideARangeAsTheTypeHas) {
  for (const float value :
       numbers<float>(random_data(Dtype::F32, 1001, {-3e38, 3e38, false, 2, false}, 1)))
    ASSERT_LE(std::abs(value), 3e38F);
}

TEST(RandomData, OneSignOnRequest) {
  for (const float value : numbers<float>(random_data(Dtype::F32, 1000, {.both_signs = false}, 1)))
    ASSERT_GT(value, 0.0F);
}

TEST(RandomData, FewAreNegativeOnRequest) {
  const auto same = [](auto value) { return static_cast<double>(value); };
  const auto negative = [](const auto& values, auto convert) {
    const auto count =
        std::count_if(values.begin(), values.end(), [&](auto value) { return convert(value) < 0; });
    return static_cast<double>(count);
  };
  for (const auto& [signs, expected] :
       {std::pair(Signs::Any, 8000), std::pair(Signs::FewNegative, 3000)}) {
    const DataRange range = operand_range(signs);
    const std::string singles = random_data(Dtype::F32, 16000, range, 1);
    expect_in_range(numbers<float>(singles), 0.75, 1.25, same);
    EXPECT_NEAR(negative(numbers<float>(singles), same), expected, 300);
    EXPECT_NEAR(negative(numbers<double>(random_data(Dtype::F64, 16000, range, 1)), same), expected,
                300);
    EXPECT_NEAR(negative(numbers<std::uint16_t>(random_data(Dtype::F16, 16000, range, 1)), half),
                expected, 300);
  }
}

TEST(RandomData, IntegersLieBelowTheirLimit) {
  const DataRange range{.integer_limit = 7};
  std::vector<int> seen(7);
  for (const std::int64_t value : numbers<std::int64_t>(random_data(Dtype::I64, 1000, range, 1))) {
    ASSERT_GE(value, 0);
    ASSERT_LT(value, 7);
    ++seen[static_cast<std::size_t>(value)];
  }
  for (const int count : seen) EXPECT_GT(count, 0);
  for (const std::int32_t value : numbers<std::int32_t>(random_data(Dtype::I32, 1000, range, 1)))
    ASSERT_TRUE(value >= 0 && value < 7);
  for (const std::int16_t value : numbers<std::int16_t>(random_data(Dtype::I16, 1000, range, 1)))
    ASSERT_TRUE(value >= 0 && value < 7);
  for (const std::int64_t value :
       numbers<std::int64_t>(random_data(Dtype::I64, 100, {.integer_limit = 0}, 1)))
    ASSERT_EQ(value, 0);
}

TEST(RandomData, BytesUseTheirWholeRangeUnlessLimited) {
  int high = 0;
  for (const std::uint8_t value : numbers<std::uint8_t>(random_data(Dtype::U8, 1000, {}, 1)))
    high += value > 127 ? 1 : 0;
  EXPECT_GT(high, 400);
  EXPECT_LT(high, 600);
  const DataRange range{.integer_limit = 3, .limit_bytes = true};
  for (const std::uint8_t value : numbers<std::uint8_t>(random_data(Dtype::U8, 1000, range, 1)))
    ASSERT_LT(value, 3);
  for (const std::uint8_t value : numbers<std::uint8_t>(random_data(Dtype::Bool, 1000, {}, 1)))
    ASSERT_LE(value, 1);
}

TEST(RandomData, SmallFloatsAreNormalNumbers) {
  for (const Dtype dtype : {Dtype::F8E4M3FN, Dtype::F8E5M2}) {
    const int mantissa_bits = dtype == Dtype::F8E4M3FN ? 3 : 2;
    for (const std::uint8_t value : numbers<std::uint8_t>(random_data(dtype, 1000, {}, 1))) {
      const int exponent = (value & 0x7F) >> mantissa_bits;
      ASSERT_GT(exponent, 0);
      ASSERT_LT(exponent, (1 << (7 - mantissa_bits)) - 1);
    }
  }
  for (const std::uint8_t value : numbers<std::uint8_t>(random_data(Dtype::F4E2M1, 1000, {}, 1))) {
    // Two numbers of sign, two bits of exponent and one of mantissa; exponent 0 is zero or
    // denormal.
    ASSERT_NE(value & 0x06, 0);
    ASSERT_NE(value & 0x60, 0);
  }
}

TEST(RandomData, LengthIsThatOfTheType) {
  const std::vector<std::pair<Dtype, std::size_t>> sizes = {
      {Dtype::F64, 40},   {Dtype::F32, 20}, {Dtype::F16, 10},   {Dtype::BF16, 10},
      {Dtype::F8E5M2, 5}, {Dtype::I64, 40}, {Dtype::U32, 20},   {Dtype::U16, 10},
      {Dtype::I8, 5},     {Dtype::Bool, 5}, {Dtype::C64, 40},   {Dtype::C128, 80},
      {Dtype::I4, 3},     {Dtype::U4, 3},   {Dtype::F4E2M1, 3}, {Dtype::String, 10},
      {Dtype::Any, 0}};
  for (const auto& [dtype, size] : sizes) {
    EXPECT_EQ(random_data(dtype, 5, {}, 1).size(), size) << ir::name(dtype);
    EXPECT_EQ(random_data(dtype, 0, {}, 1).size(), 0U) << ir::name(dtype);
  }
  EXPECT_EQ(random_data(Dtype::I4, 6, {}, 1).size(), 3U);
}

TEST(RandomData, SeedsDecide) {
  for (const Dtype dtype :
       {Dtype::F32, Dtype::F16, Dtype::I8, Dtype::I4, Dtype::F8E4M3FN, Dtype::Bool}) {
    EXPECT_EQ(random_data(dtype, 100, {}, 5), random_data(dtype, 100, {}, 5)) << ir::name(dtype);
    EXPECT_NE(random_data(dtype, 100, {}, 5), random_data(dtype, 100, {}, 6)) << ir::name(dtype);
  }
}

// Pairs of a row of 2 and a column of 300: a table that is looked up in 600 places, not in one.
TEST(RandomData, TuplesHaveALimitForEachPlace) {
  ir::OperandFill fill;
  fill.highs = {1, 299};
  const auto tuples = numbers<std::int64_t>(filled_data(Dtype::I64, 2000, fill, {}, 1));
  ASSERT_EQ(tuples.size(), 2000U);
  std::int64_t most = 0;
  for (std::size_t i = 0; i < tuples.size(); i += 2) {
    EXPECT_TRUE(tuples[i] == 0 || tuples[i] == 1);
    EXPECT_TRUE(tuples[i + 1] >= 0 && tuples[i + 1] < 300);
    most = std::max(most, tuples[i + 1]);
  }
  EXPECT_GT(most, 270);
}

TEST(RandomData, CoordinatesReachAsFarAsTheyMay) {
  ir::OperandFill fill;
  fill.reach = 1;
  const auto places =
      numbers<float>(filled_data(Dtype::F32, 1000, fill, operand_range(Signs::Any), 1));
  expect_in_range(places, 0, 1, [](float value) { return static_cast<double>(value); });
}

}  // namespace
}  // namespace oplat::formats
