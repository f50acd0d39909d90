// SPDX-License-Identifier: Apache-2.0
/// Foreign files in a table: whole, in order, once; and out again beside what was measured.
#include "base/hash.hpp"
#include "table/exchange.hpp"
#include "table_fixture.hpp"

namespace oplat::table {
namespace {

constexpr char kLine[] = "{Regular,1,16,5,5,8,1,1,0} 0.5\n";
constexpr char kOther[] = "{Regular,1,16,5,5,8,3,1,1} 0.25\n";
constexpr char kFailedLine[] = "{Regular,1,16,9,9,8,3,1,1} -1\n";

class Foreign : public TableTest {
 protected:
  static ForeignFile read(const std::string& bytes, bool skip_bad_rows = false) {
    return must(codec().read(bytes, {"lib", "fp32", skip_bad_rows})).file;
  }
  static const TableCodec& codec() {
    static const std::unique_ptr<TableCodec> made = must(make_codec("tinynas"));
    return *made;
  }
  static ImportRequest request(const std::string& bytes,
                               const std::string& name = "conv_data.out") {
    ImportRequest request;
    request.origin = {"tinynas", name, base::hash128(bytes)};
    request.device = "V100";
    request.setting = must(codec().setting("conv_data.out", ""));
    return request;
  }
  static Result<ImportOutcome> put(Table& table, const std::string& bytes,
                                   const std::string& name = "conv_data.out",
                                   bool replace = false) {
    ImportRequest asked = request(bytes, name);
    asked.replace = replace;
    return import_foreign(table, asked, read(bytes, true));
  }
  static std::pair<DeviceId, SettingId> pair(const Table& table) {
    return {must(table.find_device("V100")).value(),
            must(table.find_setting(request("").setting)).value()};
  }
  static Exported exported(const Table& table) {
    const auto [device, setting] = pair(table);
    return must(export_foreign(table, codec(), device, setting));
  }
};

TEST_F(Foreign, AFileComesBackWhole) {
  ForeignFile foreign;
  foreign.head = std::string("\0head\n", 6);
  foreign.tail = "tail";
  foreign.rows = {{kRelu, sample_timing(1500), "", {}},
                  {kAdd, Failed{"went wrong"}, "between", std::string("a\0b\xff", 4)},
                  {kRelu, sample_timing(1400), "", ""},
                  {kRelu, Unsupported{"cannot"}, "", {}}};
  FileId id = 0;
  const ForeignOrigin origin{"test", "dir name.txt", base::hash128("bytes")};
  {
    Table table = must_open(file(), Mode::Create);
    const DeviceId device = must(table.put_device(sample_device()));
    const SettingId setting = must(table.put_setting(sample_setting()));
    must(table.put_row(device, setting, std::nullopt, sample_row(kAdd, 7)));
    EXPECT_TRUE(must(table.rows_of(kRelu, device, setting)).empty());
    id = must(table.add_foreign(device, setting, origin, foreign));
    EXPECT_EQ(must(table.rows_of(kRelu, device, setting)).size(), 3U)
        << "what was looked up before is looked up anew";
  }
  const Table table = must_open(file(), Mode::Read);
  EXPECT_EQ(must(table.foreign_file(id)), foreign);
  const auto files = must(table.foreign_files());
  ASSERT_EQ(files.size(), 1U);
  EXPECT_EQ(files[0].id, id);
  EXPECT_EQ(files[0].origin, origin);
  // The rows are rows as any other.
  const auto rows = must(table.rows_of(kAdd, files[0].device, files[0].setting));
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].row.origin, "own");
  EXPECT_EQ(rows[1].row.origin, "test");
  EXPECT_EQ(rows[1].row.reuse_bytes, std::nullopt);
  EXPECT_EQ(rows[1].row.outcome, Outcome(Failed{"went wrong"}));
  EXPECT_EQ(rows[1].row.method, Method{});
  const auto beside =
      must(table.rows_beside(files[0].device, files[0].setting, files[0].origin.format));
  ASSERT_EQ(beside.size(), 1U);
  EXPECT_EQ(beside[0].row.key, kAdd);
  EXPECT_EQ(must(table.counts()).kernels, 2);
  EXPECT_EQ(must(table.counts()).foreign, 4);
  EXPECT_TRUE(must(table.integrity()).empty());
}

TEST_F(Foreign, RemovingAFileRemovesItsRowsAlone) {
  Table table = must_open(file(), Mode::Create);
  ASSERT_EQ(must(put(table, kLine)), ImportOutcome::Added);
  ASSERT_EQ(must(put(table, std::string(kOther) + "\r\n", "more.out")), ImportOutcome::Added);
  const auto files = must(table.foreign_files());
  ASSERT_EQ(files.size(), 2U);
  must(table.remove_foreign(files[0].id));
  EXPECT_EQ(must(table.foreign_files()).size(), 1U);
  EXPECT_EQ(exported(table).bytes, std::string(kOther) + "\r\n");
  must(table.remove_foreign(files[1].id));
  EXPECT_EQ(must(table.counts()).rows(), 0);
  EXPECT_EQ(raw_value(file(), "SELECT count(*) FROM native"), "0");
}

TEST_F(Foreign, WhatNoTableMayHoldIsRefused) {
  Table table = must_open(file(), Mode::Create);
  const DeviceId device = must(table.put_device(sample_device()));
  const SettingId setting = must(table.put_setting(sample_setting()));
  const auto add = [&](const std::string& format, const ForeignRow& row) {
    return table.add_foreign(device, setting, {format, "n", {}},
                             {"", {{kRelu, sample_timing(1), "", {}}, row}, ""});
  };
  expect_error(add("own", {kAdd, sample_timing(1), "", {}}), Code::Input, "'own' is no format");
  expect_error(add("test", {"", sample_timing(1), "", {}}), Code::Input, "empty key");
  expect_error(add("test", {"two\nlines", sample_timing(1), "", {}}), Code::Input, "one line");
  expect_error(add("test", {kAdd, sample_timing(-1), "", {}}), Code::Input, "median_ns");
  EXPECT_EQ(must(table.counts()).rows(), 0);
  EXPECT_TRUE(must(table.foreign_files()).empty());
}

TEST_F(Foreign, AnImportIsDoneOnce) {
  Table table = must_open(file(), Mode::Create);
  EXPECT_EQ(must(put(table, kLine)), ImportOutcome::Added);
  EXPECT_EQ(must(put(table, kLine)), ImportOutcome::Unchanged);
  EXPECT_EQ(must(put(table, kLine, "copy.out")), ImportOutcome::Unchanged)
      << "the same bytes under another name";
  EXPECT_EQ(must(table.counts()).rows(), 1);
  expect_error(put(table, kOther), Code::Refused, "--replace");
  EXPECT_EQ(exported(table).bytes, kLine);
  EXPECT_EQ(must(put(table, kOther, "conv_data.out", true)), ImportOutcome::Replaced);
  EXPECT_EQ(exported(table).bytes, kOther);
  EXPECT_EQ(must(table.counts()).rows(), 1);
  // Another device or setting is another matter.
  ImportRequest elsewhere = request(kOther);
  elsewhere.device = "T4";
  EXPECT_EQ(must(import_foreign(table, elsewhere, read(kOther))), ImportOutcome::Added);
  EXPECT_EQ(must(table.devices()).size(), 2U);
}

TEST_F(Foreign, AKnownDeviceKeepsItsFacts) {
  Table table = must_open(file(), Mode::Create);
  Device known = sample_device();
  known.name = "V100";
  must(table.put_device(known));
  must(put(table, kLine));
  const auto devices = must(table.devices());
  ASSERT_EQ(devices.size(), 1U);
  EXPECT_EQ(devices[0].second, known);
}

TEST_F(Foreign, AReplacedFileAgesFits) {
  Table table = must_open(file(), Mode::Create);
  must(put(table, kLine));
  const auto [device, setting] = pair(table);
  must(table.put_fit(device, setting, {"some/1", 0, "blob"}));
  ASSERT_TRUE(must(table.find_fit("some/1", device, setting)).value().current);
  must(put(table, kOther, "conv_data.out", true));
  EXPECT_FALSE(must(table.find_fit("some/1", device, setting)).value().current);
}

TEST_F(Foreign, SeveralFilesFollowOneAnotherOnLinesOfTheirOwn) {
  Table table = must_open(file(), Mode::Create);
  const std::string first = std::string(kLine) + "bad row";
  must(put(table, first));
  must(put(table, std::string("\n") + kOther + kFailedLine, "second.out"));
  std::string unended = kLine;
  unended.pop_back();
  must(put(table, unended, "third.out"));
  EXPECT_EQ(exported(table).bytes, first + "\n\n" + kOther + kFailedLine + unended);
  EXPECT_EQ(exported(table).rows, 4U);
}

TEST_F(Foreign, MeasuredRowsFollowAtTheirHottestState) {
  Table table = must_open(file(), Mode::Create);
  std::string unended = kOther;
  unended.pop_back();
  must(put(table, unended));
  const auto [device, setting] = pair(table);
  const std::string key = read(kLine).rows.at(0).key;
  Row row = sample_row(key, 900'000);
  row.reuse_bytes = 1e9;
  must(table.put_row(device, setting, std::nullopt, row));
  row = sample_row(key, 750'000);
  row.reuse_bytes = 0;
  must(table.put_row(device, setting, std::nullopt, row));
  must(table.put_row(
      device, setting, std::nullopt,
      {read(std::string(kLine) + kFailedLine).rows.at(1).key, 0.0, "own", Unsupported{"no"}, {}}));
  must(table.put_row(device, setting, std::nullopt, sample_row(kRelu, 5)));
  const Exported out = exported(table);
  EXPECT_EQ(out.bytes, unended + "\n{Regular,1,16,5,5,8,1,1,0} 0.75\n" + kFailedLine);
  EXPECT_EQ(out.rows, 3U);
  EXPECT_EQ(out.left_out, 1U);
  EXPECT_EQ(out.left_keys, std::vector<std::string>{kRelu});
}

TEST_F(Foreign, NothingToExportIsRefused) {
  Table table = must_open(file(), Mode::Create);
  const DeviceId device = must(table.put_device(sample_device()));
  const SettingId setting = must(table.put_setting(sample_setting()));
  must(table.put_row(device, setting, std::nullopt, sample_row(kRelu, 5)));
  expect_error(export_foreign(table, codec(), device, setting), Code::Refused,
               "the first of 1 is of Relu");
}

TEST_F(Foreign, CorruptCellsAreNamed) {
  {
    Table table = must_open(file(), Mode::Create);
    must(put(table, std::string("\n") + kLine + "\n" + kOther));
  }
  const std::string sound = read_bytes(file());
  const std::pair<std::string, std::string> cases[] = {
      {"UPDATE native_file SET hash = x'00'",
       "native_file 1: hash holds 1 bytes where 16 are expected"},
      {"UPDATE native_file SET name = x'00'", "native_file 1: name holds a blob"},
      {"UPDATE native_file SET head = 'text'",
       "native_file 1: head holds text where a blob is expected"},
      {"UPDATE native_file SET device = 'x'", "native_file 1: device holds text"},
      {"UPDATE native SET gap = 7",
       "native of row 2: gap holds an integer where a blob is expected"},
      {"UPDATE native SET text = 'x'", "native of row 2: text holds text where a blob is expected"},
      {"UPDATE row SET median_ns = -1 WHERE id = 2", "row 2: median_ns holds -1.0"},
      {"UPDATE row SET kernel = 77 WHERE id = 1", "row 1: key holds null"},
  };
  for (const auto& [sql, part] : cases) {
    SCOPED_TRACE(sql);
    write_bytes(file(), sound);
    raw(file(), "PRAGMA foreign_keys = OFF; " + sql);
    const Table table = must_open(file(), Mode::Read);
    const auto all = [&]() -> Status {
      OPLAT_TRY(files, table.foreign_files());
      for (const StoredForeignFile& file : files) OPLAT_CHECK(table.foreign_file(file.id));
      return {};
    };
    expect_error(all(), Code::Input, part);
  }
}

}  // namespace
}  // namespace oplat::table
