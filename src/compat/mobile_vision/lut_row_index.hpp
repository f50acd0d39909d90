// SPDX-License-Identifier: Apache-2.0
/// The times of imported lines by the identity of their queries, kept next to the rows so that a
/// look-up need not read them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.hpp"
#include "compat/mobile_vision/lut.hpp"
#include "table/table.hpp"

namespace oplat::compat::mobile_vision {

class LutRowIndex {
 public:
  /// The one that was kept for the pair; std::nullopt if there is none, or where its rows are other
  /// ones by now.
  static Result<std::optional<LutRowIndex>> load(const table::Table& table, table::DeviceId device,
                                                 table::SettingId setting);
  /// Makes and keeps it. Keeps none where rows of the pair are not lines: oplat measured them, say.
  static Status store(table::Table& table, table::DeviceId device, table::SettingId setting);

  /// Of every line of this query, in the table's order.
  [[nodiscard]] std::vector<LutTime> find(const base::Hash128& identity) const;

 private:
  struct Entry {
    base::Hash128 identity;
    LutTime time;
  };
  static std::optional<LutRowIndex> decode(std::string_view blob);
  [[nodiscard]] std::string encode() const;

  std::vector<Entry> entries_;  ///< by identity; those of one identity in the table's order
};

}  // namespace oplat::compat::mobile_vision
