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
/// stream with a width (text_width.hpp) columns of words are shortened in their middles.
class TextTable {
 public:
  struct Column {
    std::string title;
    Align align = Align::Left;
  };
  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}
  /// As many cells as there are columns.
  void add(std::vector<std::string> cells) { lines_.push_back(std::move(cells)); }
  [[nodiscard]] bool empty() const { return lines_.empty(); }
  void print(std::ostream& out) const;

 private:
  void fit(std::vector<std::size_t>& widths, const std::vector<std::size_t>& titles,
           std::size_t most) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> lines_;
};

}  // namespace oplat::report
