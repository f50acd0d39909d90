// SPDX-License-Identifier: Apache-2.0
/// Everything that is not a table of ours is refused with the right code and a message that says
/// what it is.
#include <sys/stat.h>
#include <unistd.h>

#include "table_fixture.hpp"

namespace oplat::table {
namespace {

using BadFile = TableTest;

TEST_F(BadFile, Absent) {
  for (const Mode mode : {Mode::Read, Mode::Write}) {
    expect_error(Table::open(file(), mode), Code::Input, file().string() + ": no such table");
    expect_error(Table::open(file(), mode), Code::Input, "make one with oplat profile");
    expect_error(Table::open(file() / "deeper", mode), Code::Input, "no such table");
  }
  EXPECT_FALSE(std::filesystem::exists(file()));
  expect_error(Table::open(folder_.path() / "none" / "t.oplat", Mode::Create), Code::Write,
               "the folder ");
}

TEST_F(BadFile, NoName) {
  for (const Mode mode : {Mode::Read, Mode::Write, Mode::Create}) {
    expect_error(Table::open("", mode), Code::Input, "not a file name");
    expect_error(Table::open(file().string() + std::string("\0x", 2), mode), Code::Input,
                 "not a file name");
  }
}

TEST_F(BadFile, Folder) {
  for (const Mode mode : {Mode::Read, Mode::Write, Mode::Create}) {
    expect_error(Table::open(folder_.path(), mode), Code::Input, "is a folder");
  }
}

TEST_F(BadFile, NamedPipeDoesNotWait) {
  ASSERT_EQ(mkfifo(file().c_str(), 0600), 0);
  for (const Mode mode : {Mode::Read, Mode::Write, Mode::Create}) {
    expect_error(Table::open(file(), mode), Code::Input, "not a regular file");
  }
}

TEST_F(BadFile, EmptyIsATableOnlyForCreate) {
  write_bytes(file(), "");
  for (const Mode mode : {Mode::Read, Mode::Write}) {
    expect_error(Table::open(file(), mode), Code::Input, "an empty file");
  }
  EXPECT_EQ(std::filesystem::file_size(file()), 0U);
  must_open(file(), Mode::Create);
  must_open(file(), Mode::Read);
}

TEST_F(BadFile, NoDatabase) {
  for (const std::string& bytes :
       {std::string("x"), std::string(5000, 'a'), std::string("SQLite format 2\0", 16)}) {
    write_bytes(file(), bytes);
    for (const Mode mode : {Mode::Read, Mode::Write, Mode::Create}) {
      expect_error(Table::open(file(), mode), Code::Input,
                   "is not a table of oplat (not a SQLite database)");
    }
    EXPECT_EQ(read_bytes(file()), bytes);
  }
}

TEST_F(BadFile, HeaderOnly) {
  const std::string magic("SQLite format 3\0", 16);
  write_bytes(file(), magic);
  expect_error(Table::open(file(), Mode::Read), Code::Input, "truncated after 16 bytes");
  write_bytes(file(), magic + std::string(4080, '\0'));
  for (const Mode mode : {Mode::Read, Mode::Write, Mode::Create}) {
    expect_error(Table::open(file(), mode), Code::Input, "not a table of oplat");
  }
}

TEST_F(BadFile, AnotherApplication) {
  raw(file(), "CREATE TABLE device(id INTEGER PRIMARY KEY); PRAGMA application_id = 252006674");
  for (const Mode mode : {Mode::Read, Mode::Write, Mode::Create}) {
    expect_error(Table::open(file(), mode), Code::Input,
                 "another application (application_id 252006674)");
  }
}

TEST_F(BadFile, NewerSchemaIsRefused) {
  fill();
  raw(file(), "PRAGMA user_version = 6");
  const std::string before = read_bytes(file());
  for (const Mode mode : {Mode::Read, Mode::Write, Mode::Create}) {
    expect_error(Table::open(file(), mode), Code::Refused, "schema 6 is newer than 5");
  }
  EXPECT_EQ(read_bytes(file()), before);
}

TEST_F(BadFile, WriteAheadLog) {
  fill();
  raw(file(), "PRAGMA journal_mode = WAL");
  for (const Mode mode : {Mode::Read, Mode::Write, Mode::Create}) {
    expect_error(Table::open(file(), mode), Code::Input, "PRAGMA journal_mode=DELETE");
  }
  raw(file(), "PRAGMA journal_mode = DELETE");
  must_open(file(), Mode::Write);
}

TEST_F(BadFile, StrangeSchemas) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"DROP TABLE block", "the table block is missing"},
      {"DROP INDEX row_own", "the index row_own is missing"},
      {"DROP INDEX row_own; CREATE INDEX row_own ON row(kernel)", "index row_own differs"},
      {"CREATE TRIGGER t AFTER INSERT ON row BEGIN DELETE FROM kernel; END", "the trigger t"},
      {"CREATE VIEW v AS SELECT 1", "the view v"},
      {"DROP TABLE fit; CREATE VIEW fit AS SELECT 1 AS id", "the view fit"},
      {"DROP TABLE fit; CREATE VIRTUAL TABLE fit USING fts5(format, seed, rows_hash, blob)",
       "fit is a virtual table"},
      {"ALTER TABLE block DROP COLUMN pass", "table block has no column pass"},
      {"DROP TABLE fit; CREATE TABLE fit(id INTEGER PRIMARY KEY, format TEXT, seed TEXT, rows_hash "
       "BLOB, blob TEXT)",
       "column blob is declared as TEXT; expected BLOB"},
      {"DROP TABLE fit; CREATE TABLE fit(id INTEGER PRIMARY KEY, format TEXT, seed TEXT, rows_hash "
       "BLOB, "
       "blob BLOB AS (zeroblob(900000000)))",
       "column blob is generated"},
      {"ALTER TABLE row ADD COLUMN extra AS (zeroblob(900000000))", "column extra is generated"},
  };
  fill();
  const std::string sound = read_bytes(file());
  for (const auto& [sql, part] : cases) {
    SCOPED_TRACE(sql);
    write_bytes(file(), sound);
    raw(file(), sql);
    for (const Mode mode : {Mode::Read, Mode::Write, Mode::Create}) {
      expect_error(Table::open(file(), mode), Code::Input, part);
    }
  }
}

TEST_F(BadFile, AdditionsOfALaterMinorVersionAreNoMatter) {
  fill();
  raw(file(),
      "ALTER TABLE row ADD COLUMN power_mw REAL; CREATE TABLE energy(id INTEGER PRIMARY KEY); "
      "CREATE INDEX row_reuse ON row(reuse_bytes)");
  must(read_everything(must_open(file(), Mode::Read)));
  Table table = must_open(file(), Mode::Write);
  must(table.put_row(1, 1, std::nullopt, sample_row("New{}()->()", 1)));
}

TEST_F(BadFile, NamesThatSqliteWouldReadAsSomethingElse) {
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder_.path());
  for (const std::string name : {":memory:", "file:a?mode=memory", "a%20b", "-x"}) {
    { Table table = must_open(name, Mode::Create); }
    EXPECT_GT(std::filesystem::file_size(folder_.path() / name), 4096U);
    must_open(name, Mode::Read);
  }
  std::filesystem::current_path(before);
}

TEST_F(BadFile, ALinkLeadsToItsTable) {
  fill();
  std::filesystem::create_symlink(file(), file("link"));
  must(read_everything(must_open(file("link"), Mode::Read)));
  Table table = must_open(file("link"), Mode::Write);
  EXPECT_FALSE(Table::open(file(), Mode::Write))
      << "the lease is the table's, whatever name it goes by";
  std::filesystem::remove(file("dangling"));
  std::filesystem::create_symlink(file("nowhere"), file("dangling"));
  expect_error(Table::open(file("dangling"), Mode::Read), Code::Input, "no such table");
}

/// Permissions bind only users other than root, so tests act as another user for a while.
class AsNobody {
 public:
  AsNobody() {
    if (geteuid() == 0) changed_ = seteuid(65534) == 0;
  }
  ~AsNobody() {
    if (changed_ && seteuid(0) != 0) std::abort();
  }
  AsNobody(const AsNobody&) = delete;
  AsNobody& operator=(const AsNobody&) = delete;
  [[nodiscard]] static bool possible() {
    const AsNobody nobody;
    return geteuid() != 0;
  }

 private:
  bool changed_ = false;
};

TEST_F(BadFile, ReadOnlyFileAndFolder) {
  if (!AsNobody::possible()) GTEST_SKIP() << "root here, and no other user to act as";
  fill();
  namespace fs = std::filesystem;
  fs::permissions(folder_.path(), fs::perms(0555));
  fs::permissions(file(), fs::perms(0444));
  {
    const AsNobody nobody;
    must(read_everything(must_open(file(), Mode::Read)));
    expect_error(Table::open(file(), Mode::Write), Code::Refused, "not writable");
    expect_error(Table::open(file(), Mode::Create), Code::Refused, "not writable");
    expect_error(Table::open(file("new"), Mode::Create), Code::Refused,
                 "cannot be opened for writing");
  }
  // The file may be written, its folder not: there is no place for the journal.
  fs::permissions(file(), fs::perms(0666));
  {
    const AsNobody nobody;
    const auto table = Table::open(file(), Mode::Write);
    ASSERT_FALSE(table);
    EXPECT_EQ(static_cast<int>(table.error().code), static_cast<int>(Code::Refused))
        << table.error().message;
    EXPECT_NE(table.error().message.find("folder"), std::string::npos) << table.error().message;
  }
  fs::permissions(file(), fs::perms(0000));
  {
    const AsNobody nobody;
    expect_error(Table::open(file(), Mode::Read), Code::Input, "cannot be read");
  }
  fs::permissions(folder_.path(), fs::perms(0755));
}

}  // namespace
}  // namespace oplat::table
