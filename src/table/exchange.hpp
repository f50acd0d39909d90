// SPDX-License-Identifier: Apache-2.0
/// Foreign files into a table and out of it again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "table/codec.hpp"
#include "table/table.hpp"

namespace oplat::table {

struct ImportRequest {
  ForeignOrigin origin;
  std::string device;  ///< its name; added where the table does not have it, as are those that rows
                       ///< name themselves
  Setting setting;
  bool replace = false;  ///< the rows of a file of the same name give way
};
enum class ImportOutcome : std::uint8_t {
  Added,
  Replaced,
  Unchanged,  ///< the very bytes had been imported for this device and setting: nothing was written
};
/// One transaction. `codec` read the file and is named by `request.origin.format`. Code::Refused
/// where other bytes of the same name stand there and `replace` is not asked for.
Result<ImportOutcome> import_foreign(Table& table, const TableCodec& codec,
                                     const ImportRequest& request, const ForeignFile& file);

/// The value of a row's slowest block; std::nullopt if it has none.
Result<std::optional<double>> slowest_block(const Table& table, RowId row);

struct Exported {
  std::string bytes;
  std::size_t rows = 0;
  std::size_t left_out = 0;            ///< rows that the format cannot say
  std::vector<std::string> left_keys;  ///< the first ten of them
  /// rows beyond the first of those that the format cannot tell apart; their mean is said
  std::size_t merged = 0;
  std::size_t told_already = 0;  ///< rows of other formats that a file of this one says itself
};
/// The files of this format that were imported for the pair, one after the other, byte for byte; of
/// files of another device the rows that stand under this one; then what oplat measured there and
/// what was imported from other formats, of keys that the format can say, at the hottest cache
/// state of each. Code::Refused if that is nothing.
Result<Exported> export_foreign(const Table& table, const TableCodec& codec, DeviceId device,
                                SettingId setting);

}  // namespace oplat::table
