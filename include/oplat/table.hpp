// SPDX-License-Identifier: Apache-2.0
/// Table: measured latencies, opened for reading. `oplat profile` and profile_models() make one.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "oplat/events.hpp"
#include "oplat/result.hpp"

namespace oplat {

/// A machine that rows were measured on. A number that is not known is 0, a text empty.
struct Device {
  std::string name;  ///< what people call it; names are unique in a table
  std::string cpu;
  std::string architecture;  ///< "x86_64", "aarch64"
  std::int64_t cores = 0;
  std::int64_t memory_bytes = 0;
};

/// What decided which code ran.
struct Setting {
  std::string runtime;
  std::string version;
  std::string precision;  ///< "model": the precision that the model states
  std::int64_t threads = 1;
  std::map<std::string, std::string> options;  ///< of the runtime
};

/// Which rows answer. What is left out is filled from the table if it holds one value of it; if it
/// holds several, the call fails with Code::Usage and lists them.
struct SettingFilter {
  std::optional<std::string> device = {};
  std::optional<std::string> runtime = {};
  std::optional<std::string> version = {};
  std::optional<std::string> precision = {};
  std::optional<std::int64_t> threads = {};
  std::map<std::string, std::string> options = {};  ///< of the runtime
  /// Whether rows of the nearest other setting may answer, with a wider interval and a warning.
  bool allow_setting_mismatch = false;
};

/// Which rows are listed or counted; what is left out is not looked at.
struct RowFilter {
  std::optional<std::string> device = {};
  std::optional<std::string> runtime = {};
  std::optional<std::string> version = {};
  std::optional<std::string> precision = {};
  std::optional<std::int64_t> threads = {};
  std::optional<std::string> key = {};  ///< its exact canonical text, see Key::text()
  bool with_time = false;               ///< leave out rows that hold a reason instead of a time
};

/// The time of one execution, and how sure it is.
struct Timing {
  double median_ms = 0;
  double low_ms = 0;  ///< of the 95 % confidence interval of the median
  double high_ms = 0;
  std::int64_t blocks = 0;  ///< separate blocks of measurements behind it
};

/// One kernel on one device under one setting.
struct Row {
  std::int64_t id = 0;
  std::string key;
  std::string device;  ///< its name
  Setting setting;
  std::optional<Timing> timing;  ///< std::nullopt: not measured, `reason` says why
  std::string reason;            ///< for people; empty if there is a time
  /// Bytes that the device touched between two executions: how cold its caches were. 0: hot;
  /// std::nullopt: the source does not say.
  std::optional<double> reuse_bytes;
  std::vector<std::string> flags;  ///< "under_load", "ci_not_reached", ...: sorted
};

/// A device and a setting that rows were measured under.
struct Context {
  Device device;
  Setting setting;
  std::int64_t rows = 0;
  std::int64_t rows_with_time = 0;
};

/// How a file of another system is opened. A table of oplat ignores all of it.
struct OpenOptions {
  std::optional<std::int64_t> threads = {};   ///< if the file does not say it
  std::optional<std::string> precision = {};  ///< if the file does not say it
  bool skip_bad_rows = false;                 ///< leave malformed rows out, with a warning
};

/// An open table. The file is untrusted input: it is opened read-only, and nothing in it is run.
/// Use one Table from one thread at a time; several may be open on one file, and another process
/// may write to the file. What a query answered once it answers again as long as the Table is open.
class Table {
 public:
  /// Opens a table of oplat, or another system's file as one (an imported copy is kept in the
  /// user's cache folder). Code::Input if the file is missing, damaged or neither of both;
  /// Code::Refused if a newer oplat made it. Warnings go to `events`, if given.
  static Result<Table> open(const std::string& path, const OpenOptions& options = {},
                            Events* events = nullptr);
  Table(Table&&) noexcept;
  Table& operator=(Table&&) noexcept;
  ~Table();

  [[nodiscard]] const std::string& path() const;
  /// Every device and setting with rows.
  [[nodiscard]] Result<std::vector<Context>> contexts() const;
  /// The rows, in order of id. A table may hold 100,000 of them; each_row() needs no memory for
  /// all.
  [[nodiscard]] Result<std::vector<Row>> rows(const RowFilter& filter = {}) const;
  [[nodiscard]] Result<std::int64_t> count(const RowFilter& filter = {}) const;
  /// Calls `visit` for each row, in order of id, until it returns false. `visit` must not use the
  /// table.
  Status each_row(const RowFilter& filter, const std::function<bool(const Row&)>& visit) const;

  /// Ours: what the other functions of this API work on.
  struct Impl;
  [[nodiscard]] Impl& impl() const { return *impl_; }

 private:
  explicit Table(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace oplat
