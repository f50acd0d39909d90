// SPDX-License-Identifier: Apache-2.0
#include "base/text_numbers.hpp"

#include <bit>
#include <cassert>

#include "base/hash.hpp"

namespace oplat::base {

TextNumbers::TextNumbers(std::size_t most) : slots_(std::bit_ceil(2 * most + 1), 0) {
  texts_.reserve(most);
}

TextNumbers::Number TextNumbers::of(std::string_view text) {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = static_cast<std::size_t>(hash64(text)) & mask;
  for (; slots_[at] != 0; at = (at + 1) & mask)
    if (texts_[slots_[at] - 1] == text) return {slots_[at] - 1, false};
  assert(2 * texts_.size() < slots_.size());
  texts_.push_back(text);
  slots_[at] = static_cast<std::uint32_t>(texts_.size());
  return {texts_.size() - 1, true};
}

}  // namespace oplat::base
