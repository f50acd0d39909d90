// SPDX-License-Identifier: Apache-2.0
/// Files of runtime_lut: where the original looks for them, zipped or not.
#pragma once

#include <filesystem>
#include <string>

#include "base/result.hpp"
#include "compat/mobile_vision/lut.hpp"

namespace oplat::compat::mobile_vision {

/// A file with its records, which point into its bytes.
struct LutFile {
  std::filesystem::path path;
  std::string bytes;  ///< unpacked
  Lut lut;
  LutFile() = default;
  LutFile(const LutFile&) = delete;
  LutFile& operator=(const LutFile&) = delete;
  // Short texts stand inside a string and move with it, but no record is that short.
  LutFile(LutFile&&) = default;
  LutFile& operator=(LutFile&&) = default;
};

/// DIR/DEVICE-op_lut_database.json, DIR/DEVICE-op_lut_database_caffe2.json, or one of them zipped
/// (.json.zip).
Result<std::filesystem::path> find_lut(const std::string& folder, const std::string& device);
/// A file, or the one *.json of a zip archive.
Result<LutFile> open_lut(const std::filesystem::path& path, bool skip_bad_rows);

}  // namespace oplat::compat::mobile_vision
