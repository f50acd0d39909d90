// SPDX-License-Identifier: Apache-2.0
#include "oplat/table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/estimate/small_table.hpp"

namespace oplat {
namespace {

using test::must;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// Rows of two settings, one of them a refusal.
class ApiTable : public ::testing::Test {
 protected:
  ApiTable() {
    const auto device = made_.device();
    const auto one = made_.setting();
    const auto two = made_.setting(test::setting_of(2));
    made_.row(device, one, test::kCopy250, std::nullopt, test::timing(1000));
    made_.row(device, two, test::kCopy250, 4096.0, test::timing(600));
    made_.row(device, two, test::kMatMul, std::nullopt, table::Unsupported{"no kernel for it"});
  }
  [[nodiscard]] std::string path() const { return made_.table().path().string(); }
  test::SmallTable made_;
};

TEST_F(ApiTable, ListsRowsByFilter) {
  const Table table = must(Table::open(path()));
  EXPECT_EQ(table.path(), path());
  const std::vector<Row> rows = must(table.rows());
  ASSERT_THAT(rows, SizeIs(3));
  EXPECT_EQ(rows[0].key, test::kCopy250);
  EXPECT_EQ(rows[0].device, "desk");
  EXPECT_DOUBLE_EQ(rows[0].timing.value().median_ms, 0.001);
  EXPECT_LT(rows[0].timing->low_ms, rows[0].timing->median_ms);
  EXPECT_GT(rows[0].timing->high_ms, rows[0].timing->median_ms);
  EXPECT_EQ(rows[0].reuse_bytes, std::nullopt);
  EXPECT_EQ(rows[1].reuse_bytes, 4096.0);
  EXPECT_EQ(rows[1].setting.threads, 2);
  EXPECT_EQ(rows[2].timing, std::nullopt);
  EXPECT_EQ(rows[2].reason, "no kernel for it");
  EXPECT_THAT(must(table.rows({.threads = 2, .with_time = true})), SizeIs(1));
  EXPECT_THAT(must(table.rows({.key = test::kCopy250})), SizeIs(2));
  EXPECT_THAT(must(table.rows({.threads = 1, .key = test::kCopy250})), SizeIs(1));
  EXPECT_THAT(must(table.rows({.key = "Copy"})), IsEmpty());
  EXPECT_THAT(must(table.rows({.device = "another"})), IsEmpty());
}

TEST_F(ApiTable, CountsRowsByFilter) {
  const Table table = must(Table::open(path()));
  EXPECT_EQ(must(table.count()), 3);
  EXPECT_EQ(must(table.count({.with_time = true})), 2);
  EXPECT_EQ(must(table.count({.runtime = "replay", .version = "1.0"})), 3);
  EXPECT_EQ(must(table.count({.runtime = "onnxruntime"})), 0);
  EXPECT_EQ(must(table.count({.precision = "int8"})), 0);
}

TEST_F(ApiTable, StopsWhereTheVisitorSaysSo) {
  const Table table = must(Table::open(path()));
  std::vector<std::int64_t> seen;
  must(table.each_row({}, [&seen](const Row& row) {
    seen.push_back(row.id);
    return seen.size() < 2;
  }));
  EXPECT_THAT(seen, SizeIs(2));
}

TEST_F(ApiTable, ListsContexts) {
  const Table table = must(Table::open(path()));
  const std::vector<Context> contexts = must(table.contexts());
  ASSERT_THAT(contexts, SizeIs(2));
  EXPECT_EQ(contexts[0].device.name, "desk");
  EXPECT_EQ(contexts[0].rows, 1);
  EXPECT_EQ(contexts[1].setting.threads, 2);
  EXPECT_EQ(contexts[1].rows, 2);
  EXPECT_EQ(contexts[1].rows_with_time, 1);
}

TEST(ApiTableOpen, RefusesAMissingFileByItsName) {
  const auto refused = Table::open("none.oplat");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::Input);
  EXPECT_THAT(refused.error().message, HasSubstr("none.oplat"));
}

}  // namespace
}  // namespace oplat
