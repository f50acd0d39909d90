// SPDX-License-Identifier: Apache-2.0
/// A table file of its own per test, records to fill it with, and SQLite without any of our care.
#pragma once

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include "base/files.hpp"
#include "table/process.hpp"
#include "table/table.hpp"

namespace oplat::table {

inline Table must_open(const std::filesystem::path& path, Mode mode) {
  auto table = Table::open(path, mode);
  if (!table) {
    ADD_FAILURE() << table.error().message;
    std::abort();
  }
  return *std::move(table);
}

template <class T>
T must(Result<T> result) {
  if (!result) {
    ADD_FAILURE() << result.error().message;
    std::abort();
  }
  return *std::move(result);
}
inline void must(const Status& status) { ASSERT_TRUE(status) << status.error().message; }

/// Expects an error of this code whose message holds `part`.
template <class T>
void expect_error(const Result<T>& result, Code code, const std::string& part) {
  ASSERT_FALSE(result) << "no error; expected: " << part;
  EXPECT_EQ(static_cast<int>(result.error().code), static_cast<int>(code))
      << result.error().message;
  EXPECT_NE(result.error().message.find(part), std::string::npos) << result.error().message;
}

inline std::string read_bytes(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
inline void write_bytes(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

/// Runs SQL on a file as anybody could: nothing is checked, constraints can be off.
inline void raw(const std::filesystem::path& path, const std::string& sql) {
  sqlite3* handle = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &handle), SQLITE_OK);
  char* message = nullptr;
  const int code = sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, &message);
  EXPECT_EQ(code, SQLITE_OK) << sql << ": " << (message != nullptr ? message : "");
  sqlite3_free(message);
  sqlite3_close(handle);
}

inline std::int64_t now_ms() {
  using namespace std::chrono;
  return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

/// Writes a lease as another process would have left it.
inline void plant_lease(const std::filesystem::path& file, const ProcessIdentity& process,
                        std::int64_t heartbeat_ms) {
  raw(file, fmt::format("INSERT OR REPLACE INTO lease VALUES (1, 'foreign', {}, {}, '{}', {}, {})",
                        process.pid, process.start ? std::to_string(*process.start) : "NULL",
                        process.host, std::int64_t{1'735'787'045'000}, heartbeat_ms));
}

/// The first cell that `sql` gives, as text.
inline std::string raw_value(const std::filesystem::path& path, const std::string& sql) {
  sqlite3* handle = nullptr;
  EXPECT_EQ(sqlite3_open(path.c_str(), &handle), SQLITE_OK);
  sqlite3_stmt* statement = nullptr;
  EXPECT_EQ(sqlite3_prepare_v2(handle, sql.c_str(), -1, &statement, nullptr), SQLITE_OK)
      << sqlite3_errmsg(handle);
  std::string value = "(none)";
  if (sqlite3_step(statement) == SQLITE_ROW) {
    const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, 0));
    value = text == nullptr ? "(null)" : text;
  }
  sqlite3_finalize(statement);
  sqlite3_close(handle);
  return value;
}

inline Device sample_device() {
  return {"desk", "Xeon 8480", "x86_64", 16, 64'000'000'000, 49152, 2'097'152, 0, "avx2 avx512f"};
}
inline Setting sample_setting() {
  return {"onnxruntime", "1.31.1", "abc123", "model", 4, {{"spinning", "0"}, {"level", "99"}}};
}
/// Of three runs.
inline base::TimeSketch sample_inferences() {
  base::TimeSketch sketch;
  sketch.add(std::vector<double>{90'000, 91'000, 99'000});
  return sketch;
}

inline Timing sample_timing(double median_ns) {
  return {median_ns,
          0.0125,
          median_ns * 0.99,
          median_ns * 1.01,
          0.95,
          median_ns * 0.97,
          median_ns * 0.98,
          median_ns * 1.2,
          40,
          5};
}
inline Row sample_row(const std::string& key, double median_ns) {
  return {
      key, 1024.0, "own", sample_timing(median_ns), {64, "chain", {"ci_not_reached", "disturbed"}}};
}
constexpr char kRelu[] = "Relu/14{}(f32[1,64])->(f32[1,64])";
constexpr char kAdd[] = "Add/14{}(f32[8],f32[8])->(&0)";

class TableTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::filesystem::path file(const std::string& name = "t.oplat") const {
    return folder_.path() / name;
  }

  /// A table with one of everything, closed again.
  void fill() const {
    Table table = must_open(file(), Mode::Create);
    const DeviceId device = must(table.put_device(sample_device()));
    const SettingId setting = must(table.put_setting(sample_setting()));
    const CampaignId campaign = must(table.add_campaign(
        device, setting, {"oplat profile", "c0ffee", 7, 10.5, std::nullopt, 800.0},
        {"6.1", "aa", "2025-01-02T03:04:05Z", 0.5, {{"clock", "tsc"}}}));
    const RowId row = must(table.put_row(device, setting, campaign, sample_row(kRelu, 1500)));
    must(table.put_row(device, setting, campaign,
                       {kAdd, std::nullopt, "own", Failed{"signal 11"}, {}}));
    must(table.add_block(row, {0, 1, 1501.5, 10.25, std::nullopt, 30, 2, 0, 0.5}));
    const RowId model = must(table.put_model_row(device, setting, campaign,
                                                 {"net.onnx",
                                                  "plan-1",
                                                  1,
                                                  sample_timing(90'000),
                                                  {1, "single", {}},
                                                  inference_times(sample_inferences(), 1)}));
    must(table.add_model_block(
        model, {0, 1, 90'001, std::nullopt, 20.5, 12, 0, 1, 0.25, sample_inferences()}));
    must(table.put_plan(
        {"net.onnx", "plan-1", "runtime", 1, 4096, 512, {{"a", kRelu, 1, true}, {"b", kAdd, 2}}}));
    must(table.remember_model_hash("/models/net.onnx", 4242, 1'700'000'000'000'000'000, "d0d0"));
  }

  base::TemporaryFolder folder_ = must(base::TemporaryFolder::create("oplat-table-test"));
};

/// Asks a table for everything that it can hold; gives the first error.
inline Status read_everything(const Table& table) {
  OPLAT_CHECK(table.devices());
  OPLAT_CHECK(table.settings());
  OPLAT_CHECK(table.contexts());
  OPLAT_CHECK(table.context_outlines());
  OPLAT_CHECK(table.campaigns());
  OPLAT_CHECK(table.counts());
  std::vector<StoredRow> rows;
  OPLAT_CHECK(table.each_row({}, [&](const StoredRow& row) {
    rows.push_back(row);
    return true;
  }));
  for (const StoredRow& row : rows) {
    OPLAT_CHECK(table.blocks_of(row.id));
    OPLAT_CHECK(table.rows_of(row.row.key, row.device, row.setting));
  }
  OPLAT_TRY(models, table.model_rows());
  for (const auto& model : models) OPLAT_CHECK(table.blocks_of_model(model.id));
  OPLAT_CHECK(table.plans());
  OPLAT_CHECK(table.find_plan("plan-1"));
  OPLAT_CHECK(table.known_model_hash("/models/net.onnx", 4242, 1'700'000'000'000'000'000));
  return {};
}

}  // namespace oplat::table
