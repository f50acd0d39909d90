// SPDX-License-Identifier: Apache-2.0
/// The table that a request names: a table of oplat, or another system's file that stands for one.
/// The two are told apart by their bytes.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/cached_table.hpp"
#include "app/events.hpp"
#include "plan/records.hpp"
#include "predict/prediction.hpp"

namespace oplat::app {

/// How to open another system's file. A table of oplat ignores all of it.
struct OpenTableOptions {
  predict::RowFilter rows = {};  ///< threads and precision, where the file does not say them
  bool skip_bad_rows = false;    ///< leave malformed rows out, with a warning
  bool calibrate = true;         ///< see CacheOptions
};

/// An open table.
struct OpenedTable {
  std::filesystem::path path;  ///< as the user gave it
  bool foreign = false;        ///< another system's file, whose rows are cached as a table
  CachedTable cached;
  [[nodiscard]] const table::Table& table() const { return cached.table; }
};

/// Opens the file for reading. Code::Input if it is missing or malformed.
Result<OpenedTable> open_table(const std::string& path, const OpenTableOptions& options,
                               Events& events);

/// Learns from a foreign file's rows, once, if they do not answer for every kernel of the plan
/// themselves. Does nothing for a table of oplat: `oplat fit` learns from those.
Status learn_for(OpenedTable& table, const predict::Selection& selection, const table::Plan& plan,
                 const OpenTableOptions& options, Events& events);

/// An error that names the user's file instead of the cached table.
Error with_path(const OpenedTable& table, Error error);

/// predict::select_rows() over compat::catalogue(), with what runtimes::sum_error() knows of the
/// rows' setting. All of app selects by it.
Result<predict::Selection> select_rows(const table::Table& table, const predict::RowFilter& rows);

/// Adds NAME=VALUE of --option to the rows that are asked for; VALUE may be empty: not set.
/// Code::Usage if it is not of this form, or the name is given twice.
Status add_row_option(predict::RowFilter& rows, const std::string& text);

/// The rows that answer. If no setting has the asked precision but keys state it, the precision is
/// left to the keys.
Result<predict::Selection> select_stated(const table::Table& table, predict::RowFilter rows);

/// The precisions that the keys of its matrix products and convolutions state: "fp32", "fp16",
/// "int8".
Result<std::vector<std::string>> stated_precisions(const table::Table& table);

}  // namespace oplat::app
