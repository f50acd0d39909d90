// SPDX-License-Identifier: Apache-2.0
/// Foreign files in a table: whole, in order, once; and out again next to what was measured.
#include "table/exchange.hpp"
#include "base/hash.hpp"
#include "compat/tinynas/codec.hpp"
#include "unit/table/table_fixture.hpp"

namespace oplat::compat::tinynas {
namespace {

using namespace table;  // NOLINT: the file is about tables

constexpr char kLine[] = "{Regular,1,16,5,5,8,1,1,0} 0.5\n";
constexpr char kOther[] = "{Regular,1,16,5,5,8,3,1,1} 0.25\n";
constexpr char kFailedLine[] = "{Regular,1,16,9,9,8,3,1,1} -1\n";

class Foreign : public table::TableTest {
 protected:
  static table::ForeignFile read(const std::string& bytes, bool skip_bad_rows = false) {
    return table::must(codec().read(bytes, {"lib", "fp32", skip_bad_rows})).file;
  }
  static const table::TableCodec& codec() { return library_codec(); }
  static table::ImportRequest request(const std::string& bytes,
                                      const std::string& name = "conv_data.out") {
    table::ImportRequest request;
    request.origin = {"tinynas", name, base::hash128(bytes)};
    request.device = "V100";
    request.setting = table::must(codec().setting("conv_data.out", ""));
    return request;
  }
  static Result<table::ImportOutcome> put(table::Table& table, const std::string& bytes,
                                          const std::string& name = "conv_data.out",
                                          bool replace = false) {
    table::ImportRequest asked = request(bytes, name);
    asked.replace = replace;
    return table::import_foreign(table, codec(), asked, read(bytes, true));
  }
  static std::pair<table::DeviceId, table::SettingId> pair(const table::Table& table) {
    return {table::must(table.find_device("V100")).value(),
            table::must(table.find_setting(request("").setting)).value()};
  }
  static table::Exported exported(const table::Table& table) {
    const auto [device, setting] = pair(table);
    return table::must(table::export_foreign(table, codec(), device, setting));
  }
};

TEST_F(Foreign, AFileComesBackWhole) {
  table::ForeignFile foreign;
  foreign.head = std::string("\0head\n", 6);
  foreign.tail = "tail";
  foreign.rows = {{table::kRelu, table::sample_timing(1500), "", {}},
                  {table::kAdd, table::Failed{"went wrong"}, "between", std::string("a\0b\xff", 4)},
                  {table::kRelu, table::sample_timing(1400), "", ""},
                  {table::kRelu, table::Unsupported{"cannot"}, "", {}}};
  table::FileId id = 0;
  const table::ForeignOrigin origin{"test", "dir name.txt", base::hash128("bytes")};
  {
    table::Table table = table::must_open(file(), table::Mode::Create);
    const table::DeviceId device = table::must(table.put_device(table::sample_device()));
    const table::SettingId setting = table::must(table.put_setting(table::sample_setting()));
    table::must(table.put_row(device, setting, std::nullopt, table::sample_row(table::kAdd, 7)));
    EXPECT_TRUE(table::must(table.rows_of(table::kRelu, device, setting)).empty());
    id = table::must(table.add_foreign(device, setting, origin, foreign));
    EXPECT_EQ(table::must(table.rows_of(table::kRelu, device, setting)).size(), 3U)
        << "what was looked up before is looked up anew";
  }
  const table::Table table = table::must_open(file(), table::Mode::Read);
  EXPECT_EQ(table::must(table.foreign_file(id)), foreign);
  const auto files = table::must(table.foreign_files());
  ASSERT_EQ(files.size(), 1U);
  EXPECT_EQ(files[0].id, id);
  EXPECT_EQ(files[0].origin, origin);
  // The rows are rows as any other.
  const auto rows = table::must(table.rows_of(table::kAdd, files[0].device, files[0].setting));
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].row.origin, "own");
  EXPECT_EQ(rows[1].row.origin, "test");
  EXPECT_EQ(rows[1].row.reuse_bytes, std::nullopt);
  EXPECT_EQ(rows[1].row.outcome, table::Outcome(table::Failed{"went wrong"}));
  EXPECT_EQ(rows[1].row.method, Method{});
  const auto beside =
      table::must(table.rows_beside(files[0].device, files[0].setting, files[0].origin.format));
  ASSERT_EQ(beside.size(), 1U);
  EXPECT_EQ(beside[0].row.key, table::kAdd);
  EXPECT_EQ(table::must(table.counts()).kernels, 2);
  EXPECT_EQ(table::must(table.counts()).foreign, 4);
  EXPECT_TRUE(table::must(table.integrity()).empty());
}

TEST_F(Foreign, RemovingAFileRemovesItsRowsAlone) {
  table::Table table = table::must_open(file(), table::Mode::Create);
  ASSERT_EQ(table::must(put(table, kLine)), table::ImportOutcome::Added);
  ASSERT_EQ(table::must(put(table, std::string(kOther) + "\r\n", "more.out")),
            table::ImportOutcome::Added);
  const auto files = table::must(table.foreign_files());
  ASSERT_EQ(files.size(), 2U);
  table::must(table.remove_foreign(files[0].id));
  EXPECT_EQ(table::must(table.foreign_files()).size(), 1U);
  EXPECT_EQ(exported(table).bytes, std::string(kOther) + "\r\n");
  table::must(table.remove_foreign(files[1].id));
  EXPECT_EQ(table::must(table.counts()).rows(), 0);
  EXPECT_EQ(raw_value(file(), "SELECT count(*) FROM native"), "0");
}

TEST_F(Foreign, WhatNoTableMayHoldIsRefused) {
  table::Table table = table::must_open(file(), table::Mode::Create);
  const table::DeviceId device = table::must(table.put_device(table::sample_device()));
  const table::SettingId setting = table::must(table.put_setting(table::sample_setting()));
  const auto add = [&](const std::string& format, const table::ForeignRow& row) {
    return table.add_foreign(device, setting, {format, "n", {}},
                             {"", {{table::kRelu, table::sample_timing(1), "", {}}, row}, ""});
  };
  table::expect_error(add("own", {table::kAdd, table::sample_timing(1), "", {}}), Code::Input,
                      "'own' is not a format");
  table::expect_error(add("test", {"", table::sample_timing(1), "", {}}), Code::Input,
                      "the key is empty");
  table::expect_error(add("test", {"two\nlines", table::sample_timing(1), "", {}}), Code::Input,
                      "a line end or NUL");
  table::expect_error(add("test", {table::kAdd, table::sample_timing(-1), "", {}}), Code::Input,
                      "median_ns");
  EXPECT_EQ(table::must(table.counts()).rows(), 0);
  EXPECT_TRUE(table::must(table.foreign_files()).empty());
}

TEST_F(Foreign, AnImportIsDoneOnce) {
  table::Table table = table::must_open(file(), table::Mode::Create);
  EXPECT_EQ(table::must(put(table, kLine)), table::ImportOutcome::Added);
  EXPECT_EQ(table::must(put(table, kLine)), table::ImportOutcome::Unchanged);
  EXPECT_EQ(table::must(put(table, kLine, "copy.out")), table::ImportOutcome::Unchanged)
      << "the same bytes under another name";
  EXPECT_EQ(table::must(table.counts()).rows(), 1);
  table::expect_error(put(table, kOther), Code::Refused, "--replace");
  EXPECT_EQ(exported(table).bytes, kLine);
  EXPECT_EQ(table::must(put(table, kOther, "conv_data.out", true)), table::ImportOutcome::Replaced);
  EXPECT_EQ(exported(table).bytes, kOther);
  EXPECT_EQ(table::must(table.counts()).rows(), 1);
  // Another device or setting is another matter.
  table::ImportRequest elsewhere = request(kOther);
  elsewhere.device = "T4";
  EXPECT_EQ(table::must(table::import_foreign(table, codec(), elsewhere, read(kOther))),
            table::ImportOutcome::Added);
  EXPECT_EQ(table::must(table.devices()).size(), 2U);
}

TEST_F(Foreign, AKnownDeviceKeepsItsFacts) {
  table::Table table = table::must_open(file(), table::Mode::Create);
  Device known = table::sample_device();
  known.name = "V100";
  table::must(table.put_device(known));
  table::must(put(table, kLine));
  const auto devices = table::must(table.devices());
  ASSERT_EQ(devices.size(), 1U);
  EXPECT_EQ(devices[0].second, known);
}

TEST_F(Foreign, AReplacedFileAgesFits) {
  table::Table table = table::must_open(file(), table::Mode::Create);
  table::must(put(table, kLine));
  const auto [device, setting] = pair(table);
  table::must(table.put_fit(device, setting, {"some/1", 0, "blob"}));
  ASSERT_TRUE(table::must(table.find_fit("some/1", device, setting)).value().current);
  table::must(put(table, kOther, "conv_data.out", true));
  EXPECT_FALSE(table::must(table.find_fit("some/1", device, setting)).value().current);
}

TEST_F(Foreign, SeveralFilesFollowOneAnotherOnLinesOfTheirOwn) {
  table::Table table = table::must_open(file(), table::Mode::Create);
  const std::string first = std::string(kLine) + "bad row";
  table::must(put(table, first));
  table::must(put(table, std::string("\n") + kOther + kFailedLine, "second.out"));
  std::string unended = kLine;
  unended.pop_back();
  table::must(put(table, unended, "third.out"));
  EXPECT_EQ(exported(table).bytes, first + "\n\n" + kOther + kFailedLine + unended);
  EXPECT_EQ(exported(table).rows, 4U);
}

TEST_F(Foreign, MeasuredRowsFollowAtTheirHottestState) {
  table::Table table = table::must_open(file(), table::Mode::Create);
  std::string unended = kOther;
  unended.pop_back();
  table::must(put(table, unended));
  const auto [device, setting] = pair(table);
  const std::string key = read(kLine).rows.at(0).key;
  Row row = table::sample_row(key, 900'000);
  row.reuse_bytes = 1e9;
  table::must(table.put_row(device, setting, std::nullopt, row));
  row = table::sample_row(key, 750'000);
  row.reuse_bytes = 0;
  table::must(table.put_row(device, setting, std::nullopt, row));
  table::must(table.put_row(device, setting, std::nullopt,
                            {read(std::string(kLine) + kFailedLine).rows.at(1).key,
                             0.0,
                             "own",
                             table::Unsupported{"no"},
                             {}}));
  table::must(table.put_row(device, setting, std::nullopt, table::sample_row(table::kRelu, 5)));
  const table::Exported out = exported(table);
  EXPECT_EQ(out.bytes, unended + "\n{Regular,1,16,5,5,8,1,1,0} 0.75\n" + kFailedLine);
  EXPECT_EQ(out.rows, 3U);
  EXPECT_EQ(out.left_out, 1U);
  EXPECT_EQ(out.left_keys, std::vector<std::string>{table::kRelu});
}

TEST_F(Foreign, NothingToExportIsRefused) {
  table::Table table = table::must_open(file(), table::Mode::Create);
  const table::DeviceId device = table::must(table.put_device(table::sample_device()));
  const table::SettingId setting = table::must(table.put_setting(table::sample_setting()));
  table::must(table.put_row(device, setting, std::nullopt, table::sample_row(table::kRelu, 5)));
  table::expect_error(table::export_foreign(table, codec(), device, setting), Code::Refused,
                      "the first of 1 has the key Relu");
}

TEST_F(Foreign, CorruptCellsAreNamed) {
  {
    table::Table table = table::must_open(file(), table::Mode::Create);
    table::must(put(table, std::string("\n") + kLine + "\n" + kOther));
  }
  const std::string sound = read_bytes(file());
  const std::pair<std::string, std::string> cases[] = {
      {"UPDATE native_file SET hash = x'00'", "native_file 1: hash holds 1 bytes; expected 16"},
      {"UPDATE native_file SET name = x'00'", "native_file 1: name holds a blob"},
      {"UPDATE native_file SET head = 'text'", "native_file 1: head holds text; expected a blob"},
      {"UPDATE native_file SET device = 'x'", "native_file 1: device holds text"},
      {"UPDATE native SET gap = 7", "native of row 2: gap holds an integer; expected a blob"},
      {"UPDATE native SET text = 'x'", "native of row 2: text holds text; expected a blob"},
      {"UPDATE row SET median_ns = -1 WHERE id = 2", "row 2: median_ns holds -1.0"},
      {"UPDATE row SET kernel = 77 WHERE id = 1", "row 1: key holds null"},
  };
  for (const auto& [sql, part] : cases) {
    SCOPED_TRACE(sql);
    write_bytes(file(), sound);
    table::raw(file(), "PRAGMA foreign_keys = OFF; " + sql);
    const table::Table table = table::must_open(file(), table::Mode::Read);
    const auto all = [&]() -> Status {
      OPLAT_TRY(files, table.foreign_files());
      for (const StoredForeignFile& file : files) OPLAT_CHECK(table.foreign_file(file.id));
      return {};
    };
    table::expect_error(all(), Code::Input, part);
  }
}

}  // namespace
}  // namespace oplat::compat::tinynas
