// SPDX-License-Identifier: Apache-2.0
/// Numbers of distinct texts, in order of their first occurrence: for some dozens of texts, which
/// are thrown away soon, a map takes most of its time for memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace oplat::base {

class TextNumbers {
 public:
  /// For at most so many texts, which must outlive it.
  explicit TextNumbers(std::size_t most);

  struct Number {
    std::size_t value = 0;
    bool added = false;  ///< whether the text is met for the first time
  };
  Number of(std::string_view text);
  [[nodiscard]] const std::vector<std::string_view>& texts() const { return texts_; }

 private:
  std::vector<std::string_view> texts_;
  std::vector<std::uint32_t> slots_;  ///< a number + 1, or 0: free. At most half are taken.
};

}  // namespace oplat::base
