// SPDX-License-Identifier: Apache-2.0
/// Text in columns: how wide it is, how it is shortened and wrapped. Characters of UTF-8 count as
/// one column each, escape sequences for colours as none.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace oplat::base {

std::size_t text_columns(std::string_view text);

/// At most `width` columns (8 or more): the beginning and the end, "..." between them.
std::string shorten_middle(std::string_view text, std::size_t width);

/// A line wrapped at blanks to `width` columns, but not between a number and its unit. Further
/// lines begin with the line's own indentation and `hang` blanks more. A key that is wider than a
/// line is shortened in its middle; other words are left whole, so that a path or a command can be
/// copied.
std::string wrap_line(std::string_view line, std::size_t width, std::size_t hang = 2);
/// wrap_line() of each line of a text.
std::string wrap_lines(std::string_view text, std::size_t width, std::size_t hang = 2);

/// Lines that were written for 100 columns, for fewer: a line that was full (80 or more) and is not
/// indented goes on in the next, unless that is indented or empty. Ends with a line end.
std::string reflow(std::string_view text, std::size_t width);

/// A name and what it is, as help lists options: the words of `description` begin in `column` of
/// each line, and the first line holds the name if two blanks fit behind it. Without a line end.
std::string entry_lines(std::string_view name, const std::string& description, std::size_t column,
                        std::size_t width);

/// The words behind the first `mark` in their order, one blank between them; without the mark where
/// none follows.
std::string sort_words_behind(std::string_view mark, const std::string& text);

}  // namespace oplat::base
