// SPDX-License-Identifier: Apache-2.0
/// The way from an older schema to this one: with steps made for the test, and from files that
/// older releases wrote.
#include "table/migrate.hpp"

#include "table/opening.hpp"
#include "table/schema.hpp"
#include "table_fixture.hpp"

namespace oplat::table {
namespace {

/// A made-up predecessor: topology was called shape.
constexpr std::int64_t kOld = kSchemaVersion - 1;
void age(const std::filesystem::path& file) {
  raw(file, fmt::format("ALTER TABLE row RENAME COLUMN topology TO shape; PRAGMA user_version = {}",
                        kOld));
}
std::filesystem::path kept(const std::filesystem::path& file) {
  return fmt::format("{}.schema{}", file.string(), kOld);
}
Status rename_back(Database& database) {
  return database.execute("ALTER TABLE row RENAME COLUMN shape TO topology");
}
Status fails(Database& database) {
  return database.execute("ALTER TABLE row RENAME COLUMN none TO nothing");
}

using MigrationTest = TableTest;

TEST_F(MigrationTest, ReadingMigratesATemporaryCopy) {
  fill();
  age(file());
  const std::string before = read_bytes(file());
  const Migration steps[] = {{kOld, rename_back}};
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
  const Migration steps[] = {{kOld, rename_back}};
  must(open_database(file(), Mode::Write, steps));
  EXPECT_EQ(read_bytes(kept(file())), before);
  EXPECT_FALSE(std::filesystem::exists(file().string() + ".migrating"));
  must(read_everything(must_open(file(), Mode::Write)));
}

TEST_F(MigrationTest, AFileThatWasKeptBeforeStays) {
  fill();
  age(file());
  const std::string before = read_bytes(file());
  write_bytes(kept(file()), "of an earlier table of this name");
  const Migration steps[] = {{kOld, rename_back}};
  must(open_database(file(), Mode::Write, steps));
  EXPECT_EQ(read_bytes(kept(file())), "of an earlier table of this name");
  EXPECT_EQ(read_bytes(kept(file()).string() + ".2"), before);
}

TEST_F(MigrationTest, WithoutHardLinksTheOldFileIsCopied) {
  fill();
  const auto database =
      must(Database::open(file().string(), Database::Access::Read, file().string()));
  // A link to what is not there fails as one does where there are none.
  const std::filesystem::path gone = file().string() + ".gone";
  must(keep_file(*database, gone, kept(file())));
  EXPECT_EQ(must(must_open(kept(file()), Mode::Read).counts()),
            must(must_open(file(), Mode::Read).counts()));
  EXPECT_FALSE(keep_file(*database, gone, file().parent_path() / "no folder" / "kept"));
  // A link is a name of the same file.
  must(keep_file(*database, file(), file().string() + ".link"));
  EXPECT_TRUE(std::filesystem::equivalent(file(), file().string() + ".link"));
  must(keep_file(*database, file(), file().string() + ".link"));
}

TEST_F(MigrationTest, AStepThatFailsLeavesTheFile) {
  fill();
  age(file());
  const std::string before = read_bytes(file());
  const Migration steps[] = {{kOld, fails}};
  EXPECT_FALSE(open_database(file(), Mode::Write, steps));
  EXPECT_FALSE(open_database(file(), Mode::Read, steps));
  EXPECT_EQ(read_bytes(file()), before);
  EXPECT_FALSE(std::filesystem::exists(file().string() + ".migrating"));
  EXPECT_FALSE(std::filesystem::exists(kept(file())));
}

TEST_F(MigrationTest, AResultThatIsNotThisSchemaIsRefused) {
  fill();
  age(file());
  const Migration steps[] = {{kOld, [](Database&) { return Status{}; }}};
  expect_error(open_database(file(), Mode::Write, steps), Code::Input,
               "table row has no column topology");
}

TEST_F(MigrationTest, AVersionThatNoStepLeadsFromIsRefused) {
  fill();
  raw(file(), "PRAGMA user_version = 0");
  expect_error(Table::open(file(), Mode::Read), Code::Input, "schema 0 is unknown");
  expect_error(Table::open(file(), Mode::Write), Code::Input, "schema 0 is unknown");
  raw(file(), "PRAGMA user_version = -7");
  expect_error(Table::open(file(), Mode::Read), Code::Input, "schema -7 is unknown");
}

/// A table as oplat 0.1 wrote it with schema 1.
class Schema1Test : public TableTest {
 protected:
  void SetUp() override {
    raw(file(), read_bytes(std::filesystem::path(OPLAT_TEST_SOURCE_DIR) / "data" / "schema-1.sql"));
    ASSERT_EQ(raw_value(file(), "PRAGMA user_version"), "1");
  }

  /// What is in the dump.
  static void expect_content(const Table& table) {
    must(read_everything(table));
    EXPECT_TRUE(must(table.integrity()).empty());
    const Counts counts = must(table.counts());
    EXPECT_EQ(counts.kernels, 13);
    EXPECT_EQ(counts.rows(), 12);
    EXPECT_EQ(counts.foreign, 0);
    EXPECT_EQ(counts.blocks, 67);
    EXPECT_EQ(counts.model_rows, 1);
    EXPECT_EQ(counts.plans, 1);
    EXPECT_TRUE(must(table.foreign_files()).empty());
    std::size_t rows = 0;
    for (const ContextOutline& pair : must(table.context_outlines())) {
      rows += must(table.rows_beside(pair.device, pair.setting, "lut")).size();
    }
    EXPECT_EQ(rows, 12U);
  }
};

TEST_F(Schema1Test, IsReadFromACopy) {
  const std::string before = read_bytes(file());
  expect_content(must_open(file(), Mode::Read));
  EXPECT_EQ(read_bytes(file()), before);
}

TEST_F(Schema1Test, IsMigratedForWritingAndKept) {
  const std::string before = read_bytes(file());
  {
    Table table = must_open(file(), Mode::Write);
    expect_content(table);
    const auto pair = must(table.context_outlines()).at(0);
    const ForeignFile foreign{"# head\n", {{kRelu, Failed{"-1"}, "\n", "text\n"}}, ""};
    const FileId id = must(table.add_foreign(pair.device, pair.setting,
                                             {"test", "a.txt", base::hash128("a")}, foreign));
    EXPECT_EQ(must(table.foreign_file(id)), foreign);
  }
  EXPECT_EQ(read_bytes(file().string() + ".schema1"), before);
  EXPECT_EQ(raw_value(file(), "PRAGMA user_version"), std::to_string(kSchemaVersion));
  EXPECT_EQ(must(must_open(file(), Mode::Read).counts()).foreign, 1);
}

/// A table as oplat 0.1 wrote it with schema 2: that of schema 1, with two rows imported.
class Schema2Test : public TableTest {
 protected:
  void SetUp() override {
    raw(file(), read_bytes(std::filesystem::path(OPLAT_TEST_SOURCE_DIR) / "data" / "schema-2.sql"));
    ASSERT_EQ(raw_value(file(), "PRAGMA user_version"), "2");
  }

  /// What is in the dump; of what it does not say nothing is known.
  static void expect_content(const Table& table) {
    must(read_everything(table));
    EXPECT_TRUE(must(table.integrity()).empty());
    EXPECT_EQ(must(table.counts()).blocks, 67);
    EXPECT_EQ(must(table.counts()).foreign, 2);
    std::size_t blocks = 0;
    must(table.each_row({}, [&](const StoredRow& row) {
      for (const Block& block : must(table.blocks_of(row.id))) {
        EXPECT_EQ(block.other_load, std::nullopt);
        ++blocks;
      }
      return true;
    }));
    EXPECT_GT(blocks, 0U);
    const auto plans = must(table.plans());
    ASSERT_EQ(plans.size(), 1U);
    EXPECT_EQ(plans[0].kernels.size(), 10U);
    for (const PlanKernel& kernel : plans[0].kernels)
      EXPECT_EQ(kernel.inserted_by_runtime, std::nullopt);
  }
};

TEST_F(Schema2Test, IsReadFromACopy) {
  const std::string before = read_bytes(file());
  expect_content(must_open(file(), Mode::Read));
  EXPECT_EQ(read_bytes(file()), before);
}

TEST_F(Schema2Test, IsMigratedForWritingAndKept) {
  const std::string before = read_bytes(file());
  {
    Table table = must_open(file(), Mode::Write);
    expect_content(table);
    must(table.add_block(1, {0, 1, 1501.5, 10.25, std::nullopt, 30, 2, 0, 0.5}));
    EXPECT_EQ(must(table.blocks_of(1)).back().other_load, 0.5);
    must(table.put_plan({"net.onnx",
                         "plan-1",
                         "runtime",
                         1,
                         4096,
                         512,
                         {{"a", kRelu, 1, true}, {"b", kAdd, 2, false}, {"c", kAdd, 1}}}));
    const auto plan = must(table.find_plan("plan-1"));
    ASSERT_TRUE(plan);
    EXPECT_EQ(plan->kernels[0].inserted_by_runtime, true);
    EXPECT_EQ(plan->kernels[1].inserted_by_runtime, false);
    EXPECT_EQ(plan->kernels[2].inserted_by_runtime, std::nullopt);
  }
  EXPECT_EQ(read_bytes(file().string() + ".schema2"), before);
  EXPECT_EQ(raw_value(file(), "PRAGMA user_version"), std::to_string(kSchemaVersion));
}

/// A table of schema 3: that of schema 2, with the load of some blocks.
class Schema3Test : public TableTest {
 protected:
  void SetUp() override {
    raw(file(), read_bytes(std::filesystem::path(OPLAT_TEST_SOURCE_DIR) / "data" / "schema-3.sql"));
    ASSERT_EQ(raw_value(file(), "PRAGMA user_version"), "3");
  }

  /// What is in the dump; of single inferences nothing is known.
  static void expect_content(const Table& table) {
    must(read_everything(table));
    EXPECT_TRUE(must(table.integrity()).empty());
    EXPECT_EQ(must(table.counts()).blocks, 67);
    EXPECT_EQ(must(table.blocks_of(1)).front().other_load, 0.125);
    const auto models = must(table.model_rows());
    ASSERT_EQ(models.size(), 1U);
    EXPECT_EQ(std::get<Timing>(models[0].row.outcome).median_ns, 32'057);
    EXPECT_EQ(models[0].row.inferences, std::nullopt);
    const auto blocks = must(table.blocks_of_model(models[0].id));
    ASSERT_EQ(blocks.size(), 5U);
    EXPECT_EQ(blocks[0].other_load, 0.25);
    for (const Block& block : blocks) EXPECT_EQ(block.inferences, std::nullopt);
  }
};

TEST_F(Schema3Test, IsReadFromACopy) {
  const std::string before = read_bytes(file());
  expect_content(must_open(file(), Mode::Read));
  EXPECT_EQ(read_bytes(file()), before);
}

TEST_F(Schema3Test, IsMigratedForWritingAndKept) {
  const std::string before = read_bytes(file());
  {
    Table table = must_open(file(), Mode::Write);
    expect_content(table);
    must(table.add_model_block(
        1, {5, 6, 90'001, std::nullopt, 20.5, 3, 0, 0, 0.25, sample_inferences()}));
    EXPECT_EQ(must(table.blocks_of_model(1)).back().inferences, sample_inferences());
  }
  EXPECT_EQ(read_bytes(file().string() + ".schema3"), before);
  EXPECT_EQ(raw_value(file(), "PRAGMA user_version"), std::to_string(kSchemaVersion));
}

/// A table of schema 4: that of schema 3, with times of single inferences, and flags of kernels.
class Schema4Test : public TableTest {
 protected:
  void SetUp() override {
    raw(file(), read_bytes(std::filesystem::path(OPLAT_TEST_SOURCE_DIR) / "data" / "schema-4.sql"));
    ASSERT_EQ(raw_value(file(), "PRAGMA user_version"), "4");
  }

  /// What is in the dump; of what its plan's kernels are given nothing is known.
  static void expect_content(const Table& table) {
    must(read_everything(table));
    EXPECT_TRUE(must(table.integrity()).empty());
    const auto models = must(table.model_rows());
    ASSERT_EQ(models.size(), 1U);
    ASSERT_TRUE(models[0].row.inferences);
    EXPECT_EQ(models[0].row.inferences->count, 40);
    const auto plans = must(table.plans());
    ASSERT_EQ(plans.size(), 1U);
    EXPECT_EQ(plans[0].kernels[0].inserted_by_runtime, true);
    for (const PlanKernel& kernel : plans[0].kernels) EXPECT_EQ(kernel.input_bytes, std::nullopt);
  }
};

TEST_F(Schema4Test, IsReadFromACopy) {
  const std::string before = read_bytes(file());
  expect_content(must_open(file(), Mode::Read));
  EXPECT_EQ(read_bytes(file()), before);
}

TEST_F(Schema4Test, IsMigratedForWritingAndKept) {
  const std::string before = read_bytes(file());
  {
    Table table = must_open(file(), Mode::Write);
    expect_content(table);
    Plan plan = must(table.plans()).at(0);
    for (PlanKernel& kernel : plan.kernels) kernel.input_bytes = 0;
    plan.kernels[0].input_bytes = 4096.5;
    must(table.put_plan(plan));
    EXPECT_EQ(must(table.find_plan(plan.identity))->kernels, plan.kernels);
    plan.kernels[1].input_bytes = -1;
    expect_error(table.put_plan(plan), Code::Input, "input_bytes");
  }
  EXPECT_EQ(read_bytes(file().string() + ".schema4"), before);
  EXPECT_EQ(raw_value(file(), "PRAGMA user_version"), std::to_string(kSchemaVersion));
}

TEST_F(Schema2Test, IsNotMigratedUnderTheHandsOfItsWriter) {
  plant_lease(file(), this_process(), now_ms());
  const std::string before = read_bytes(file());
  expect_error(Table::open(file(), Mode::Write), Code::Refused, "locked: process");
  EXPECT_EQ(read_bytes(file()), before);
  EXPECT_FALSE(std::filesystem::exists(file().string() + ".migrating"));
  EXPECT_FALSE(std::filesystem::exists(file().string() + ".schema2"));
  expect_content(must_open(file(), Mode::Read));
}

TEST_F(Schema2Test, AFlagThatIsNoneIsACorruptPlan) {
  { const Table table = must_open(file(), Mode::Write); }
  raw(file(), "UPDATE plan_kernel SET put_in = 2");
  expect_error(must_open(file(), Mode::Read).plans(), Code::Input, "put_in");
}

}  // namespace
}  // namespace oplat::table
