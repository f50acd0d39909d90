// SPDX-License-Identifier: Apache-2.0
/// `oplat lut find | add | merge`: look-up tables as files of lines.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "compat/mobile_vision/lut_files.hpp"

namespace oplat::compat::mobile_vision {

/// A query or a record as text, with words for where it stands.
struct GivenLine {
  std::string text;
  std::string place;  ///< "standard input, line 3"
};

struct FoundLines {
  std::string text;  ///< the records of all queries, unchanged, in the file's order for each
  Status complete;   ///< Code::Missing that names the queries without a record
};
/// An Int8Conv without a record falls back to the Int8ConvRelu. `device`: of all queries; empty:
/// each names its own. Code::Usage: a query; Code::Input: the file.
Result<FoundLines> find_lines(const std::string& file, const std::vector<GivenLine>& queries,
                              const std::string& device, bool skip_bad_rows);

/// What an edit did.
struct EditedLut {
  std::size_t records = 0;            ///< in the file now
  std::size_t duplicates = 0;         ///< left out by a merge
  std::vector<std::string> warnings;  ///< contradictions and lines left out
};
/// Appends records; makes the file if it is missing. Code::Usage: a record, or the file is an
/// archive; Code::Input, Code::Write: the file.
Result<EditedLut> add_records(const std::string& file, const std::vector<GivenLine>& records);
/// Writes the records of several files into `out`, in their order, equal ones once.
Result<EditedLut> merge_luts(const std::vector<std::string>& files, const std::string& out,
                             bool skip_bad_rows);

}  // namespace oplat::compat::mobile_vision
