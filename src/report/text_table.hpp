// SPDX-License-Identifier: Apache-2.0
/// Aligned columns for terminals.
#pragma once

#include <cstddef>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace oplat::report {

enum class Align { Left, Right };

/// Columns as wide as their widest cell, two blanks between them, no blanks at line ends. On a
/// stream with a width (text_width.hpp) columns that are not needed are left out where it is
/// too narrow, the last one first; then columns of words are shortened in their middles.
class TextTable {
 public:
  struct Column {
    std::string title;
    Align align = Align::Left;
    bool is_needed = true;  ///< false: only where there is room
  };
  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}
  /// As many cells as there are columns.
  void add(std::vector<std::string> cells) { lines_.push_back(std::move(cells)); }
  [[nodiscard]] bool empty() const { return lines_.empty(); }
  void print(std::ostream& out) const;

 private:
  void fit(std::vector<std::size_t>& widths, const std::vector<std::size_t>& titles,
           std::size_t most) const;
  [[nodiscard]] TextTable without(std::size_t column) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> lines_;
};

}  // namespace oplat::report
