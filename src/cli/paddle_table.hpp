// SPDX-License-Identifier: Apache-2.0
/// Names of PaddleSlim's tables, and where their files are looked for. Nothing is ever fetched.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "oplat/base/result.hpp"
#include "oplat/predict/population.hpp"

namespace oplat::cli {

/// A table by the hardware that it is of.
struct PaddleTableName {
  std::string hardware;
  std::int64_t threads = 4;
  std::int64_t power_mode = 0;
};

/// Whether a word is one of the names that PaddleSlim and its page give tables: SD625, SD710, SD845, SD865, RK3288.
bool names_paddle_table(std::string_view word);

/// "SD710_threads_4_power_mode_0.pkl"
std::string paddle_table_file(const PaddleTableName& name);

/// The file in the current folder, in `table_dir` (empty: none), or in those of $OPLAT_TABLES (":" between them), in this
/// order; in each the very name, else one that differs in case alone. Code::Input names the file, the places and how to
/// build such a table.
Result<std::filesystem::path> find_paddle_table(const PaddleTableName& name, const std::string& table_dir);

/// What --table names: a file as it is; for one of the names above, where no file is called so, the table of the asked threads,
/// else of four, at power mode 0.
Result<std::string> paddle_table_path(const std::string& file_or_name, const predict::Question& question);

}  // namespace oplat::cli
