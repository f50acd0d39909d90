// SPDX-License-Identifier: Apache-2.0
/// Rows of a table found by runtime_lut's rule.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "compat/mobile_vision/lut.hpp"
#include "table/table.hpp"

namespace oplat::compat::mobile_vision {

/// What a look-up table says of one query.
struct LutFound {
  std::vector<LutTime> times;                ///< in the table's order; none where it has no record
  std::optional<std::string> contradiction;  ///< see contradiction()
};

class LutRowIndex;

/// Look-ups in the rows of one device: of imported rows the lines decide, of those that oplat
/// measured the keys. The table must outlive it and stay as it is.
class LutRows {
 public:
  /// `settings` in order of preference: the first that holds the query answers.
  LutRows(const table::Table& table, table::DeviceId device,
          const std::vector<table::SettingId>& settings);
  LutRows(LutRows&&) noexcept;
  LutRows& operator=(LutRows&&) noexcept;
  ~LutRows();
  /// From the index that an import keeps; without one from the rows, which is remembered.
  Result<LutFound> find(const formats::caffe2::LutQuery& query);

 private:
  struct Source;  ///< the rows of one setting

  Result<const LutRowIndex*> index_of(Source& source);
  Result<LutFound> in_index(const LutRowIndex& index, const base::Hash128& identity,
                            const formats::caffe2::LutQuery& query) const;
  Result<LutFound> in_rows(table::SettingId setting, const base::Hash128& identity,
                           const formats::caffe2::LutQuery& query) const;

  const table::Table* table_;
  table::DeviceId device_;
  std::vector<Source> sources_;
  std::unordered_map<base::Hash128, LutFound> memo_;
};

}  // namespace oplat::compat::mobile_vision
