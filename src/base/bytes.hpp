// SPDX-License-Identifier: Apache-2.0
/// Numbers to bytes and back: little-endian, whatever the machine; a reader that cannot run over
/// the end.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace oplat::base {

class ByteWriter {
 public:
  void u64(std::uint64_t value) {
    for (int i = 0; i < 8; ++i) bytes_.push_back(static_cast<char>(value >> (8 * i) & 0xff));
  }
  void u32(std::uint32_t value) {
    for (int i = 0; i < 4; ++i) bytes_.push_back(static_cast<char>(value >> (8 * i) & 0xff));
  }
  void u16(std::uint16_t value) {
    bytes_.push_back(static_cast<char>(value & 0xff));
    bytes_.push_back(static_cast<char>(value >> 8));
  }
  void f32(float value) { u32(std::bit_cast<std::uint32_t>(value)); }
  void f64(double value) { u64(std::bit_cast<std::uint64_t>(value)); }
  void text(std::string_view value) {
    u64(value.size());
    bytes_ += value;
  }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }
  [[nodiscard]] std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

/// After the first read beyond the end ok() is false and everything reads as 0.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}
  std::uint64_t u64() { return number<std::uint64_t>(); }
  std::uint32_t u32() { return number<std::uint32_t>(); }
  std::uint16_t u16() { return number<std::uint16_t>(); }
  float f32() { return std::bit_cast<float>(u32()); }
  double f64() { return std::bit_cast<double>(u64()); }
  std::string_view text() {
    const std::uint64_t size = u64();
    if (!ok_ || size > left()) {
      ok_ = false;
      return {};
    }
    const std::string_view value = bytes_.substr(at_, size);
    at_ += size;
    return value;
  }
  /// A count of things of at least `min_bytes` each: never more than the bytes that are left can
  /// hold.
  std::size_t count(std::size_t min_bytes) {
    const std::uint64_t value = u64();
    if (!ok_ || value > left() / min_bytes) {
      ok_ = false;
      return 0;
    }
    return static_cast<std::size_t>(value);
  }
  [[nodiscard]] std::size_t left() const { return bytes_.size() - at_; }
  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] bool done() const { return ok_ && left() == 0; }

 private:
  template <class Number>
  Number number() {
    if (!ok_ || left() < sizeof(Number)) {
      ok_ = false;
      return 0;
    }
    std::array<char, sizeof(Number)> raw;
    std::memcpy(raw.data(), bytes_.data() + at_, raw.size());
    at_ += raw.size();
    if constexpr (std::endian::native == std::endian::big) std::reverse(raw.begin(), raw.end());
    return std::bit_cast<Number>(raw);
  }

  std::string_view bytes_;
  std::size_t at_ = 0;
  bool ok_ = true;
};

}  // namespace oplat::base
