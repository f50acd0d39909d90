// SPDX-License-Identifier: Apache-2.0
/// Use case: another system's latency table as rows of a table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/events.hpp"
#include "base/result.hpp"
#include "table/exchange.hpp"

namespace oplat::app {

struct ImportTableRequest {
  std::string file;    ///< at most 128 MiB
  std::string format;  ///< name of a codec
  std::string table;   ///< a table of oplat, made if missing
  /// The device that the rows were measured on; empty: what the file or its name says.
  std::optional<std::string> device = {};
  std::string precision = {};        ///< the format's word; empty: what the file says
  std::string runtime = {};          ///< empty: the format's own
  std::string runtime_version = {};  ///< empty: what the file says
  std::optional<std::int64_t> threads = {};
  bool skip_bad_rows = false;  ///< leave malformed rows out, with warnings
  bool replace = false;        ///< of an earlier import of the same name, device and setting
};

struct ImportTableResult {
  table::ImportOutcome outcome = table::ImportOutcome::Added;
  std::vector<std::string> devices;  ///< that the rows are of
  table::Setting setting;
  std::size_t rows = 0;
  std::size_t timed = 0;  ///< of those; the others failed
};

/// Imports in one transaction. Code::Usage: format, device or precision; Code::Input: the file, or
/// a corrupt table; Code::Refused: other bytes of this name are there, or the table is locked.
Result<ImportTableResult> import_table(const ImportTableRequest& request, Events& events);

/// What became of it, a line.
std::string import_text(const ImportTableRequest& request, const ImportTableResult& result);

}  // namespace oplat::app
