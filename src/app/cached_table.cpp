// SPDX-License-Identifier: Apache-2.0
/// The cache of tables that were made of foreign files.
#include "app/cached_table.hpp"

#include <unistd.h>

#include <cctype>
#include <chrono>
#include <cstdlib>
#include <system_error>

#include "app/learning.hpp"
#include "compat/registry.hpp"

namespace oplat::app {
namespace {

namespace fs = std::filesystem;

/// std::nullopt if neither variable names an absolute path.
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

/// `has_rows` becomes true once the table is worth keeping, if with a fit that was stopped.
Status write_table(const fs::path& path, const ForeignImport& import, const CacheOptions& options,
                   Events& events, bool& has_rows) {
  OPLAT_TRY(table, table::Table::open(path, table::Mode::Create, compat::codecs()));
  OPLAT_CHECK(table.transaction([&]() -> Status {
    table::Device device;
    device.name = import.device;
    OPLAT_TRY(device_id, table.put_device(device));
    OPLAT_TRY(setting_id, table.put_setting(import.setting));
    return table.add_foreign(device_id, setting_id, import.origin, import.read.file)
        .map([](table::FileId) {});
  }));
  has_rows = true;
  return options.fit ? ensure_fit(table, options.calibrate, events) : Status();
}

/// A running process writes nothing this old: a fit takes minutes, and its progress is not a write.
constexpr auto kLeftBehindAfter = std::chrono::hours(24);

/// What a run that was killed left next to `path`: "NAME.PID", "NAME.PID-journal".
void sweep_beside(const fs::path& path) {
  const std::string prefix = path.filename().string() + ".";
  std::error_code error;
  for (fs::directory_iterator entry(path.parent_path(), error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with(prefix) || name.size() == prefix.size() ||
        std::isdigit(static_cast<unsigned char>(name[prefix.size()])) == 0)
      continue;
    std::error_code ignored;
    const auto written = entry->last_write_time(ignored);
    if (!ignored && fs::file_time_type::clock::now() - written > kLeftBehindAfter)
      fs::remove(entry->path(), ignored);
  }
}

/// Writes next to `path` and renames over it, so that a run at the same time sees a whole table or
/// none.
Status keep_table(const fs::path& path, const ForeignImport& import, const CacheOptions& options,
                  Events& events) {
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  if (error) return fail(Code::Write, "{}: {}", path.parent_path().string(), error.message());
  sweep_beside(path);
  const fs::path beside = path.string() + fmt::format(".{}", ::getpid());
  fs::remove(beside, error);
  bool has_rows = false;
  const Status written = write_table(beside, import, options, events, has_rows);
  const bool stopped = !written && written.error().code == Code::Interrupted;
  if (written || (stopped && has_rows)) fs::rename(beside, path, error);
  if (!error && written) return {};
  if (!error && stopped && has_rows) return written;
  std::error_code ignored;
  fs::remove(beside, ignored);
  if (!written) return written;
  return fail(Code::Write, "{}: {}", path.string(), error.message());
}

/// The fit of a kept table that has none of its rows, or an older one, made now. Where another run
/// writes the table, or nobody may, its rows answer without.
Status fit_kept(const fs::path& path, const CacheOptions& options, Events& events) {
  auto writer = table::Table::open(path, table::Mode::Write, compat::codecs());
  if (!writer && writer.error().code == Code::Refused) {
    events.warn(fmt::format(
        "the fit was not updated; unmeasured kernels get no estimate, or that of an older fit: {}",
        writer.error().message));
    return {};
  }
  if (!writer) return fail(writer.error());
  return ensure_fit(*writer, options.calibrate, events);
}

/// The kept table, whole and of this file. std::nullopt if there is none, or none that is worth
/// keeping.
Result<std::optional<table::Table>> table_in_cache(const fs::path& path, const CacheSource& source,
                                                   const CacheOptions& options, Events& events) {
  std::error_code error;
  if (!fs::exists(path, error)) return std::nullopt;
  const auto check = [&]() -> Result<table::Table> {
    OPLAT_TRY(table, table::Table::open(path, table::Mode::Read, compat::codecs()));
    OPLAT_TRY(files, table.foreign_files());
    if (files.size() != 1 || files.front().origin.hash != source.hash)
      return fail(Code::Input, "{}: its rows come from another source than its name says",
                  path.string());
    OPLAT_TRY(fitted, has_fit(table));
    if (fitted || !options.fit) return std::move(table);
    OPLAT_CHECK(fit_kept(path, options, events));
    return table::Table::open(path, table::Mode::Read, compat::codecs());
  };
  auto table = check();
  if (table) return std::optional(std::move(*table));
  if (table.error().code == Code::Interrupted) return fail(table.error());
  events.warn(fmt::format("rebuilding the cached table of {}: {}", source.path.string(),
                          table.error().message));
  fs::remove(path, error);
  return std::optional<table::Table>();
}

}  // namespace

Result<CachedTable> open_cached_table(const CacheSource& source, const CacheOptions& options,
                                      Events& events) {
  std::optional<ForeignImport> import;
  if (source.skips_bad_rows) {
    OPLAT_TRY(read, source.read());
    warn_of_skipped(source.path, read.read.skipped, read.read.notes, events);
    import = std::move(read);
  }
  const auto folder = cache_folder();
  if (folder) {
    OPLAT_TRY(kept, table_in_cache(*folder / source.name, source, options, events));
    if (kept) return CachedTable{std::nullopt, std::move(*kept)};
  }
  if (!import) {
    OPLAT_TRY(read, source.read());
    import = std::move(read);
  }
  const Status written =
      folder ? keep_table(*folder / source.name, *import, options, events)
             : Status(fail(Code::Write, "neither XDG_CACHE_HOME nor HOME is set to a folder"));
  if (written) {
    OPLAT_TRY(table,
              table::Table::open(*folder / source.name, table::Mode::Read, compat::codecs()));
    return CachedTable{std::nullopt, std::move(table)};
  }
  if (written.error().code == Code::Interrupted) return fail(written.error());
  events.warn(fmt::format("cannot cache the table of {}: {}", source.path.string(),
                          written.error().message));
  OPLAT_TRY(temporary, base::TemporaryFolder::create("oplat-table"));
  bool has_rows = false;
  OPLAT_CHECK(write_table(temporary.path() / source.name, *import, options, events, has_rows));
  OPLAT_TRY(table, table::Table::open(temporary.path() / source.name, table::Mode::Read,
                                      compat::codecs()));
  return CachedTable{std::move(temporary), std::move(table)};
}

Status fit_cached_table(CachedTable& kept, const CacheOptions& options, Events& events) {
  OPLAT_TRY(fitted, has_fit(kept.table));
  if (fitted) return {};
  const fs::path path = kept.table.path();
  OPLAT_CHECK(fit_kept(path, options, events));
  OPLAT_TRY(table, table::Table::open(path, table::Mode::Read, compat::codecs()));
  kept.table = std::move(table);
  return {};
}

void warn_of_skipped(const fs::path& path, std::size_t skipped,
                     const std::vector<std::string>& notes, Events& events) {
  if (skipped == 0) return;
  std::string lines;
  for (const std::string& note : notes) lines += "\n  " + note;
  if (skipped > notes.size()) lines += fmt::format("\n  and {} more", skipped - notes.size());
  events.warn(fmt::format("{}: {} malformed rows are left out:{}", path.string(), skipped, lines));
}

}  // namespace oplat::app
