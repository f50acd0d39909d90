// SPDX-License-Identifier: Apache-2.0
/// From a path to a connection that is known to show a table of this schema.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>

#include "base/files.hpp"
#include "table/migrate.hpp"
#include "table/sqlite.hpp"
#include "table/table.hpp"

namespace oplat::table {

struct OpenedDatabase {
  std::unique_ptr<Database> database;
  /// holds the file that is really open, if it is not the one asked for
  std::optional<base::TemporaryFolder> copy;
};
/// Makes the file where `mode` is Create and it is missing or empty. Does not take the lease.
Result<OpenedDatabase> open_database(const std::filesystem::path& path, Mode mode,
                                     std::span<const Migration> steps);

}  // namespace oplat::table
