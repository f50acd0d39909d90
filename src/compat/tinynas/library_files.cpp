// SPDX-License-Identifier: Apache-2.0
/// Finding and reading libraries.
#include "compat/tinynas/library_files.hpp"

#include <algorithm>
#include <system_error>

#include "base/hash.hpp"
#include "base/text.hpp"
#include "compat/tinynas/codec.hpp"
#include "compat/tinynas/library.hpp"
#include "table/table.hpp"

namespace oplat::compat::tinynas {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFormat = "tinynas";
constexpr std::string_view kFileName = "conv_data.out";
constexpr std::string_view kDefaultDevice = "V100";

/// The original's file of a precision in a device's folder.
struct Suffix {
  std::string_view precision;
  std::string_view suffix;
};
constexpr Suffix kSuffixes[] = {{"fp32", ""},
                                {"fp16", ".fp16"},
                                {"fp16_damoyolo", ".fp16.damoyolo"},
                                {"int8", ".int8"},
                                {"int4", ".int4"}};

/// Another device's library is never taken for that of a device which has a folder here.
Result<fs::path> file_in_folder(const fs::path& folder, const std::string& device,
                                const std::string& precision, std::vector<std::string>& warnings) {
  constexpr std::string_view kWayOut =
      "give the library file itself, or set another --device or --precision";
  const std::string name = library_file_name(precision);
  const std::string of_device =
      (fs::path(device.empty() ? std::string(kDefaultDevice) : device) / name).string();
  std::error_code error;
  if (fs::is_regular_file(folder / of_device, error)) return folder / of_device;
  if (!device.empty() && fs::is_directory(folder / device, error)) {
    return fail(Code::Input, "{}: holds no {}; {}", folder.string(), of_device, kWayOut);
  }
  if (!fs::is_regular_file(folder / name, error)) {
    return fail(Code::Input, "{}: holds neither {} nor {}; {}", folder.string(), of_device, name,
                kWayOut);
  }
  const auto is_named = [&](const fs::path& path) {
    return (path.has_filename() ? path : path.parent_path()).filename() == device;
  };
  if (!device.empty() && !is_named(folder) && !is_named(fs::weakly_canonical(folder, error))) {
    // What lies in no device's folder may be of the default device, if of any.
    if (device != kDefaultDevice)
      return fail(Code::Input, "{}: holds no {}, and {} is not known to be of {}; {}",
                  folder.string(), of_device, name, base::printable(device), kWayOut);
    warnings.push_back(
        fmt::format("{}: assuming device {}, since neither the file nor its folder names one",
                    (folder / name).string(), base::printable(device)));
  }
  return folder / name;
}

}  // namespace

Result<std::string> library_precision(const std::string& word) {
  if (word.empty()) return std::string();
  const table::TableCodec& codec = library_codec();
  OPLAT_TRY(setting, codec.setting(kFileName, word));
  return setting.precision;
}

std::string library_file_name(std::string_view precision) {
  const auto* const known =
      std::find_if(std::begin(kSuffixes), std::end(kSuffixes),
                   [&](const Suffix& suffix) { return suffix.precision == precision; });
  return fmt::format("{}{}", kFileName, known == std::end(kSuffixes) ? "" : known->suffix);
}

Result<LibraryFile> open_library(const std::string& path, const std::string& device,
                                 const std::string& precision, std::vector<std::string>& warnings) {
  OPLAT_TRY(asked, library_precision(precision));
  LibraryFile library;
  library.path = path;
  std::error_code error;
  if (fs::is_directory(library.path, error)) {
    library.precision = asked.empty() ? std::string(kSuffixes[0].precision) : asked;
    OPLAT_TRY(file, file_in_folder(path, device, library.precision, warnings));
    library.path = file;
  } else {
    const table::TableCodec& codec = library_codec();
    OPLAT_TRY(setting, codec.setting(library.path.filename().string(), precision));
    library.precision = setting.precision;
  }
  OPLAT_TRY(bytes, base::read_file(library.path));
  library.bytes = std::move(bytes);
  return library;
}

Result<LibraryTimes> library_times(const LibraryFile& library, bool skip_bad_rows) {
  OPLAT_TRY(read, read_tinynas_library(library.bytes, library.path.string(), skip_bad_rows));
  LibraryTimes times{{}, read.skipped, std::move(read.notes)};
  times.times.reserve(read.rows.size());
  for (const LibraryRow& row : read.rows)
    times.times.push_back({row.conv, row.ns ? *row.ns / 1e6 : -1});
  return times;
}

Result<LibraryRows> library_rows(const LibraryFile& library, bool skip_bad_rows) {
  const std::string name = library.path.filename().string();
  const table::TableCodec& codec = library_codec();
  OPLAT_TRY(setting, codec.setting(name, library.precision));
  OPLAT_TRY(read,
            codec.read(library.bytes, {library.path.string(), setting.precision, skip_bad_rows}));
  return LibraryRows{
      setting, {std::string(kFormat), name, base::hash128(library.bytes)}, std::move(read)};
}

std::string library_table_name(const LibraryFile& library, bool skip_bad_rows, bool calibrate) {
  base::Hasher hasher;
  hasher.add(library.precision);
  hasher.add(skip_bad_rows ? "\nskip\n" : "\n\n");
  if (!calibrate) hasher.add("not calibrated\n");
  hasher.add(library.bytes);
  return fmt::format("tinynas-{}-{}.oplat", table::Table::schema_version(), hasher.finish().hex());
}

}  // namespace oplat::compat::tinynas
