// SPDX-License-Identifier: Apache-2.0
/// Opening: what can be wrong with a file, each case with its own message and way out.
#include "table/opening.hpp"

#include <array>
#include <cstdint>
#include <fstream>
#include <span>
#include <string>
#include <system_error>
#include <utility>

#include "base/shell.hpp"
#include "base/text.hpp"
#include "table/lease.hpp"
#include "table/schema.hpp"

namespace oplat::table {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic("SQLite format 3\0", 16);
// fileformat2.html, table of section 1.3: bytes 18 and 19 are 2 where the file wants a write-ahead
// log.
constexpr std::size_t kWriteVersionAt = 18;
constexpr std::size_t kPageSizeAt = 16;  // two bytes, big-endian; 1 stands for 65536
// fileformat2.html section 3: a journal that belongs to several files ends with their list and this
// magic. SQLite deletes the file that such a list names, so an untrusted journal with one must
// never be played back.
constexpr std::string_view kSuperJournalMagic("\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", 8);
// A writer that recovers the file while it is copied makes the copy worthless; the next attempt
// finds it recovered.
constexpr int kCopyAttempts = 3;

/// What is at a path before SQLite looks at it.
enum class FileStanding { Absent, Empty, Database };

fs::path journal_of(const fs::path& file) { return file.string() + "-journal"; }

/// SQLite itself takes a last page that is cut off for one that ends in zeros.
Status inspect_size(const fs::path& file, const std::string& shown, std::span<const char> header) {
  const auto byte = [&](std::size_t at) { return static_cast<std::uint8_t>(header[at]); };
  const unsigned stated = byte(kPageSizeAt) * 256U + byte(kPageSizeAt + 1);
  const std::uintmax_t page = stated == 1 ? 65536 : stated;
  if (page == 0) return {};  // SQLite refuses it
  std::error_code code;
  const auto size = fs::file_size(file, code);
  // With a journal somebody is writing, or was stopped while writing: the size may be anything.
  if (code || size % page == 0 || fs::exists(journal_of(file), code)) return {};
  // A commit may have ended between the two looks.
  if (fs::file_size(file, code) != size) return {};
  return fail(Code::Input, "{}: corrupt table: truncated after {} bytes, in the middle of a page",
              shown, size);
}

Result<FileStanding> inspect(const fs::path& file, const std::string& shown) {
  std::error_code code;
  const fs::file_status status = fs::status(file, code);
  if (!fs::exists(status)) {
    if (code && code != std::errc::no_such_file_or_directory &&
        code != std::errc::not_a_directory) {
      return fail(Code::Input, "{}: cannot be read: {}", shown, code.message());
    }
    return FileStanding::Absent;
  }
  if (fs::is_directory(status)) return fail(Code::Input, "{}: is a folder, not a table", shown);
  // A named pipe would wait for a writer for ever.
  if (!fs::is_regular_file(status))
    return fail(Code::Input, "{}: is not a regular file; expected a table", shown);
  std::ifstream stream(file, std::ios::binary);
  if (!stream) return fail(Code::Input, "{}: cannot be read; check its permissions", shown);
  std::array<char, 100> header{};
  stream.read(header.data(), header.size());
  const auto size = static_cast<std::size_t>(stream.gcount());
  if (size == 0) return FileStanding::Empty;
  if (!std::string_view(header.data(), size).starts_with(kMagic)) {
    return fail(Code::Input, "{}: is not a table of oplat (not a SQLite database)", shown);
  }
  if (size < header.size())
    return fail(Code::Input, "{}: corrupt table: truncated after {} bytes", shown, size);
  if (header[kWriteVersionAt] == 2 || header[kWriteVersionAt + 1] == 2) {
    return fail(Code::Input,
                "{}: is in write-ahead-log mode, which oplat does not support; change it with: "
                "sqlite3 {} 'PRAGMA journal_mode=DELETE'",
                shown, base::shell_word(shown));
  }
  OPLAT_CHECK(inspect_size(file, shown, header));
  return FileStanding::Database;
}

/// Refuses a journal that SQLite must not play back.
Status inspect_journal(const fs::path& file, const std::string& shown) {
  std::ifstream stream(journal_of(file), std::ios::binary | std::ios::ate);
  if (!stream) return {};
  const auto size = static_cast<std::int64_t>(stream.tellg());
  if (size < static_cast<std::int64_t>(kSuperJournalMagic.size())) return {};
  std::array<char, kSuperJournalMagic.size()> tail{};
  stream.seekg(size - static_cast<std::int64_t>(tail.size()));
  stream.read(tail.data(), tail.size());
  if (!stream || std::string_view(tail.data(), tail.size()) != kSuperJournalMagic) return {};
  return fail(Code::Input,
              "{}: its journal {} names further files, which a journal of oplat never does; remove "
              "the journal if you trust the table",
              shown, base::printable(journal_of(file).string(), 200));
}

std::string stamp(const fs::path& file) {
  std::error_code code;
  const auto size = fs::file_size(file, code);
  if (code) return "absent";
  const auto time = fs::last_write_time(file, code);
  return fmt::format("{} {}", size, time.time_since_epoch().count());
}

/// Copies a table with its journal, so that a rollback can be done without writing to the original.
Result<base::TemporaryFolder> copy_with_journal(const fs::path& file, const std::string& shown) {
  OPLAT_TRY(folder, base::TemporaryFolder::create("oplat-table"));
  const fs::path to = folder.path() / "table.oplat";
  for (int attempt = 0; attempt < kCopyAttempts; ++attempt) {
    const std::string before = stamp(file) + stamp(journal_of(file));
    std::error_code code;
    fs::remove(journal_of(to), code);
    fs::copy_file(file, to, fs::copy_options::overwrite_existing, code);
    if (code)
      return fail(Code::Write, "{}: cannot be copied to {}: {}", shown, to.string(),
                  code.message());
    if (fs::is_regular_file(journal_of(file), code))
      fs::copy_file(journal_of(file), journal_of(to), code);
    if (code) return fail(Code::Input, "{}: its journal cannot be read: {}", shown, code.message());
    if (before == stamp(file) + stamp(journal_of(file))) return std::move(folder);
  }
  return fail(Code::Refused, "{}: changed while it was read; try again", shown);
}

/// What a connection needs before the file's content is asked for.
Status settle(Database& database, Mode mode) {
  OPLAT_CHECK(database.execute("PRAGMA cell_size_check = ON"));
  if (mode == Mode::Read) return database.execute("PRAGMA query_only = ON");
  if (sqlite3_db_readonly(database.handle(), "main") != 0) return database.error(SQLITE_READONLY);
  return database.execute("PRAGMA journal_mode = DELETE; PRAGMA synchronous = FULL");
}

/// The schema version, once it is sure that the file is a table of oplat.
Result<std::int64_t> version_of(Database& database) {
  OPLAT_TRY(application, database.integer("PRAGMA application_id"));
  if (application != kApplicationId) {
    return fail(Code::Input,
                "{}: is not a table of oplat, but a SQLite database of another application "
                "(application_id {})",
                database.shown(), application);
  }
  OPLAT_TRY(version, database.integer("PRAGMA user_version"));
  if (version > kSchemaVersion) {
    return fail(Code::Refused,
                "{}: its schema {} is newer than {}, the newest that this oplat supports; use a "
                "newer oplat",
                database.shown(), version, kSchemaVersion);
  }
  return version;
}

/// Creates the schema, unless another process did so in the meantime.
Status initialise(Database& database) {
  OPLAT_CHECK(database.execute("BEGIN IMMEDIATE"));
  auto objects = database.integer("SELECT coalesce(sum(1), 0) FROM sqlite_master");
  Status made = !objects        ? Status(fail(objects.error()))
                : *objects == 0 ? create_schema(database)
                                : Status{};
  if (made) made = database.execute("COMMIT");
  if (database.in_transaction()) static_cast<void>(database.execute("ROLLBACK"));
  return made;
}

Result<OpenedDatabase> migrate_for_reading(OpenedDatabase old, std::span<const Migration> steps) {
  OPLAT_TRY(folder, base::TemporaryFolder::create("oplat-table"));
  const fs::path to = folder.path() / "table.oplat";
  OPLAT_CHECK(migrate_copy(*old.database, to, steps));
  OPLAT_TRY(database, Database::open(to.string(), Database::Access::Read, old.database->shown()));
  OPLAT_CHECK(settle(*database, Mode::Read));
  return OpenedDatabase{std::move(database), std::move(folder)};
}

/// "NAME.schemaN" for the old file, or "NAME.schemaN.2" and so on: files of earlier migrations
/// stay.
fs::path name_to_keep(const fs::path& file, std::int64_t version) {
  const std::string first = fmt::format("{}.schema{}", file.string(), version);
  fs::path name = first;
  std::error_code code;
  for (int i = 2; fs::exists(fs::symlink_status(name, code)) && !fs::equivalent(file, name, code);
       ++i)
    name = fmt::format("{}.{}", first, i);
  return name;
}

/// Puts `made` in the place of the table, which `source` has open and which stays as `kept`. Where
/// that fails all is as it was.
Status replace_by(const fs::path& made, Database& source, const fs::path& file,
                  const fs::path& kept) {
  std::error_code ignored;
  if (const Status done = keep_file(source, file, kept); !done) {
    fs::remove(made, ignored);
    return fail(Code::Write, "{}: the file of its older schema cannot be kept as {}: {}",
                source.shown(), base::printable(kept.filename().string(), 400),
                done.error().message);
  }
  std::error_code code;
  fs::rename(made, file, code);
  if (!code) return {};
  fs::remove(made, ignored);
  fs::remove(kept, ignored);
  return fail(Code::Write, "{}: cannot be replaced by its migrated copy: {}", source.shown(),
              code.message());
}

/// Puts the migrated copy in the table's place and keeps the old file next to it.
Result<OpenedDatabase> migrate_for_writing(OpenedDatabase old, const fs::path& file,
                                           std::int64_t version, std::span<const Migration> steps) {
  const std::string shown = old.database->shown();
  const fs::path made = file.string() + ".migrating";
  std::error_code code;
  // Shuts writers out until the new file is in its place. One that is between two of its blocks
  // keeps the table.
  OPLAT_CHECK(old.database->execute("BEGIN IMMEDIATE"));
  OPLAT_CHECK(Lease::check_free(*old.database));
  // A second connection, since SQLite copies from none that has a transaction open for writing.
  OPLAT_TRY(source, Database::open(file.string(), Database::Access::Read, shown));
  OPLAT_TRY(standing, source->integer("PRAGMA user_version"));
  if (standing != version) {
    return fail(Code::Refused,
                "{}: another process migrated it to schema {} meanwhile; run this again", shown,
                standing);
  }
  fs::remove(made, code);
  if (const Status migrated = migrate_copy(*source, made, steps); !migrated) {
    fs::remove(made, code);
    return fail(migrated.error());
  }
  OPLAT_CHECK(replace_by(made, *source, file, name_to_keep(file, version)));
  source.reset();
  old.database.reset();
  OPLAT_TRY(database, Database::open(file.string(), Database::Access::Write, shown));
  OPLAT_CHECK(settle(*database, Mode::Write));
  return OpenedDatabase{std::move(database), std::nullopt};
}

/// Opens for reading where the last writer was killed in the middle of a commit: the rollback
/// happens on a copy.
Result<OpenedDatabase> open_rolled_back(const fs::path& file, const std::string& shown) {
  OPLAT_TRY(folder, copy_with_journal(file, shown));
  const std::string copy = (folder.path() / "table.oplat").string();
  OPLAT_CHECK(inspect_journal(copy, shown));
  {
    OPLAT_TRY(writable, Database::open(copy, Database::Access::Write, shown));
    OPLAT_CHECK(writable->integer("PRAGMA user_version"));
  }
  OPLAT_TRY(database, Database::open(copy, Database::Access::Read, shown));
  OPLAT_CHECK(settle(*database, Mode::Read));
  return OpenedDatabase{std::move(database), std::move(folder)};
}

Result<OpenedDatabase> open_for_reading(const fs::path& file, const std::string& shown) {
  OPLAT_TRY(database, Database::open(file.string(), Database::Access::Read, shown));
  OPLAT_CHECK(settle(*database, Mode::Read));
  const auto version = database->integer("PRAGMA user_version");
  if (version) return OpenedDatabase{std::move(database), std::nullopt};
  const int code = database->last_code();
  std::error_code no_journal;
  const bool journal = fs::file_size(journal_of(file), no_journal) > 0 && !no_journal;
  if (journal && ((code & 0xff) == SQLITE_READONLY || (code & 0xff) == SQLITE_CANTOPEN)) {
    database.reset();
    return open_rolled_back(file, shown);
  }
  return fail(version.error());
}

}  // namespace

Result<OpenedDatabase> open_database(const fs::path& path, Mode mode,
                                     std::span<const Migration> steps) {
  const std::string shown = base::printable(path.string(), 400);
  if (path.empty() || path.string().find('\0') != std::string::npos) {
    return fail(Code::Input, "'{}': is not a file name", shown);
  }
  std::error_code code;
  // Absolute, so that a name such as "file:x?mode=..." or ":memory:" is a file's name and nothing
  // else; resolved, since SQLite keeps the journal next to the file that a link leads to.
  const fs::path file = fs::weakly_canonical(fs::absolute(path, code), code);
  if (code) return fail(Code::Input, "{}: {}", shown, code.message());
  OPLAT_TRY(standing, inspect(file, shown));
  if (standing != FileStanding::Database && mode != Mode::Create) {
    if (standing == FileStanding::Empty) {
      return fail(Code::Input,
                  "{}: is an empty file, not a table; make one with oplat profile --table {}, or "
                  "from a foreign table with oplat import",
                  shown, base::shell_word(shown));
    }
    return fail(Code::Input,
                "{}: no such table; make one with oplat profile --table {}, or from a foreign "
                "table with oplat import",
                shown, base::shell_word(shown));
  }
  if (standing == FileStanding::Absent && !fs::is_directory(file.parent_path(), code)) {
    return fail(Code::Write, "{}: cannot be created: the folder {} does not exist", shown,
                file.parent_path().string());
  }
  OpenedDatabase opened;
  if (mode == Mode::Read) {
    OPLAT_TRY(read, open_for_reading(file, shown));
    opened = std::move(read);
  } else {
    OPLAT_CHECK(inspect_journal(file, shown));
    const auto access = mode == Mode::Create ? Database::Access::Create : Database::Access::Write;
    OPLAT_TRY(database, Database::open(file.string(), access, shown));
    OPLAT_CHECK(settle(*database, mode));
    if (standing != FileStanding::Database) OPLAT_CHECK(initialise(*database));
    opened.database = std::move(database);
  }
  OPLAT_TRY(version, version_of(*opened.database));
  if (version < kSchemaVersion) {
    OPLAT_TRY(migrated, mode == Mode::Read
                            ? migrate_for_reading(std::move(opened), steps)
                            : migrate_for_writing(std::move(opened), file, version, steps));
    opened = std::move(migrated);
  }
  OPLAT_CHECK(verify_schema(*opened.database));
  return opened;
}

}  // namespace oplat::table
