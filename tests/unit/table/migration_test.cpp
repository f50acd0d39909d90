// SPDX-License-Identifier: Apache-2.0
/// The way from an older schema to this one, with steps made for the test: no older schema was released yet.
#include "table/migrate.hpp"

#include "table/opening.hpp"
#include "table/schema.hpp"
#include "table_fixture.hpp"

namespace oplat::table {
namespace {

/// "Schema 0": topology was called shape.
void age(const std::filesystem::path& file) {
  raw(file, "ALTER TABLE row RENAME COLUMN topology TO shape; PRAGMA user_version = 0");
}
Status rename_back(Database& database) { return database.execute("ALTER TABLE row RENAME COLUMN shape TO topology"); }
Status fails(Database& database) { return database.execute("ALTER TABLE row RENAME COLUMN none TO nothing"); }

using MigrationTest = TableTest;

TEST_F(MigrationTest, ReadingMigratesATemporaryCopy) {
  fill();
  age(file());
  const std::string before = read_bytes(file());
  const Migration steps[] = {{0, rename_back}};
  const auto opened = must(open_database(file(), Mode::Read, steps));
  EXPECT_TRUE(opened.copy);
  EXPECT_EQ(must(opened.database->integer("PRAGMA user_version")), kSchemaVersion);
  EXPECT_EQ(must(opened.database->integer("SELECT sum(1) FROM row WHERE topology = 'chain'")), 1);
  EXPECT_FALSE(opened.database->execute("DELETE FROM block"));
  EXPECT_EQ(read_bytes(file()), before);
}

TEST_F(MigrationTest, WritingReplacesTheFileAndKeepsTheOldOne) {
  fill();
  age(file());
  const std::string before = read_bytes(file());
  const Migration steps[] = {{0, rename_back}};
  must(open_database(file(), Mode::Write, steps));
  EXPECT_EQ(read_bytes(file().string() + ".schema0"), before);
  EXPECT_FALSE(std::filesystem::exists(file().string() + ".migrating"));
  must(read_everything(must_open(file(), Mode::Write)));
}

TEST_F(MigrationTest, AStepThatFailsLeavesTheFile) {
  fill();
  age(file());
  const std::string before = read_bytes(file());
  const Migration steps[] = {{0, fails}};
  EXPECT_FALSE(open_database(file(), Mode::Write, steps));
  EXPECT_FALSE(open_database(file(), Mode::Read, steps));
  EXPECT_EQ(read_bytes(file()), before);
  EXPECT_FALSE(std::filesystem::exists(file().string() + ".migrating"));
  EXPECT_FALSE(std::filesystem::exists(file().string() + ".schema0"));
}

TEST_F(MigrationTest, AResultThatIsNotThisSchemaIsRefused) {
  fill();
  age(file());
  const Migration steps[] = {{0, [](Database&) { return Status{}; }}};
  expect_error(open_database(file(), Mode::Write, steps), Code::Input, "table row has no column topology");
}

TEST_F(MigrationTest, AVersionThatNoStepLeadsFromIsRefused) {
  fill();
  age(file());
  expect_error(Table::open(file(), Mode::Read), Code::Input, "schema 0 was never released");
  expect_error(Table::open(file(), Mode::Write), Code::Input, "schema 0 was never released");
  raw(file(), "PRAGMA user_version = -7");
  expect_error(Table::open(file(), Mode::Read), Code::Input, "schema -7 was never released");
}

}  // namespace
}  // namespace oplat::table
