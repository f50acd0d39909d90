// SPDX-License-Identifier: Apache-2.0
/// Seeded data.
#include "formats/random_data.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

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

}  // namespace

std::string random_data(ir::Dtype dtype, std::int64_t count, const DataRange& range,
                        std::uint64_t seed) {
  base::Random random(seed);
  std::string out;
  const auto real = [&] {
    const std::uint64_t bits = random.next();
    const double unit = static_cast<double>(bits >> 12U) * 0x1p-52;
    const double value = range.low + (range.high - range.low) * unit;
    return range.both_signs && (bits & 1U) != 0 ? -value : value;
  };
  const auto limit = static_cast<std::uint64_t>(std::max<std::int64_t>(1, range.integer_limit));
  const auto integer = [&] { return static_cast<std::int64_t>(random.next() % limit); };
  const auto bytes = [&](std::int64_t n) {
    if (range.limit_bytes) {
      fill<std::uint8_t>(out, n, [&] { return static_cast<std::uint8_t>(integer()); });
    } else {
      fill<std::uint8_t>(out, n, [&] { return static_cast<std::uint8_t>(random.next() >> 56U); });
    }
  };
  using ir::Dtype;
  switch (dtype) {
    case Dtype::F32:
      fill<float>(out, count, [&] { return static_cast<float>(real()); });
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
      fill<float>(out, 2 * count, [&] { return static_cast<float>(real()); });
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
