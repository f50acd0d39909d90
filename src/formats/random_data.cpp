// SPDX-License-Identifier: Apache-2.0
/// Seeded data.
#include "formats/random_data.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include "base/random.hpp"

namespace oplat::formats {
namespace {

std::uint16_t half_bits(float value) {
  // Only normal values of moderate size come here (DataRange), so no rounding to denormals or
  // infinity is needed.
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = bits >> 31U << 15U;
  const std::int32_t exponent = static_cast<std::int32_t>(bits >> 23U & 0xFFU) - 127 + 15;
  const auto clamped = static_cast<std::uint32_t>(std::clamp(exponent, 1, 30));
  return static_cast<std::uint16_t>(sign | clamped << 10U | (bits >> 13U & 0x3FFU));
}

template <class T, class Make>
void fill(std::string& out, std::int64_t count, Make make) {
  out.resize(static_cast<std::size_t>(count) * sizeof(T));
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    const T value = make();
    std::memcpy(out.data() + i * sizeof(T), &value, sizeof(T));
  }
}

/// Likewise, several of one draw of 64 bits: data of many copies of a kernel are large.
template <class T, class Make>
void fill_by_draws(std::string& out, std::int64_t count, base::Random& random, Make make) {
  constexpr std::size_t kOfDraw = sizeof(std::uint64_t) / sizeof(T);
  constexpr unsigned kBits = 8 * sizeof(T);
  const auto n = static_cast<std::size_t>(count);
  out.resize(n * sizeof(T));
  for (std::size_t i = 0; i < n; i += kOfDraw) {
    const std::uint64_t bits = random.next();
    std::array<T, kOfDraw> values;
    for (std::size_t k = 0; k < kOfDraw; ++k) values[k] = make(bits >> (k * kBits));
    std::memcpy(out.data() + i * sizeof(T), values.data(), std::min(kOfDraw, n - i) * sizeof(T));
  }
}

template <class T>
void append_as(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

/// A number clamped to what T holds: a conversion out of range is undefined.
template <class T>
T clamped(double value) {
  constexpr auto kLow = static_cast<double>(std::numeric_limits<T>::lowest());
  constexpr auto kHigh = static_cast<double>(std::numeric_limits<T>::max());
  if (!(value > kLow)) return std::numeric_limits<T>::lowest();
  if (value >= kHigh) return std::numeric_limits<T>::max();
  return static_cast<T>(value);
}

/// Zero has no exponent that half_bits() could clamp.
std::uint16_t half_of(double value) {
  return value == 0 ? std::uint16_t{0} : half_bits(static_cast<float>(value));
}

/// Whether a number of this type can be written; sub-byte types and those of 8-bit floats cannot.
bool append_number_as(std::string& out, ir::Dtype dtype, double value) {
  using ir::Dtype;
  switch (dtype) {
    case Dtype::F32:
      append_as(out, static_cast<float>(value));
      return true;
    case Dtype::F64:
      append_as(out, value);
      return true;
    case Dtype::F16:
      append_as(out, half_of(value));
      return true;
    case Dtype::BF16:
      append_as(out, static_cast<std::uint16_t>(
                         std::bit_cast<std::uint32_t>(static_cast<float>(value)) >> 16U));
      return true;
    case Dtype::I64:
      append_as(out, clamped<std::int64_t>(value));
      return true;
    case Dtype::U64:
      append_as(out, clamped<std::uint64_t>(value));
      return true;
    case Dtype::I32:
      append_as(out, clamped<std::int32_t>(value));
      return true;
    case Dtype::U32:
      append_as(out, clamped<std::uint32_t>(value));
      return true;
    case Dtype::I16:
      append_as(out, clamped<std::int16_t>(value));
      return true;
    case Dtype::U16:
      append_as(out, clamped<std::uint16_t>(value));
      return true;
    case Dtype::I8:
      append_as(out, clamped<std::int8_t>(value));
      return true;
    case Dtype::U8:
      append_as(out, clamped<std::uint8_t>(value));
      return true;
    case Dtype::Bool:
      append_as(out, static_cast<std::uint8_t>(value != 0));
      return true;
    default:
      return false;
  }
}

/// Positions 0 to count - 1 in a random order that the seed fixes.
std::vector<std::uint32_t> shuffled(std::int64_t count, base::Random& random) {
  std::vector<std::uint32_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), std::uint32_t{0});
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.next() % i]);
  return order;
}

bool all_zero(const std::string& bytes, std::size_t at, std::size_t width) {
  return std::all_of(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                     bytes.begin() + static_cast<std::ptrdiff_t>(at + width),
                     [](char c) { return c == 0; });
}

/// Random numbers none of which is zero, then zeros at random places.
std::string with_zeros(ir::Dtype dtype, std::int64_t count, std::int64_t nonzero,
                       const DataRange& range, std::uint64_t seed) {
  std::string out = random_data(dtype, count, range, seed);
  if (count <= 0 || out.empty() || out.size() % static_cast<std::size_t>(count) != 0) return out;
  const std::size_t width = out.size() / static_cast<std::size_t>(count);
  for (std::size_t at = 0; at < out.size(); at += width)
    if (all_zero(out, at, width)) out[at] = 1;
  base::Random random(seed + 1);
  if (ir::Dtype::Bool == dtype) std::fill(out.begin(), out.end(), '\x01');
  const std::vector<std::uint32_t> order = shuffled(count, random);
  for (std::size_t i = static_cast<std::size_t>(std::max<std::int64_t>(0, nonzero));
       i < order.size(); ++i)
    std::fill_n(out.begin() + static_cast<std::ptrdiff_t>(order[i] * width), width, '\0');
  return out;
}

/// `distinct` different numbers, each as often as the others, in random order.
std::string with_repeats(ir::Dtype dtype, std::int64_t count, std::int64_t distinct,
                         std::uint64_t seed) {
  std::string out;
  base::Random random(seed);
  const std::vector<std::uint32_t> order = shuffled(count, random);
  for (const std::uint32_t i : order) {
    const auto number =
        static_cast<double>(static_cast<std::int64_t>(i) % std::max<std::int64_t>(1, distinct));
    if (!append_number_as(out, dtype, number)) return random_data(dtype, count, {}, seed);
  }
  return out;
}

}  // namespace

std::string filled_data(ir::Dtype dtype, std::int64_t count, const ir::OperandFill& fill,
                        const DataRange& range, std::uint64_t seed) {
  constexpr std::int64_t kMaxShuffled = std::int64_t{1} << 31;
  if (count <= 0) return {};
  if (fill.nonzero && count < kMaxShuffled)
    return with_zeros(dtype, count, *fill.nonzero, range, seed);
  if (fill.distinct && count < kMaxShuffled)
    return with_repeats(dtype, count, *fill.distinct, seed);
  if (fill.values.empty() && ir::is_float(dtype)) {
    DataRange reals = range;
    if (fill.reach) {
      reals.low = 0;
      reals.high = *fill.reach;
      reals.both_signs = true;
    }
    return random_data(dtype, count, reals, seed);
  }
  const bool one_each = static_cast<std::int64_t>(fill.values.size()) == count;
  if (!fill.values.empty() && !one_each && fill.values.size() != 1)
    return random_data(dtype, count, range, seed);
  std::string out;
  base::Random random(seed);
  const auto drawn = [&](std::int64_t i) {
    const std::int64_t low = fill.highs.empty() ? fill.low : 0;
    const std::int64_t high = fill.highs.empty()
                                  ? fill.high
                                  : fill.highs[static_cast<std::size_t>(i) % fill.highs.size()];
    const auto span = static_cast<std::uint64_t>(std::max<std::int64_t>(0, high - low)) + 1;
    return static_cast<double>(low + static_cast<std::int64_t>(random.next() % span));
  };
  for (std::int64_t i = 0; i < count; ++i) {
    const double value = one_each               ? fill.values[static_cast<std::size_t>(i)]
                         : !fill.values.empty() ? fill.values.front()
                                                : drawn(i);
    if (!append_number_as(out, dtype, value)) return random_data(dtype, count, range, seed);
  }
  return out;
}

std::string random_data(ir::Dtype dtype, std::int64_t count, const DataRange& range,
                        std::uint64_t seed) {
  base::Random random(seed);
  std::string out;
  // By the lowest bits of a draw, which are not the value's.
  const auto in_range = [&](double unit, std::uint64_t bits) {
    const double value = range.low + (range.high - range.low) * unit;
    const bool is_negative = range.few_negative ? (bits & 15U) < 3 : (bits & 1U) != 0;
    return range.both_signs && is_negative ? -value : value;
  };
  const auto real = [&] {
    const std::uint64_t bits = random.next();
    return in_range(static_cast<double>(bits >> 12U) * 0x1p-52, bits);
  };
  // Of the lower 32 bits: 23 of them, and the lowest four for the sign.
  const auto single = [&](std::uint64_t bits) {
    const auto part = static_cast<std::uint32_t>(bits);
    return static_cast<float>(in_range(static_cast<double>(part >> 9U) * 0x1p-23, part));
  };
  const auto limit = static_cast<std::uint64_t>(std::max<std::int64_t>(1, range.integer_limit));
  const auto integer = [&] { return static_cast<std::int64_t>(random.next() % limit); };
  const auto bytes = [&](std::int64_t n) {
    if (range.limit_bytes) {
      fill<std::uint8_t>(out, n, [&] { return static_cast<std::uint8_t>(integer()); });
    } else {
      fill_by_draws<std::uint8_t>(
          out, n, random, [](std::uint64_t bits) { return static_cast<std::uint8_t>(bits); });
    }
  };
  using ir::Dtype;
  switch (dtype) {
    case Dtype::F32:
      fill_by_draws<float>(out, count, random, single);
      break;
    case Dtype::F64:
      fill<double>(out, count, real);
      break;
    case Dtype::F16:
      fill<std::uint16_t>(out, count, [&] { return half_bits(static_cast<float>(real())); });
      break;
    case Dtype::BF16:
      fill<std::uint16_t>(out, count, [&] {
        return static_cast<std::uint16_t>(
            std::bit_cast<std::uint32_t>(static_cast<float>(real())) >> 16U);
      });
      break;
    case Dtype::I64:
    case Dtype::U64:
      fill<std::int64_t>(out, count, integer);
      break;
    case Dtype::I32:
    case Dtype::U32:
      fill<std::int32_t>(out, count, [&] { return static_cast<std::int32_t>(integer()); });
      break;
    case Dtype::I16:
    case Dtype::U16:
      fill<std::int16_t>(out, count, [&] { return static_cast<std::int16_t>(integer()); });
      break;
    case Dtype::I8:
    case Dtype::U8:
      bytes(count);
      break;
    case Dtype::I4:
    case Dtype::U4:
      bytes(count / 2 + count % 2);
      break;
    case Dtype::F4E2M1:
      // Two of 1.0 (0b0010) and 1.5 (0b0011) a byte, with a sign each: neither zero nor the
      // denormal 0.5.
      fill<std::uint8_t>(out, count / 2 + count % 2, [&] {
        return static_cast<std::uint8_t>(0x22U | (random.next() >> 56U & 0x99U));
      });
      break;
    case Dtype::F8E4M3FN:
    case Dtype::F8E4M3FNUZ:
    case Dtype::F8E5M2:
    case Dtype::F8E5M2FNUZ:
      // 0x30..0x3F with a sign: normal numbers near one in all four encodings.
      fill<std::uint8_t>(out, count, [&] {
        return static_cast<std::uint8_t>(0x30U | (random.next() >> 60U) |
                                         (random.next() >> 63U << 7U));
      });
      break;
    case Dtype::Bool:
      fill<std::uint8_t>(out, count,
                         [&] { return static_cast<std::uint8_t>(random.next() >> 63U); });
      break;
    case Dtype::C64:
      fill_by_draws<float>(out, 2 * count, random, single);
      break;
    case Dtype::C128:
      fill<double>(out, 2 * count, real);
      break;
    case Dtype::String:
      // Digits: words for every consumer, and numbers for those that read numbers.
      for (std::int64_t i = 0; i < count; ++i) {
        out += std::to_string(integer());
        out += '\0';
      }
      break;
    case Dtype::Any:
      break;
  }
  return out;
}

}  // namespace oplat::formats
