// SPDX-License-Identifier: Apache-2.0
/// Text tables of a row a line: lines as rows with their own bytes, malformed ones counted, and the
/// same bytes written.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "table/codec.hpp"
#include "table/refused_rows.hpp"

namespace oplat::table {

/// Goes through the lines of a file. What is neither taken nor refused (head lines, empty ones)
/// stands before the next row that is taken, byte for byte.
class TextRows {
 public:
  explicit TextRows(std::string_view bytes) : bytes_(bytes) {}

  /// Moves on; false at the end.
  bool next();
  /// The line without its end and the blanks around it.
  [[nodiscard]] std::string_view line() const { return line_; }
  [[nodiscard]] std::size_t number() const { return number_; }
  /// The line is this row, whose text is the line's bytes.
  void take(ForeignRow row);
  void refuse(const std::string& why) { refused_.add(number_, why); }
  /// A line that stands before the current one is malformed.
  void refuse(std::size_t number, const std::string& why) { refused_.add(number, why); }
  /// The rows, or Code::Input: malformed lines without ReadOptions::skip_bad_rows, or no row with a
  /// time. `expected` says what a row looks like.
  Result<ForeignRead> finish(const ReadOptions& options, std::string_view expected) &&;

 private:
  std::string_view bytes_;
  std::size_t start_ = 0;    ///< of the current line
  std::size_t next_ = 0;     ///< of the line after it
  std::size_t pending_ = 0;  ///< of the bytes that no row has
  std::size_t number_ = 0;
  std::string_view line_;
  RefusedRows refused_;
  ForeignFile file_;
};

/// Rows of one line each, their own bytes where they have them, else what `line_of` makes (without
/// a line end). A file of rows of oplat's own alone begins with `head`.
Result<std::string> write_text_rows(
    const ForeignFile& file, std::string_view head,
    const std::function<Result<std::string>(const ForeignRow&)>& line_of);

/// `text` without blanks, tabs and line ends around it.
std::string_view trimmed(std::string_view text);
/// The words between blanks and tabs; at most `most`, the rest stays in the last one.
std::vector<std::string_view> words_of(std::string_view text, std::size_t most = 1024);
/// Whether all bytes are printable ASCII or tabs.
bool is_plain(std::string_view text);
/// A time in ms as ns; std::nullopt for what no kernel takes (oplat/base/kernel_time.hpp).
std::optional<double> ns_of_ms(std::string_view text);
/// One measurement of which nobody knows how much it would differ the next time.
Timing timing_of_one(double ns);

}  // namespace oplat::table
