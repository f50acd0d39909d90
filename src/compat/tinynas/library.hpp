// SPDX-License-Identifier: Apache-2.0
/// The latency libraries of TinyNAS's op_profiler: lines `{Regular,1,16,5,5,8,1,1,0} 0.011776`, ms
/// of the whole batch.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "compat/tinynas/conv_tuple.hpp"

namespace oplat::compat::tinynas {

/// One line. Views point into the bytes that were read.
struct LibraryRow {
  ConvTuple conv;
  std::optional<double> ns;  ///< nothing: -1, the profile failed
  std::string_view before;   ///< what stands between the row before and this one: empty lines, rows
                             ///< that were left out
  std::string_view text;     ///< the whole line, its end included
  std::size_t line = 0;      ///< from 1
};

struct Library {
  std::vector<LibraryRow> rows;    ///< in the file's order, duplicates included
  std::string_view tail;           ///< what stands after the last row
  std::size_t skipped = 0;         ///< malformed rows that were left out
  std::vector<std::string> notes;  ///< the first ten of them: "line 7: ..."
};

/// `bytes` must outlive the library; `name` is the file's, for messages. Lines may end in CR LF,
/// blanks may surround key and number, empty lines are passed over. Code::Input names the malformed
/// rows (unless `skip_bad_rows`), the first ten with line, what was found and what was expected;
/// also where no row holds a time.
Result<Library> read_tinynas_library(std::string_view bytes, std::string_view name,
                                     bool skip_bad_rows = false);

/// "{Regular,1,16,5,5,8,1,1,0} 0.011776\n": six significant digits, as the original prints; -1
/// where there is no time.
std::string library_line(const ConvTuple& conv, std::optional<double> ns);

/// "FP32" for conv_data.out, "FP16_DAMOYOLO" for conv_data.out.fp16.damoyolo, ...; std::nullopt for
/// another file name.
std::optional<std::string> precision_of_library(std::string_view file_name);

}  // namespace oplat::compat::tinynas
