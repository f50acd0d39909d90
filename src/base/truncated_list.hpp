// SPDX-License-Identifier: Apache-2.0
/// Lists in messages: the first are told, all are counted.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace oplat::base {

class TruncatedList {
 public:
  /// Tells `most` of them.
  explicit TruncatedList(std::size_t most) : max_(most) {}
  void add(std::string line);
  [[nodiscard]] std::size_t count() const { return count_; }
  /// Each on an indented line of its own behind a line end, then how many more there are; empty
  /// where there is none.
  [[nodiscard]] std::string text() const;

 private:
  std::size_t max_;
  std::size_t count_ = 0;
  std::vector<std::string> lines_;
};

}  // namespace oplat::base
