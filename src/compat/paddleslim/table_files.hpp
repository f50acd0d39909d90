// SPDX-License-Identifier: Apache-2.0
/// Names of PaddleSlim's tables, and where their files are looked for. Nothing is ever fetched.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace oplat::compat::paddleslim {

/// What --table of commands that predict takes of this system, for help.
inline constexpr std::string_view kTableHelp =
    R"(
--table may also be a latency table of PaddleSlim (a pickle, recognised by its bytes). Its rows are
used as they are. What they lack is estimated by a fit, which is made once and cached under
$XDG_CACHE_HOME/oplat (or ~/.cache/oplat). A name such as SD710 or RK3288 means the file
NAME_threads_4_power_mode_0.pkl (4 or --threads) in the current folder or in those of $OPLAT_TABLES.
)";

/// A table by the hardware that it is of.
struct TableName {
  std::string hardware;
  std::int64_t threads = 4;
  std::int64_t power_mode = 0;
};

/// "SD710_threads_4_power_mode_0.pkl"
std::string table_file_name(const TableName& name);

/// The file in the current folder, in `table_dir` (empty: none), or in those of $OPLAT_TABLES (":"
/// between them), in this order; in each the very name, else one that differs in case alone.
/// Code::Input names the file, the places and how to build such a table.
Result<std::filesystem::path> find_table_file(const TableName& name, const std::string& table_dir);

/// What --table names, in the place of the hardware: a file as it is; for one of the names of
/// PaddleSlim's tables (SD625, SD710, SD845, SD865, RK3288), where no file is called so, what
/// find_table_file finds.
Result<std::string> table_path(const TableName& file_or_name, const std::string& table_dir);

}  // namespace oplat::compat::paddleslim
