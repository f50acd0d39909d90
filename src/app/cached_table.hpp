// SPDX-License-Identifier: Apache-2.0
/// Foreign files as tables with a fit, kept in the user's cache so that learning from one happens
/// once.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/events.hpp"
#include "base/files.hpp"
#include "base/hash.hpp"
#include "base/result.hpp"
#include "table/codec.hpp"
#include "table/table.hpp"

namespace oplat::app {

/// How a foreign file becomes a table.
struct CacheOptions {
  bool calibrate = true;  ///< whether a fit that has to be made learns how sure it is
  bool fit = true;        ///< false: only once fit_cached_table is called
};

/// A table of a foreign file's rows, with a fit. Open for reading.
struct CachedTable {
  std::optional<base::TemporaryFolder>
      folder;  ///< holds a table that could not be cached; deleted with it
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
struct CacheSource {
  std::filesystem::path path;  ///< for messages
  std::string name;            ///< of the table: another one for whatever decides its content
  base::Hash128 hash;          ///< of the file's bytes, as ForeignOrigin has it
  std::function<Result<ForeignImport>()> read;
  bool skips_bad_rows = false;  ///< then the file is read each time, so that those left out are
                                ///< named, whatever is kept
};

/// The table of this name in $XDG_CACHE_HOME/oplat (or ~/.cache/oplat), made there on first use.
/// A damaged one is made anew. If nothing can be written there, the table is a temporary one, with
/// a warning. The fit is made the first time. Code::Interrupted once `events` are cancelled:
/// the rows are kept then, and what is finished of the fit.
Result<CachedTable> open_cached_table(const CacheSource& source, const CacheOptions& options,
                                      Events& events);

/// Makes the fit that `CacheOptions::fit` left out, if the table has none.
Status fit_cached_table(CachedTable& kept, const CacheOptions& options, Events& events);

/// Rows that a reader left out, as a warning.
void warn_of_skipped(const std::filesystem::path& path, std::size_t skipped,
                     const std::vector<std::string>& notes, Events& events);

}  // namespace oplat::app
