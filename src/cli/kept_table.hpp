// SPDX-License-Identifier: Apache-2.0
/// Foreign files as tables with a fit, kept in the user's cache so that learning from one happens
/// once.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/hash.hpp"
#include "base/result.hpp"
#include "cli/options.hpp"
#include "table/codec.hpp"
#include "table/table.hpp"

namespace oplat::cli {

/// How a foreign file becomes a table.
struct KeptWish {
  Verbosity verbosity;
  bool calibrate = true;  ///< whether a fit that has to be made learns how sure it is
  bool fit = true;        ///< false: only when fit_kept_table is asked
};

/// A table of a foreign file's rows, with a fit.
struct KeptTable {
  std::optional<base::TemporaryFolder> folder;  ///< around a table that could not be kept
  table::Table table;
};

/// A foreign file ready to be stored.
struct ForeignImport {
  table::Setting setting;
  table::ForeignOrigin origin;
  table::ForeignRead read;
  std::string device = "library";  ///< that the rows are filed under
};

/// A foreign file whose rows are wanted as a table.
struct KeptSource {
  std::filesystem::path path;  ///< for messages
  std::string name;            ///< of the table: another one for whatever decides its content
  base::Hash128 hash;          ///< of the file's bytes, as ForeignOrigin has it
  std::function<Result<ForeignImport>()> read;
  bool skips_bad_rows = false;  ///< then the file is read each time, so that those left out are
                                ///< named, whatever is kept
};

/// The table of this name in $XDG_CACHE_HOME/oplat (or ~/.cache/oplat), made there on first use.
/// One that is damaged is made anew; where nothing can be written there, the table is a temporary
/// one, with a warning. The first time the fit is made, with progress on stderr; Code::Interrupted
/// where Ctrl-C ended that, and nothing is kept.
Result<KeptTable> kept_table(const KeptSource& source, const KeptWish& wish,
                             std::vector<std::string>& warnings);

/// Makes the fit that a wish left out, where the table has none.
Status fit_kept_table(KeptTable& kept, const KeptWish& wish, std::vector<std::string>& warnings);

/// Rows that a reader left out, as a warning.
void warn_of_skipped(const std::filesystem::path& path, std::size_t skipped,
                     const std::vector<std::string>& notes, std::vector<std::string>& warnings);

}  // namespace oplat::cli
