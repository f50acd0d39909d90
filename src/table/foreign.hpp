// SPDX-License-Identifier: Apache-2.0
/// Files of other systems' tables as rows, with what is needed to write the same bytes again.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/hash.hpp"
#include "table/records.hpp"

namespace oplat::table {

/// One row of a foreign file: what it says, and what of its text cannot be made again from that.
struct ForeignRow {
  std::string key;  ///< printed Key
  Outcome outcome;
  std::string
      before;  ///< bytes between the row before and this one: empty lines, rows that were left out
  /// its own bytes, line end included; std::nullopt if the codec makes the same ones
  std::optional<std::string> text;
  std::string device = {};                ///< it was measured on; empty: that of the file
  std::optional<double> slowest_ns = {};  ///< of a row that oplat measured: its slowest block
  friend bool operator==(const ForeignRow&, const ForeignRow&) = default;
};

/// A foreign file, its rows in order, duplicates included.
struct ForeignFile {
  std::string head;  ///< bytes before the first row
  std::vector<ForeignRow> rows;
  std::string tail;  ///< bytes after the last row
  friend bool operator==(const ForeignFile&, const ForeignFile&) = default;
};

/// Which file it was.
struct ForeignOrigin {
  std::string format;  ///< name of the codec; the origin of its rows
  std::string name;    ///< of the file, without its folder
  base::Hash128 hash;  ///< of its bytes
  friend bool operator==(const ForeignOrigin&, const ForeignOrigin&) = default;
};

}  // namespace oplat::table
