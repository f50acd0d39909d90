// SPDX-License-Identifier: Apache-2.0
/// XXH3 hashes of text and bytes: identities of keys, models and settings.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace oplat::base {

/// 128 bits, compared and ordered as a big-endian number.
struct Hash128 {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  friend auto operator<=>(const Hash128&, const Hash128&) = default;
  /// 32 lower-case hexadecimal digits.
  [[nodiscard]] std::string hex() const;
  /// 16 bytes, big-endian: the form kept in the table file.
  [[nodiscard]] std::array<std::uint8_t, 16> bytes() const;
  static std::optional<Hash128> from_bytes(std::string_view bytes);
};

Hash128 hash128(std::string_view data);
std::uint64_t hash64(std::string_view data, std::uint64_t seed = 0);

/// Hash of data that arrives in pieces; equal to hash128 of their concatenation.
class Hasher {
 public:
  Hasher();
  ~Hasher();
  Hasher(const Hasher&) = delete;
  Hasher& operator=(const Hasher&) = delete;
  void add(std::string_view data);
  [[nodiscard]] Hash128 finish() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace oplat::base

template <>
struct std::hash<oplat::base::Hash128> {
  std::size_t operator()(const oplat::base::Hash128& h) const noexcept {
    return static_cast<std::size_t>(h.low);
  }
};
