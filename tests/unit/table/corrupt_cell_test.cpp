// SPDX-License-Identifier: Apache-2.0
/// A cell of the wrong type or range is an error that names table, line and column, never a number.
#include "table/cells.hpp"
#include "table_fixture.hpp"

namespace oplat::table {
namespace {

using CorruptCell = TableTest;

struct Case {
  std::string sql;
  std::string part;
};

TEST_F(CorruptCell, IsNamed) {
  const std::vector<Case> cases = {
      {"UPDATE row SET median_ns = 'fast' WHERE id = 1",
       "row 1: median_ns holds text; expected a number"},
      {"UPDATE row SET median_ns = NULL WHERE id = 1",
       "row 1: median_ns holds null; expected a number"},
      {"UPDATE row SET median_ns = -5.0 WHERE id = 1",
       "row 1: median_ns holds -5.0, which is negative"},
      {"UPDATE row SET median_ns = 9e999 WHERE id = 1",
       "row 1: median_ns holds an infinite number"},
      {"UPDATE row SET median_ns = x'00' WHERE id = 1",
       "row 1: median_ns holds a blob; expected a number"},
      {"UPDATE row SET sd_log = -0.5 WHERE id = 1", "row 1: sd_log holds -0.5"},
      {"UPDATE row SET ci_low_ns = 'x' WHERE id = 1", "row 1: ci_low_ns"},
      {"UPDATE row SET p90_ns = NULL WHERE id = 1", "row 1: p90_ns"},
      {"UPDATE row SET blocks = -1 WHERE id = 1", "row 1: blocks holds -1, which is negative"},
      {"UPDATE row SET blocks = 1.5 WHERE id = 1",
       "row 1: blocks holds a number; expected an integer"},
      {"UPDATE row SET outcome = 'maybe' WHERE id = 2", "the unknown outcome 'maybe'"},
      {"UPDATE row SET reason = NULL WHERE id = 2", "row 2: reason holds null; expected text"},
      {"UPDATE row SET reuse_bytes = -1 WHERE id = 1", "row 1: reuse_bytes holds -1.0"},
      {"UPDATE row SET reuse_bytes = 'hot' WHERE id = 1", "row 1: reuse_bytes holds text"},
      {"UPDATE row SET flags = '[1]' WHERE id = 1",
       "row 1: flags holds text that is not a JSON array"},
      {"UPDATE row SET flags = '[[[[[' WHERE id = 1", "row 1: flags"},
      {"UPDATE row SET flags = x'5B5D' WHERE id = 1", "row 1: flags holds a blob"},
      {"UPDATE row SET topology = 7.5 || x'' WHERE id = 1; UPDATE row SET topology = x'01' WHERE "
       "id = 1",
       "row 1: topology holds a blob"},
      {"UPDATE row SET device = 'desk' WHERE id = 1", "device holds text; expected an integer"},
      {"UPDATE row SET kernel = 77 WHERE id = 1", "row 1: key holds null"},
      {"UPDATE kernel SET key = 'Other{}()->()' WHERE id = 1",
       "the hash of its kernel does not match the key Other"},
      {"UPDATE kernel SET hash = x'00' WHERE id = 1", "hash holds 1 bytes; expected 16"},
      {"UPDATE kernel SET hash = 'abcdefghijklmnop' WHERE id = 1",
       "hash holds text; expected a blob"},
      {"UPDATE kernel SET key = replace(hex(zeroblob(600000)), '0', 'a') WHERE id = 1",
       "1200000 bytes of text"},
      {"UPDATE block SET value_ns = 'x'", "block 1: value_ns holds text"},
      {"UPDATE block SET rounds = -3", "block 1: rounds holds -3"},
      {"UPDATE block SET reference_compute_ns = -1.0", "block 1: reference_compute_ns"},
      {"UPDATE model_block SET value_ns = -1.0", "model_block 1: value_ns"},
      {"UPDATE model_block SET inferences = '1 2'",
       "model_block 1: inferences holds a malformed text"},
      {"UPDATE model_block SET inferences = 7", "model_block 1: inferences"},
      {"UPDATE model_row SET inferences = -1", "model_row 1: inferences"},
      {"UPDATE model_row SET inference_p50_ns = NULL", "model_row 1: inference_p50_ns"},
      {"UPDATE model_row SET inference_p99_ns = 'x'", "model_row 1: inference_p99_ns"},
      {"UPDATE model_row SET inference_max_ns = -1.0", "model_row 1: inference_max_ns"},
      {"UPDATE model_row SET median_ns = 'x'", "model_row 1: median_ns"},
      {"UPDATE model_row SET batch = 'x'", "model_row 1: batch"},
      {"UPDATE plan SET weight_bytes = -1.0", "plan 1: weight_bytes"},
      {"UPDATE plan SET identity = x'00'", "plan 1: identity"},
      {"UPDATE plan_kernel SET position = 5 WHERE position = 0", "has position 1; expected 0"},
      {"UPDATE plan_kernel SET count = 'x' WHERE position = 1", "plan_kernel 2: count"},
      {"UPDATE plan_kernel SET input_bytes = -1.0 WHERE position = 1",
       "plan_kernel 2: input_bytes"},
      {"UPDATE plan_kernel SET input_bytes = 'x' WHERE position = 1", "plan_kernel 2: input_bytes"},
      {"UPDATE plan_kernel SET kernel = 99 WHERE position = 1", "plan_kernel 2: key holds null"},
      {"UPDATE device SET cores = 'many'", "device 1: cores holds text"},
      {"UPDATE device SET l2_bytes = -1", "device 1: l2_bytes holds -1"},
      {"UPDATE device SET name = x'FF'", "device 1: name holds a blob"},
      {"UPDATE setting SET threads = 'x'", "setting 1: threads"},
      {"UPDATE setting SET options = '{\"a\":1}'",
       "setting 1: options holds text that is not a JSON object"},
      {"UPDATE setting SET options = '[]'", "setting 1: options"},
      {"UPDATE environment SET facts = 'null'", "campaign 1: facts"},
      {"UPDATE environment SET load_average = 'x'", "campaign 1: load_average"},
      {"UPDATE campaign SET seed = '-1'", "campaign 1: seed"},
      {"UPDATE campaign SET seed = '99999999999999999999'", "campaign 1: seed"},
      {"UPDATE campaign SET empty_call_ns = 'x'", "campaign 1: empty_call_ns"},
      {"UPDATE campaign SET environment = 9", "campaign 1: kernel holds null"},
      {"UPDATE model_file SET hash = x'00'", "model_file 1: hash"},
  };
  fill();
  const std::string sound = read_bytes(file());
  for (const Case& c : cases) {
    SCOPED_TRACE(c.sql);
    write_bytes(file(), sound);
    raw(file(), "PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON; " + c.sql);
    expect_error(read_everything(must_open(file(), Mode::Read)), Code::Input, "corrupt table: ");
    expect_error(read_everything(must_open(file(), Mode::Read)), Code::Input, c.part);
    // A writer reads with the same care.
    expect_error(read_everything(must_open(file(), Mode::Write)), Code::Input, c.part);
  }
}

TEST_F(CorruptCell, OfTheLease) {
  fill();
  raw(file(), "INSERT INTO lease VALUES (1, 't', 'x', NULL, 'h', 1, 1)");
  expect_error(Table::open(file(), Mode::Write), Code::Input, "lease 1: pid holds text");
  must(read_everything(must_open(file(), Mode::Read)));
}

TEST_F(CorruptCell, AKeyUnderAnotherKeysHashIsNotAnAnswer) {
  fill();
  raw(file(), "UPDATE kernel SET key = 'Other{}()->()' WHERE id = 1");
  expect_error(must_open(file(), Mode::Read).rows_of(kRelu, 1, 1), Code::Input,
               "its hash does not match its key");
}

TEST_F(CorruptCell, TextsThatLinesShareAreBounded) {
  fill();
  const auto database = must(Database::open(file().string(), Database::Access::Read, "t.oplat"));
  SharedBytes keys(10);
  must(keys.add(*database, 10));
  expect_error(keys.add(*database, 1), Code::Input, "t.oplat: corrupt table: its lines repeat");
}

TEST_F(CorruptCell, IntegrityNamesReferencesWithoutATarget) {
  fill();
  raw(file(), "PRAGMA foreign_keys = OFF; UPDATE plan_kernel SET kernel = 99 WHERE position = 1");
  const auto findings = must(must_open(file(), Mode::Read).integrity());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0], "plan_kernel 2: refers to a line of kernel that does not exist");
}

}  // namespace
}  // namespace oplat::table
