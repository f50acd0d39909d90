// SPDX-License-Identifier: Apache-2.0
/// The bytes of a Python pickle, as its instructions take them, for the readers of several systems'
/// pickles. What the instructions make, and which are refused, each reader says by itself.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "base/result.hpp"

namespace oplat::compat {

/// A line of a pickle, or a text in it, that nothing of a table exceeds.
inline constexpr std::size_t kMaxPickleText = std::size_t{1} << 16;
/// Whole numbers of more bytes fit no 64 bits.
inline constexpr std::size_t kMaxPickleInteger = 8;

/// Errors are Code::Input with the offset of the instruction that runs. The bytes must outlive it.
class PickleBytes {
 protected:
  explicit PickleBytes(std::string_view bytes) : bytes_(bytes) {}

  template <class... Args>
  [[nodiscard]] tl::unexpected<Error> wrong(fmt::format_string<Args...> format,
                                            Args&&... args) const {
    return fail(Code::Input, "byte {}: {}", start_,
                fmt::format(format, std::forward<Args>(args)...));
  }

  /// The next instruction; errors name its offset from now on.
  Result<std::uint8_t> instruction() {
    start_ = at_;
    if (at_ == bytes_.size()) return wrong("the file ends without STOP");
    return static_cast<std::uint8_t>(bytes_[at_++]);
  }
  [[nodiscard]] Status at_end() const {
    if (at_ == bytes_.size()) return {};
    return wrong("{} bytes follow the end of the pickle", bytes_.size() - at_);
  }

  Result<std::string_view> take(std::uint64_t size) {
    if (size > bytes_.size() - at_)
      return wrong("{} bytes are announced, but only {} are left", size, bytes_.size() - at_);
    const std::string_view taken = bytes_.substr(at_, static_cast<std::size_t>(size));
    at_ += static_cast<std::size_t>(size);
    return taken;
  }
  /// Of up to 8 bytes, little-endian, as lengths are.
  Result<std::uint64_t> number(std::size_t size) {
    OPLAT_TRY(taken, take(size));
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < taken.size(); ++i)
      value |= static_cast<std::uint64_t>(static_cast<unsigned char>(taken[i])) << (8 * i);
    return value;
  }
  /// Two's complement of up to kMaxPickleInteger bytes.
  Result<std::int64_t> signed_number(std::size_t size) {
    OPLAT_TRY(value, number(size));
    if (size == 0) return 0;
    const auto unused = static_cast<unsigned>(64 - 8 * size);
    return static_cast<std::int64_t>(value << unused) >> unused;
  }
  /// Big-endian.
  Result<double> real() {
    OPLAT_TRY(taken, take(8));
    std::uint64_t bits = 0;
    for (const char c : taken) bits = bits << 8 | static_cast<unsigned char>(c);
    return std::bit_cast<double>(bits);
  }
  Result<std::string_view> line() {
    const std::size_t end = bytes_.substr(at_, kMaxPickleText + 1).find('\n');
    if (end == std::string_view::npos)
      return wrong("a line has more than {} bytes, or no end", kMaxPickleText);
    const std::string_view taken = bytes_.substr(at_, end);
    at_ += end + 1;
    return taken;
  }

  Status protocol(unsigned oldest, unsigned newest) {
    OPLAT_TRY(version, number(1));
    if (version < oldest || version > newest)
      return wrong("protocol {}; expected {} to {}", version, oldest, newest);
    return {};
  }
  Status frame() {
    OPLAT_TRY(size, number(8));
    if (size > bytes_.size() - at_)
      return wrong("a frame has {} bytes, but only {} are left", size, bytes_.size() - at_);
    return {};
  }

  /// An error further on is of what was made at this offset.
  void blame(std::size_t offset) { start_ = offset; }
  [[nodiscard]] std::size_t offset() const { return start_; }
  [[nodiscard]] std::size_t size() const { return bytes_.size(); }

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
  std::size_t start_ = 0;  ///< of the instruction
};

}  // namespace oplat::compat
