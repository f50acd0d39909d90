// SPDX-License-Identifier: Apache-2.0
/// Finding, unpacking and reading.
#include "compat/mobile_vision/lut_files.hpp"

#include <system_error>
#include <utility>
#include <vector>

#include "base/files.hpp"
#include "base/text.hpp"
#include "compat/mobile_vision/nets.hpp"
#include "compat/mobile_vision/zip_file.hpp"

namespace oplat::compat::mobile_vision {
namespace {

namespace fs = std::filesystem;

/// A million records and more.
constexpr std::uint64_t kMaxBytes = std::uint64_t{512} << 20;

}  // namespace

Result<fs::path> find_lut(const std::string& folder, const std::string& device) {
  if (device.empty() || device.find('/') != std::string::npos) {
    return fail(
        Code::Usage,
        "--device {}: cannot be part of a file name; expected a name such as SM-G950U-7.0-24",
        base::printable(device));
  }
  std::vector<std::string> names;
  for (const char* const suffix : {".json", "_caffe2.json", ".json.zip", "_caffe2.json.zip"}) {
    names.push_back(fmt::format("{}-op_lut_database{}", device, suffix));
    std::error_code error;
    if (fs::is_regular_file(fs::path(folder) / names.back(), error))
      return fs::path(folder) / names.back();
  }
  return fail(
      Code::Input,
      "{}: has no look-up table of device {} (none of {}); choose another --db_dir or --device",
      folder, base::printable(device), base::printable(base::join(names, ", "), 600));
}

Result<LutFile> open_lut(const fs::path& path, bool skip_bad_rows) {
  LutFile file;
  file.path = path;
  OPLAT_TRY(bytes, base::read_file(path, kMaxBytes));
  file.bytes = std::move(bytes);
  OPLAT_CHECK(refuse_lfs_pointer(file.bytes, path.string()));
  if (is_zip(file.bytes)) {
    OPLAT_TRY(unpacked, unzip(file.bytes, ".json", kMaxBytes, path.string()));
    file.bytes = std::move(unpacked);
  }
  OPLAT_TRY(lut, read_lut(file.bytes, path.string(), skip_bad_rows));
  file.lut = std::move(lut);
  return file;
}

}  // namespace oplat::compat::mobile_vision
