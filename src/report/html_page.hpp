// SPDX-License-Identifier: Apache-2.0
/// Parts of a self-contained page: text that cannot become markup, tables that turn into cards on a
/// narrow screen, drawings as inline SVG. A page loads nothing and runs nothing: its own policy
/// forbids both. All colours come from variables that follow the reader's light or dark scheme.
#pragma once

#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "predict/row_selection.hpp"
#include "table/records.hpp"

namespace oplat::report {

/// `text` for the content of an element or a quoted attribute: markup is escaped, control
/// characters are shown as \xNN, bytes that are not UTF-8 become U+FFFD. Cut to `max` characters,
/// with an ellipsis.
std::string html_text(std::string_view text, std::size_t max = 1 << 16);

/// Opens a page; `title` is plain text. HtmlPage closes it when it goes out of scope.
class HtmlPage {
 public:
  HtmlPage(std::ostream& out, std::string_view title);
  ~HtmlPage();
  HtmlPage(const HtmlPage&) = delete;
  HtmlPage& operator=(const HtmlPage&) = delete;

 private:
  std::ostream& out_;
};

/// Opens a part of somebody else's page, with a style that holds for nothing else there; closes it
/// when it goes out of scope.
class HtmlFragment {
 public:
  explicit HtmlFragment(std::ostream& out);
  ~HtmlFragment();
  HtmlFragment(const HtmlFragment&) = delete;
  HtmlFragment& operator=(const HtmlFragment&) = delete;

 private:
  std::ostream& out_;
};

/// A cell: markup (made with html_text) and its class: "" for words, "n" for a number, "k" for a
/// kernel's key.
struct HtmlCell {
  std::string markup;
  std::string_view kind;
};
/// A table with a heading for each column. Every cell repeats its heading in an attribute, which a
/// narrow screen shows in front of the value.
class HtmlTable {
 public:
  explicit HtmlTable(std::vector<std::string> headings) : headings_(std::move(headings)) {}
  /// As many cells as there are headings.
  void add(std::vector<HtmlCell> cells) { rows_.push_back(std::move(cells)); }
  [[nodiscard]] bool empty() const { return rows_.empty(); }
  void print(std::ostream& out) const;

 private:
  std::vector<std::string> headings_;
  std::vector<std::vector<HtmlCell>> rows_;
};

/// A heading of the page, plain text.
void print_heading(std::ostream& out, std::string_view heading);
/// Names and values, both plain text; those without a value are left out.
void print_facts(std::ostream& out, std::span<const std::pair<std::string, std::string>> facts);
/// What the numbers hold for: the device and the setting of the rows that answered.
void print_device(std::ostream& out, const table::Device& device, const table::Setting& setting);
/// Mismatches and warnings; prints nothing if there are none.
void print_cautions(std::ostream& out, std::span<const predict::Mismatch> mismatch,
                    std::span<const std::string> warnings);

/// A part of a whole: `share` of 1, its name and what it amounts to ("5.00 ms"). `shade` numbers
/// its colour.
struct HtmlPart {
  std::string name;
  std::string amount;
  double share = 0;
  int shade = 0;
};
/// A bar of parts with a legend below it. Parts below zero take no room.
void print_parts(std::ostream& out, std::span<const HtmlPart> parts);

/// One line of a drawing: a mark with an interval around it, and a second mark to compare with.
struct HtmlRange {
  std::string name;  ///< plain text; empty for a drawing of one line
  double mark = 0;
  std::optional<double> low, high;
  std::optional<double> other;
  bool alarm = false;  ///< drawn in the colour of warnings
};
/// Draws ranges over one axis. `ticks` are positions on the axis with their plain texts, the axis
/// ends at the first and the last; `alt` says in words what the drawing shows.
void print_ranges(std::ostream& out, std::span<const HtmlRange> ranges,
                  std::span<const std::pair<double, std::string>> ticks, std::string_view alt);

/// Round numbers from `low` to `high` for an axis of about five steps, which hold both.
std::vector<double> axis_ticks(double low, double high);

}  // namespace oplat::report
