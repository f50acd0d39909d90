// SPDX-License-Identifier: Apache-2.0
/// Older schemas are brought up to date on a copy, one step per version; the file itself stays as
/// it was.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

#include "base/result.hpp"
#include "table/sqlite.hpp"

namespace oplat::table {

/// Leads from schema `from` to `from + 1`. Runs inside a transaction.
struct Migration {
  std::int64_t from = 0;
  Status (*apply)(Database& database) = nullptr;
};
/// Every step since the first released schema, which was 1.
std::span<const Migration> migrations();

/// Copies the table at `from` to `to`, which must not exist, and applies the steps from its version
/// to kSchemaVersion. Code::Input if no step leads on.
Status migrate_copy(Database& from, const std::filesystem::path& to,
                    std::span<const Migration> steps);

/// Gives the table at `file`, open as `from`, the further name `kept`: by a hard link, or by a copy
/// where the file system has none. A copy that fails is removed again.
Status keep_file(Database& from, const std::filesystem::path& file,
                 const std::filesystem::path& kept);

}  // namespace oplat::table
