// SPDX-License-Identifier: Apache-2.0
/// Use case: rows of a table as another system's latency table.
#pragma once

#include <cstddef>
#include <string>

#include "app/events.hpp"
#include "base/result.hpp"
#include "predict/row_selection.hpp"
#include "table/exchange.hpp"

namespace oplat::app {

struct ExportTableRequest {
  std::string table;                                       ///< a table of oplat
  std::string format;                                      ///< name of a codec
  std::string file;                                        ///< to write; replaced if it exists
  predict::RowFilter rows = {.has_mismatch_flag = false};  ///< precision: the format's word, too
};

struct ExportTableResult {
  std::size_t rows = 0;  ///< written
};

/// Writes the imported files of this format that fit, byte for byte, then what else the format can
/// say (table/exchange.hpp). What is left out or merged is a warning. Code::Usage: several imports
/// fit; Code::Refused: nothing to write; Code::Write: the file.
Result<ExportTableResult> export_table(const ExportTableRequest& request, Events& events);

}  // namespace oplat::app
