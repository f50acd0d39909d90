// SPDX-License-Identifier: Apache-2.0
/// Aligned columns.
#include "report/text_table.hpp"

#include <algorithm>

namespace oplat::report {
namespace {

/// Characters, not bytes: continuation bytes of UTF-8 take no room.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

}  // namespace

void TextTable::print(std::ostream& out) const {
  std::vector<std::size_t> widths;
  for (const Column& column : columns_) widths.push_back(width(column.title));
  for (const auto& line : lines_)
    for (std::size_t i = 0; i < widths.size() && i < line.size(); ++i)
      widths[i] = std::max(widths[i], width(line[i]));

  const auto print_line = [&](const auto& cell) {
    std::string text;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const std::string& content = cell(i);
      const std::string padding(widths[i] - width(content), ' ');
      if (i > 0) text += "  ";
      text += columns_[i].align == Align::Right ? padding + content : content + padding;
    }
    text.erase(text.find_last_not_of(' ') + 1);
    out << text << "\n";
  };
  print_line([&](std::size_t i) -> const std::string& { return columns_[i].title; });
  for (const auto& line : lines_)
    print_line([&](std::size_t i) -> const std::string& {
      static const std::string kNothing;
      return i < line.size() ? line[i] : kNothing;
    });
}

}  // namespace oplat::report
