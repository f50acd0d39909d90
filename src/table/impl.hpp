// SPDX-License-Identifier: Apache-2.0
/// What a Table holds: the connection, the lease, the open transaction and the memory of look-ups.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/files.hpp"
#include "table/lease.hpp"
#include "table/migrate.hpp"
#include "table/sqlite.hpp"
#include "table/table.hpp"

namespace oplat::table {

using KernelId = std::int64_t;

struct Table::Impl {
  /// Table::open with the steps of migration given, so that tests can bring their own.
  static Result<std::unique_ptr<Impl>> open(const std::filesystem::path& path, Mode mode,
                                            std::span<const Migration> steps);
  Impl(std::filesystem::path path, Mode mode);
  ~Impl();
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  /// Runs `work` in a transaction, or in a savepoint of the one that is open; undoes it where it
  /// fails.
  Status write(const std::function<Status()>& work);
  template <class T>
  Result<T> write_for(const std::function<Result<T>()>& work) {
    std::optional<T> value;
    OPLAT_CHECK(write([&]() -> Status {
      auto result = work();
      if (!result) return fail(std::move(result).error());
      value = *std::move(result);
      return {};
    }));
    return *std::move(value);
  }

  using RowsQuestion = std::tuple<std::string, DeviceId, SettingId>;

  /// std::nullopt if the table has no such kernel.
  Result<std::optional<KernelId>> find_kernel(std::string_view key);
  /// Finds or adds; inside write().
  Result<KernelId> put_kernel(std::string_view key);
  void forget();
  void remember(RowsQuestion question, const std::vector<StoredRow>& rows);

  std::filesystem::path path;
  Mode mode;
  std::int64_t process;  ///< that opened it: a forked child must not touch the file
  /// Where a read-only file needed work that only a copy allows: a rollback, a migration.
  std::optional<base::TemporaryFolder> copy;
  std::unique_ptr<Database> database;
  std::optional<Lease> lease;
  int depth = 0;

  std::map<RowsQuestion, std::vector<StoredRow>> rows_memo;
  std::size_t rows_memo_bytes = 0;  ///< of keys in it, as far as it was not emptied elsewhere
  std::unordered_map<std::string, KernelId> kernel_memo;

 private:
  Status begin();
  Status run_in_transaction(const std::function<Status()>& work);
  Status commit();
  Status run_in_savepoint(const std::function<Status()>& work);
  void roll_back();
};

}  // namespace oplat::table
