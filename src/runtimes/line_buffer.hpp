// SPDX-License-Identifier: Apache-2.0
/// Bytes of a stream cut into lines of bounded length.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace oplat::runtimes {

class LineBuffer {
 public:
  explicit LineBuffer(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  void add(std::string_view bytes) { bytes_.append(bytes); }
  /// The next whole line without its end.
  std::optional<std::string> take() {
    const std::size_t end = bytes_.find('\n', searched_);
    if (end == std::string::npos || end > max_bytes_) {
      searched_ = bytes_.size();
      return std::nullopt;
    }
    std::string line = bytes_.substr(0, end);
    bytes_.erase(0, end + 1);
    searched_ = 0;
    return line;
  }
  /// Whether the line at the front is longer than allowed; take() then never gives it.
  [[nodiscard]] bool too_long() const {
    return bytes_.size() > max_bytes_ && bytes_.find('\n') > max_bytes_;
  }
  [[nodiscard]] bool empty() const { return bytes_.empty(); }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  std::size_t max_bytes_;
  std::size_t searched_ = 0;  // no line ends before it
  std::string bytes_;
};

}  // namespace oplat::runtimes
