// SPDX-License-Identifier: Apache-2.0
/// Sheets as CSV and as pages.
#include <ostream>

#include "report/csv.hpp"
#include "report/documents.hpp"
#include "report/html_documents.hpp"
#include "report/html_page.hpp"

namespace oplat::report {

void write_csv(const Sheet& sheet, std::ostream& out) {
  std::vector<std::string> fields;
  for (const Sheet::Column& column : sheet.columns) fields.push_back(csv_field(column.name));
  out << csv_line(fields);
  for (const std::vector<std::string>& row : sheet.rows) {
    fields.clear();
    for (const std::string& cell : row) fields.push_back(csv_field(cell));
    out << csv_line(fields);
  }
}

void write_page(const Sheet& sheet, std::ostream& out) {
  const HtmlPage page(out, sheet.title);
  out << "<h1>" << html_text(sheet.title) << "</h1>\n";
  print_facts(out, sheet.facts);
  std::vector<std::string> headings;
  for (const Sheet::Column& column : sheet.columns) headings.push_back(column.name);
  HtmlTable table(std::move(headings));
  for (const std::vector<std::string>& row : sheet.rows) {
    std::vector<HtmlCell> cells;
    for (std::size_t i = 0; i < row.size(); ++i)
      cells.push_back({html_text(row[i]), sheet.columns[i].number ? "n" : ""});
    table.add(std::move(cells));
  }
  table.print(out);
}

}  // namespace oplat::report
