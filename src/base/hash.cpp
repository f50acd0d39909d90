// SPDX-License-Identifier: Apache-2.0
/// XXH3 behind our own types.
#include "base/hash.hpp"

#include <xxhash.h>

#include <new>

namespace oplat::base {

std::string Hash128::hex() const {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t byte : bytes()) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

std::array<std::uint8_t, 16> Hash128::bytes() const {
  std::array<std::uint8_t, 16> out{};
  for (int i = 0; i < 8; ++i) {
    out[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(high >> (56 - 8 * i));
    out[static_cast<std::size_t>(i + 8)] = static_cast<std::uint8_t>(low >> (56 - 8 * i));
  }
  return out;
}

std::optional<Hash128> Hash128::from_bytes(std::string_view bytes) {
  if (bytes.size() != 16) return std::nullopt;
  Hash128 hash;
  for (std::size_t i = 0; i < 8; ++i) {
    hash.high = hash.high << 8 | static_cast<std::uint8_t>(bytes[i]);
    hash.low = hash.low << 8 | static_cast<std::uint8_t>(bytes[i + 8]);
  }
  return hash;
}

Hash128 hash128(std::string_view data) {
  const XXH128_hash_t h = XXH3_128bits(data.data(), data.size());
  return {h.high64, h.low64};
}

std::uint64_t hash64(std::string_view data, std::uint64_t seed) {
  return XXH3_64bits_withSeed(data.data(), data.size(), seed);
}

struct Hasher::State {
  XXH3_state_t* xxh = XXH3_createState();
  State() {
    if (xxh == nullptr) throw std::bad_alloc();
    XXH3_128bits_reset(xxh);
  }
  ~State() { XXH3_freeState(xxh); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
};

Hasher::Hasher() : state_(std::make_unique<State>()) {}
Hasher::~Hasher() = default;
void Hasher::add(std::string_view data) {
  XXH3_128bits_update(state_->xxh, data.data(), data.size());
}
Hash128 Hasher::finish() const {
  const XXH128_hash_t h = XXH3_128bits_digest(state_->xxh);
  return {h.high64, h.low64};
}

}  // namespace oplat::base
