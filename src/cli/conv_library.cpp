// SPDX-License-Identifier: Apache-2.0
/// Finding and reading libraries, and the cache of their tables.
#include "cli/conv_library.hpp"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <system_error>

#include "cli/library_fit.hpp"
#include "oplat/table/codec.hpp"
#include "oplat/table/tinynas_library.hpp"

namespace oplat::cli {
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
constexpr Suffix kSuffixes[] = {
    {"fp32", ""}, {"fp16", ".fp16"}, {"fp16_damoyolo", ".fp16.damoyolo"}, {"int8", ".int8"}, {"int4", ".int4"}};

Result<fs::path> file_in_folder(const fs::path& folder, const std::string& device, const std::string& precision) {
  const std::string name = library_file_name(precision);
  const fs::path of_device = folder / (device.empty() ? std::string(kDefaultDevice) : device) / name;
  std::error_code error;
  for (const fs::path& path : {of_device, folder / name})
    if (fs::is_regular_file(path, error)) return path;
  return fail(Code::Input,
              "{}: holds neither {} nor {}; give the library file itself, or another --device or --precision",
              folder.string(), fs::relative(of_device, folder, error).string(), name);
}

void warn_of_skipped(const fs::path& path, std::size_t skipped, const std::vector<std::string>& notes,
                     std::vector<std::string>& warnings) {
  if (skipped == 0) return;
  std::string lines;
  for (const std::string& note : notes) lines += "\n  " + note;
  if (skipped > notes.size()) lines += fmt::format("\n  and {} more", skipped - notes.size());
  warnings.push_back(fmt::format("{}: {} malformed rows are left out:{}", path.string(), skipped, lines));
}

/// Nothing where neither variable names an absolute path.
std::optional<fs::path> cache_folder() {
  const auto absolute = [](const char* name) -> std::optional<fs::path> {
    const char* value = std::getenv(name);
    if (value == nullptr || !fs::path(value).is_absolute()) return std::nullopt;
    return fs::path(value);
  };
  if (const auto cache = absolute("XDG_CACHE_HOME")) return *cache / "oplat";
  if (const auto home = absolute("HOME")) return *home / ".cache" / "oplat";
  return std::nullopt;
}

/// What decides the table's content. A newer oplat leaves the tables of an older one alone.
std::string table_name(const LibraryFile& library, bool skip_bad_rows, bool calibrate) {
  base::Hasher hasher;
  hasher.add(library.precision);
  hasher.add(skip_bad_rows ? "\nskip\n" : "\n\n");
  if (!calibrate) hasher.add("not calibrated\n");
  hasher.add(library.bytes);
  return fmt::format("tinynas-{}-{}.oplat", table::Table::schema_version(), hasher.finish().hex());
}

/// A library ready to be stored.
struct Import {
  table::Setting setting;
  table::ForeignOrigin origin;
  table::ForeignFile file;
};

Result<Import> read_import(const LibraryFile& library, bool skip_bad_rows, std::vector<std::string>& warnings) {
  const std::string name = library.path.filename().string();
  OPLAT_TRY(codec, table::make_codec(kFormat));
  OPLAT_TRY(setting, codec->setting(name, library.precision));
  OPLAT_TRY(read, codec->read(library.bytes, {library.path.string(), setting.precision, skip_bad_rows}));
  warn_of_skipped(library.path, read.skipped, read.notes, warnings);
  return Import{setting, {std::string(kFormat), name, base::hash128(library.bytes)}, std::move(read.file)};
}

Status write_table(const fs::path& path, const Import& import, const LibraryWish& wish) {
  OPLAT_TRY(table, table::Table::open(path, table::Mode::Create));
  OPLAT_CHECK(table.transaction([&]() -> Status {
    table::Device device;
    device.name = "library";
    OPLAT_TRY(device_id, table.put_device(device));
    OPLAT_TRY(setting_id, table.put_setting(import.setting));
    return table.add_foreign(device_id, setting_id, import.origin, import.file).map([](table::FileId) {});
  }));
  return ensure_fit(table, wish.calibrate, wish.loudness);
}

/// Writes beside `path` and renames over it, so that a run at the same time sees a whole table or none.
Status keep_table(const fs::path& path, const Import& import, const LibraryWish& wish) {
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  if (error) return fail(Code::Write, "{}: {}", path.parent_path().string(), error.message());
  const fs::path beside = path.string() + fmt::format(".{}", ::getpid());
  fs::remove(beside, error);
  const Status written = write_table(beside, import, wish);
  if (written) fs::rename(beside, path, error);
  if (written && !error) return {};
  std::error_code ignored;
  fs::remove(beside, ignored);
  if (!written) return written;
  return fail(Code::Write, "{}: {}", path.string(), error.message());
}

/// The fit of a kept table that has none of its rows, made now. Where another run writes the table, or nobody may, its
/// rows answer without.
Status fit_kept(const fs::path& path, const LibraryWish& wish, std::vector<std::string>& warnings) {
  auto writer = table::Table::open(path, table::Mode::Write);
  if (!writer && writer.error().code == Code::Refused) {
    warnings.push_back(fmt::format("only measured convolutions have an answer: {}", writer.error().message));
    return {};
  }
  if (!writer) return fail(writer.error());
  return ensure_fit(*writer, wish.calibrate, wish.loudness);
}

/// The kept table, whole and of this library. Nothing where there is none, or none that is worth keeping.
Result<std::optional<table::Table>> kept_table(const fs::path& path, const LibraryFile& library,
                                               const LibraryWish& wish, std::vector<std::string>& warnings) {
  std::error_code error;
  if (!fs::exists(path, error)) return std::nullopt;
  const auto check = [&]() -> Result<table::Table> {
    OPLAT_TRY(table, table::Table::open(path, table::Mode::Read));
    OPLAT_TRY(files, table.foreign_files());
    if (files.size() != 1 || files.front().origin.hash != base::hash128(library.bytes))
      return fail(Code::Input, "{}: holds other rows than its name says", path.string());
    OPLAT_TRY(fitted, has_fit(table));
    if (fitted) return std::move(table);
    OPLAT_CHECK(fit_kept(path, wish, warnings));
    return table::Table::open(path, table::Mode::Read);
  };
  auto table = check();
  if (table) return std::optional(std::move(*table));
  if (table.error().code == Code::Interrupted) return fail(table.error());
  warnings.push_back(
      fmt::format("the kept table of {} is made anew: {}", library.path.string(), table.error().message));
  fs::remove(path, error);
  return std::optional<table::Table>();
}

}  // namespace

Result<std::string> library_precision(const std::string& word) {
  if (word.empty()) return std::string();
  OPLAT_TRY(codec, table::make_codec(kFormat));
  OPLAT_TRY(setting, codec->setting(kFileName, word));
  return setting.precision;
}

std::string library_file_name(std::string_view precision) {
  const auto* const known = std::find_if(std::begin(kSuffixes), std::end(kSuffixes),
                                         [&](const Suffix& suffix) { return suffix.precision == precision; });
  return fmt::format("{}{}", kFileName, known == std::end(kSuffixes) ? "" : known->suffix);
}

Result<LibraryFile> open_library(const std::string& path, const std::string& device, const std::string& precision) {
  OPLAT_TRY(asked, library_precision(precision));
  LibraryFile library;
  library.path = path;
  std::error_code error;
  if (fs::is_directory(library.path, error)) {
    library.precision = asked.empty() ? std::string(kSuffixes[0].precision) : asked;
    OPLAT_TRY(file, file_in_folder(path, device, library.precision));
    library.path = file;
  } else {
    OPLAT_TRY(codec, table::make_codec(kFormat));
    OPLAT_TRY(setting, codec->setting(library.path.filename().string(), precision));
    library.precision = setting.precision;
  }
  OPLAT_TRY(bytes, base::read_file(library.path));
  library.bytes = std::move(bytes);
  return library;
}

Result<std::vector<estimate::LibraryTime>> library_times(const LibraryFile& library, bool skip_bad_rows,
                                                         std::vector<std::string>& warnings) {
  OPLAT_TRY(read, table::read_tinynas_library(library.bytes, library.path.string(), skip_bad_rows));
  warn_of_skipped(library.path, read.skipped, read.notes, warnings);
  std::vector<estimate::LibraryTime> times;
  times.reserve(read.rows.size());
  for (const table::LibraryRow& row : read.rows) times.push_back({row.conv, row.ns ? *row.ns / 1e6 : -1});
  return times;
}

Result<LibraryTable> library_table(const LibraryFile& library, bool skip_bad_rows, const LibraryWish& wish,
                                   std::vector<std::string>& warnings) {
  const auto folder = cache_folder();
  const std::string name = table_name(library, skip_bad_rows, wish.calibrate);
  if (folder) {
    OPLAT_TRY(kept, kept_table(*folder / name, library, wish, warnings));
    if (kept) return LibraryTable{std::nullopt, std::move(*kept)};
  }
  OPLAT_TRY(import, read_import(library, skip_bad_rows, warnings));
  const Status written = folder ? keep_table(*folder / name, import, wish)
                                : Status(fail(Code::Write, "neither XDG_CACHE_HOME nor HOME names a folder"));
  if (written) {
    OPLAT_TRY(table, table::Table::open(*folder / name, table::Mode::Read));
    return LibraryTable{std::nullopt, std::move(table)};
  }
  if (written.error().code == Code::Interrupted) return fail(written.error());
  warnings.push_back(fmt::format("the table of {} cannot be kept for the next time: {}", library.path.string(),
                                 written.error().message));
  OPLAT_TRY(temporary, base::TemporaryFolder::create("oplat-tinynas"));
  OPLAT_CHECK(write_table(temporary.path() / name, import, wish));
  OPLAT_TRY(table, table::Table::open(temporary.path() / name, table::Mode::Read));
  return LibraryTable{std::move(temporary), std::move(table)};
}

}  // namespace oplat::cli
