// SPDX-License-Identifier: Apache-2.0
/// Aligned columns.
#include "report/text_table.hpp"

#include <algorithm>
#include <cstddef>

#include "base/layout.hpp"
#include "report/text_width.hpp"

namespace oplat::report {
namespace {

/// Below this a name says nothing any more.
constexpr std::size_t kMinTextColumn = 12;
constexpr std::size_t kGap = 2;

std::size_t line_columns(const std::vector<std::size_t>& widths) {
  std::size_t sum = kGap * (widths.size() - std::min<std::size_t>(1, widths.size()));
  for (const std::size_t width : widths) sum += width;
  return sum;
}

int width_index() {
  static const int index = std::ios_base::xalloc();
  return index;
}

}  // namespace

void set_text_width(std::ostream& out, std::size_t columns) {
  out.iword(width_index()) = static_cast<long>(columns);
}

std::size_t text_width(std::ostream& out) {
  return static_cast<std::size_t>(std::max(0L, out.iword(width_index())));
}

void TextTable::print(std::ostream& out) const {
  std::vector<std::size_t> widths;
  for (const Column& column : columns_) widths.push_back(base::text_columns(column.title));
  const std::vector<std::size_t> titles = widths;
  for (const auto& line : lines_)
    for (std::size_t i = 0; i < widths.size() && i < line.size(); ++i)
      widths[i] = std::max(widths[i], base::text_columns(line[i]));
  if (const std::size_t most = text_width(out); most > 0) {
    for (std::size_t i = columns_.size(); i-- > 0 && line_columns(widths) > most;)
      if (!columns_[i].is_needed) return without(i).print(out);
    fit(widths, titles, most);
  }

  const auto print_line = [&](const auto& cell) {
    std::string text;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const std::string content = base::shorten_middle(cell(i), widths[i]);
      const std::size_t columns = base::text_columns(content);
      const std::string padding(widths[i] - std::min(widths[i], columns), ' ');
      if (i > 0) text.append(kGap, ' ');
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

/// Columns of words give way, the widest first; numbers stay whole.
void TextTable::fit(std::vector<std::size_t>& widths, const std::vector<std::size_t>& titles,
                    std::size_t most) const {
  while (line_columns(widths) > most) {
    std::size_t widest = widths.size();
    for (std::size_t i = 0; i < widths.size(); ++i) {
      const bool may_give =
          columns_[i].align == Align::Left && widths[i] > std::max(kMinTextColumn, titles[i]);
      if (may_give && (widest == widths.size() || widths[i] > widths[widest])) widest = i;
    }
    if (widest == widths.size()) return;
    --widths[widest];
  }
}

TextTable TextTable::without(std::size_t column) const {
  TextTable table = *this;
  const auto at = static_cast<std::ptrdiff_t>(column);
  table.columns_.erase(table.columns_.begin() + at);
  for (auto& line : table.lines_)
    if (column < line.size()) line.erase(line.begin() + at);
  return table;
}

}  // namespace oplat::report
