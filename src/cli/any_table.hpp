// SPDX-License-Identifier: Apache-2.0
/// What --table names where other systems' files may stand for a table: told apart by their bytes.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/kept_table.hpp"
#include "plan/records.hpp"
#include "predict/prediction.hpp"

namespace oplat::cli {

struct AnyTableWish {
  predict::RowFilter
      question;  ///< threads and precision that a file does not tell are taken as asked
  bool skip_bad_rows = false;
  bool calibrate = true;
  Verbosity verbosity;
};

/// An open table.
struct AnyTable {
  std::filesystem::path path;  ///< as the user gave it
  bool foreign = false;  ///< another system's file, whose rows are kept as a table (kept_table.hpp)
  KeptTable kept;
  [[nodiscard]] const table::Table& table() const { return kept.table; }
};

/// --skip-bad-rows and --calibrate, for such files.
void add_foreign_options(const Command& command, AnyTableWish& to);

Result<AnyTable> open_any_table(const std::string& path, const AnyTableWish& wish,
                                std::vector<std::string>& warnings);

/// Learns from a foreign file's rows, once, where they do not answer for every kernel of the plan
/// themselves. A table of oplat is learned from by `oplat fit`.
Status learn_for(AnyTable& table, const predict::Selection& selection, const table::Plan& plan,
                 const AnyTableWish& wish, std::vector<std::string>& warnings);

/// An error with the user's file in place of the table that stands for it.
Error with_path(const AnyTable& table, Error error);

/// The rows that answer the question; where no setting is of the asked precision and keys say that
/// they are, the precision is left to the keys.
Result<predict::Selection> select_stated(const table::Table& table, predict::RowFilter question);

/// What its rows of products computed in, by what their keys say: "fp32", "fp16", "int8".
Result<std::vector<std::string>> stated_precisions(const table::Table& table);

}  // namespace oplat::cli
