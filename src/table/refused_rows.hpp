// SPDX-License-Identifier: Apache-2.0
/// Rows of a foreign file that were refused: the first are told, all are counted.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace oplat::table {

class RefusedRows {
 public:
  void add(std::size_t line, const std::string& why);
  [[nodiscard]] std::size_t count() const { return count_; }
  /// Code::Input that names them, and the flag that leaves them out.
  [[nodiscard]] tl::unexpected<Error> error(std::string_view name) const;
  /// ", the first of them at line 3: why", for a message about all of them; empty without any.
  [[nodiscard]] std::string first() const;
  std::vector<std::string> take_notes() && { return std::move(notes_); }

 private:
  std::size_t count_ = 0;
  std::vector<std::string> notes_;
};

}  // namespace oplat::table
