// SPDX-License-Identifier: Apache-2.0
/// How far long work is, as a line of text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace oplat::base {

struct ProgressLine {
  std::string phase;
  std::int64_t done = 0;
  std::int64_t total = 0;  ///< 0: not known
  double elapsed_s = 0;
  double left_s = -1;  ///< an estimate; < 0: not known, or it has run out
  std::string item;    ///< what is worked on
};

/// "measuring: 3/12 (25 %), 0:10 elapsed, 0:30 left", for a log.
std::string plain_progress(const ProgressLine& line);

/// "measuring [######..................] 3/12, 0:10 elapsed, 0:30 left  ITEM" in at most `width`
/// columns: the item is shortened, and left out where less than eight columns remain for it.
std::string progress_bar(const ProgressLine& line, std::size_t width);

}  // namespace oplat::base
