// SPDX-License-Identifier: Apache-2.0
#include "base/layout.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <sstream>
#include <vector>

namespace oplat::base {
namespace {

/// Bytes of the character or escape sequence that begins at `at`, and the columns that it takes.
struct Glyph {
  std::size_t bytes = 1;
  std::size_t columns = 1;
};

Glyph glyph_at(std::string_view text, std::size_t at) {
  if (text[at] == '\x1b' && at + 1 < text.size() && text[at + 1] == '[') {
    std::size_t end = at + 2;
    while (end < text.size() && (text[end] < '@' || text[end] > '~')) ++end;
    return {std::min(end + 1, text.size()) - at, 0};
  }
  std::size_t end = at + 1;
  while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) ++end;
  return {end - at, 1};
}

/// The longest beginning of `text` that takes at most `width` columns.
std::size_t bytes_within(std::string_view text, std::size_t width) {
  std::size_t at = 0;
  while (at < text.size()) {
    const Glyph glyph = glyph_at(text, at);
    if (glyph.columns > width) break;
    width -= glyph.columns;
    at += glyph.bytes;
  }
  return at;
}

/// "60 us", "5 %": a unit goes with its number.
bool is_unit(std::string_view word) {
  constexpr std::array<std::string_view, 14> kUnits = {
      "%", "ns", "us", "ms", "s", "B", "KiB", "MiB", "GiB", "GB/s", "GFLOP/s", "FLOPs", "k", "M"};
  const std::size_t end = word.find_last_not_of(",;:.)");
  const std::string_view bare = word.substr(0, end == std::string_view::npos ? 0 : end + 1);
  return std::find(kUnits.begin(), kUnits.end(), bare) != kUnits.end();
}

bool ends_in_digit(std::string_view word) {
  return !word.empty() && word.back() >= '0' && word.back() <= '9';
}

/// Where the word that begins at `begin` ends, with the unit behind it if it is a number.
std::size_t end_of_word(std::string_view line, std::size_t begin) {
  const std::size_t end = std::min(line.find(' ', begin), line.size());
  if (end == line.size() || !ends_in_digit(line.substr(begin, end - begin))) return end;
  const std::size_t next = std::min(line.find(' ', end + 1), line.size());
  return is_unit(line.substr(end + 1, next - end - 1)) ? next : end;
}

/// The text of a kernel: nobody copies half a line of it.
bool is_key(std::string_view word) { return word.find(")->(") != std::string_view::npos; }

}  // namespace

std::size_t text_columns(std::string_view text) {
  std::size_t columns = 0;
  for (std::size_t at = 0; at < text.size();) {
    const Glyph glyph = glyph_at(text, at);
    columns += glyph.columns;
    at += glyph.bytes;
  }
  return columns;
}

std::string shorten_middle(std::string_view text, std::size_t width) {
  const std::size_t columns = text_columns(text);
  if (columns <= width) return std::string(text);
  constexpr std::string_view kDots = "...";
  const std::size_t kept = std::max<std::size_t>(width, 8) - kDots.size();
  const std::size_t tail = kept / 2;
  const std::size_t head = kept - tail;
  std::string shortened(text.substr(0, bytes_within(text, head)));
  shortened += kDots;
  shortened += text.substr(bytes_within(text, columns - tail));
  return shortened;
}

std::string wrap_line(std::string_view line, std::size_t width, std::size_t hang) {
  if (text_columns(line) <= width) return std::string(line);
  const std::size_t own = std::min(line.find_first_not_of(' '), line.size());
  std::string wrapped(line.substr(0, own));
  // An indentation of half the line leaves no room for words.
  const std::string next((own + hang <= width / 2) ? own + hang : 0, ' ');
  std::size_t column = own;
  bool begins = true;
  for (std::size_t at = own; at < line.size();) {
    const std::size_t blanks = std::min(line.find_first_not_of(' ', at), line.size()) - at;
    const std::size_t begin = at + blanks;
    const std::size_t end = end_of_word(line, begin);
    std::string word(line.substr(begin, end - begin));
    at = end;
    if (word.empty()) break;
    std::size_t room = text_columns(word);
    const std::size_t longest = width - (begins ? column : next.size());
    if (!begins && column + blanks + room > width) {
      wrapped += "\n" + next;
      column = next.size();
      begins = true;
    } else if (!begins) {
      wrapped.append(blanks, ' ');
      column += blanks;
    }
    if (room > longest && is_key(word)) {
      word = shorten_middle(word, longest);
      room = text_columns(word);
    }
    wrapped += word;
    column += room;
    begins = false;
  }
  return wrapped;
}

std::string wrap_lines(std::string_view text, std::size_t width, std::size_t hang) {
  std::string wrapped;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    wrapped += wrap_line(text.substr(0, end), width, hang);
    if (end == std::string_view::npos) break;
    wrapped += '\n';
    text.remove_prefix(end + 1);
  }
  return wrapped;
}

std::string reflow(std::string_view text, std::size_t width) {
  constexpr std::size_t kFull = 80;
  std::string joined;
  bool was_full = false;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const bool goes_on = was_full && !line.empty() && line.front() != ' ';
    if (goes_on) joined.back() = ' ';
    joined += line;
    joined += '\n';
    was_full = line.size() >= kFull && line.front() != ' ';
  }
  return wrap_lines(joined, width, 0);
}

std::string entry_lines(std::string_view name, const std::string& description, std::size_t column,
                        std::size_t width) {
  std::string new_line(1, '\n');
  new_line.append(column, ' ');
  std::string text(name);
  if (text.size() > column - 2)
    text += new_line;
  else
    text.resize(column, ' ');
  std::size_t at = column;
  std::istringstream words(description);
  for (std::string word; words >> word; at += word.size()) {
    const bool fits = at + 1 + word.size() <= width;
    if (at > column) text += fits ? " " : new_line;
    at = fits ? at + (at > column ? 1 : 0) : column;
    text += word;
  }
  return text;
}

std::string sort_words_behind(std::string_view mark, const std::string& text) {
  const std::size_t at = text.find(mark);
  if (at == std::string::npos) return text;
  std::istringstream behind(text.substr(at + mark.size()));
  std::vector<std::string> words{std::istream_iterator<std::string>(behind), {}};
  std::sort(words.begin(), words.end());
  std::string sorted = text.substr(0, at);
  for (const std::string& word : words) {
    sorted += &word == words.data() ? mark : " ";
    sorted += word;
  }
  return sorted;
}

}  // namespace oplat::base
