// SPDX-License-Identifier: Apache-2.0
/// TinyNAS libraries for `oplat tinynas predict`: which file, its times, and its rows for a table.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"
#include "compat/tinynas/original/predictor.hpp"
#include "table/codec.hpp"

namespace oplat::compat::tinynas {

/// A library file with its bytes.
struct LibraryFile {
  std::filesystem::path path;
  std::string bytes;
  std::string precision;  ///< as Setting has it: "fp32"
};

/// The precision of a flag as Setting has it; empty for none. Code::Usage names the words that
/// there are.
Result<std::string> library_precision(const std::string& word);

/// The original's name of a library of a precision, as Setting has it: "conv_data.out.fp16".
std::string library_file_name(std::string_view precision);

/// The file itself, or that of a folder which the original would take: DIR/DEVICE/conv_data.out and
/// a suffix that says the precision, or DIR/conv_data.out... where there is no such folder (with a
/// warning where a device was named that DIR is not called). Without a device V100's, without a
/// precision FP32's.
Result<LibraryFile> open_library(const std::string& path, const std::string& device,
                                 const std::string& precision, std::vector<std::string>& warnings);

/// The times of a library in the file's order, and what was left out of it.
struct LibraryTimes {
  std::vector<LibraryTime> times;
  std::size_t skipped = 0;
  std::vector<std::string> notes;  ///< why, for the first few
};
/// Code::Input names the first malformed row unless `skip_bad_rows`.
Result<LibraryTimes> library_times(const LibraryFile& library, bool skip_bad_rows);

/// The rows of a library as a table takes them.
struct LibraryRows {
  table::Setting setting;
  table::ForeignOrigin origin;
  table::ForeignRead read;
};
/// Code::Input names the first malformed row unless `skip_bad_rows`.
Result<LibraryRows> library_rows(const LibraryFile& library, bool skip_bad_rows);
/// A file name for a table of these rows and their fit: another one for whatever decides what the
/// table holds. A newer oplat leaves tables of an older schema alone.
std::string library_table_name(const LibraryFile& library, bool skip_bad_rows, bool calibrate);

}  // namespace oplat::compat::tinynas
