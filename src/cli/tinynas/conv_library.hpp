// SPDX-License-Identifier: Apache-2.0
/// TinyNAS libraries for `oplat tinynas predict`: which file, its rows, and its rows as a table.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/cached_table.hpp"
#include "base/files.hpp"
#include "base/result.hpp"
#include "compat/tinynas/original/predictor.hpp"
#include "table/table.hpp"

namespace oplat::cli {

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

/// In the file's order.
Result<std::vector<compat::tinynas::LibraryTime>> library_times(const LibraryFile& library,
                                                                bool skip_bad_rows,
                                                                app::Events& events);

/// The library's rows as a table that is kept; see app::open_cached_table.
Result<app::CachedTable> library_table(const LibraryFile& library, bool skip_bad_rows,
                                       const app::CacheOptions& options, app::Events& events);

}  // namespace oplat::cli
