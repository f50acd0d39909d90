// SPDX-License-Identifier: Apache-2.0
/// Lines, rows, and what stands between them.
#include "table/text_rows.hpp"

#include <algorithm>
#include <utility>

#include "base/kernel_time.hpp"
#include "base/text.hpp"

namespace oplat::table {
namespace {

constexpr double kTextNsPerMs = 1e6;
constexpr std::string_view kBlank = " \t\r\n";

}  // namespace

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) + 1 - first);
}

std::vector<std::string_view> words_of(std::string_view text, std::size_t most) {
  std::vector<std::string_view> words;
  text = trimmed(text);
  while (!text.empty()) {
    const std::size_t size =
        words.size() + 1 < most ? text.find_first_of(kBlank) : std::string_view::npos;
    words.push_back(text.substr(0, size));
    if (size == std::string_view::npos) break;
    text = trimmed(text.substr(size));
  }
  return words;
}

bool is_plain(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return c == '\t' || (c >= ' ' && c <= '~'); });
}

std::optional<double> ns_of_ms(std::string_view text) {
  const auto ms = base::parse_double(text);
  if (!ms || !base::is_kernel_time(*ms * kTextNsPerMs)) return std::nullopt;
  return *ms * kTextNsPerMs;
}

Timing timing_of_one(double ns) {
  Timing timing;
  timing.median_ns = timing.ci_low_ns = timing.ci_high_ns = timing.min_ns = timing.p10_ns =
      timing.p90_ns = ns;
  timing.ci_level = 0;
  timing.blocks = timing.processes = 1;
  return timing;
}

bool TextRows::next() {
  start_ = next_;
  if (start_ >= bytes_.size()) return false;
  const std::size_t newline = bytes_.find('\n', start_);
  next_ = newline == std::string_view::npos ? bytes_.size() : newline + 1;
  line_ = trimmed(bytes_.substr(start_, next_ - start_));
  ++number_;
  return true;
}

void TextRows::take(ForeignRow row) {
  std::string before(bytes_.substr(pending_, start_ - pending_));
  if (file_.rows.empty()) {
    file_.head = std::move(before);
  } else {
    row.before = std::move(before);
  }
  row.text = std::string(bytes_.substr(start_, next_ - start_));
  pending_ = next_;
  file_.rows.push_back(std::move(row));
}

Result<ForeignRead> TextRows::finish(const ReadOptions& options, std::string_view expected) && {
  if (refused_.count() > 0 && !options.skip_bad_rows) return refused_.error(options.name);
  if (file_.rows.empty()) {
    return fail(Code::Input, "{}: has no row with a latency ({} malformed{}); expected {}",
                base::printable(options.name, 400), refused_.count(), refused_.first(), expected);
  }
  file_.tail = std::string(bytes_.substr(pending_));
  ForeignRead read;
  read.file = std::move(file_);
  read.skipped = refused_.count();
  read.notes = std::move(refused_).take_notes();
  return read;
}

Result<std::string> write_text_rows(
    const ForeignFile& file, std::string_view head,
    const std::function<Result<std::string>(const ForeignRow&)>& line_of) {
  const bool all_own =
      file.head.empty() && std::none_of(file.rows.begin(), file.rows.end(),
                                        [](const ForeignRow& row) { return row.text.has_value(); });
  std::string out = all_own ? std::string(head) : file.head;
  const auto add = [&](std::string_view piece) {
    if (!piece.empty() && !out.empty() && out.back() != '\n') out += '\n';
    out += piece;
  };
  for (const ForeignRow& row : file.rows) {
    add(row.before);
    if (row.text) {
      add(*row.text);
      continue;
    }
    OPLAT_TRY(line, line_of(row));
    add(line + '\n');
  }
  add(file.tail);
  return out;
}

}  // namespace oplat::table
