// SPDX-License-Identifier: Apache-2.0
/// Writes units to the table as rows and blocks.
#pragma once

#include "measure/references.hpp"
#include "measure/units.hpp"
#include "table/table.hpp"

namespace oplat::measure {

class RowStore {
 public:
  RowStore(table::Table& table, table::DeviceId device, table::SettingId setting,
           const measure::StopRule& rule)
      : table_(&table), device_(device), setting_(setting), rule_(rule) {}
  void set_campaign(table::CampaignId campaign) { campaign_ = campaign; }

  /// One transaction: the row as it is with this block, and the block.
  Status add_block(Unit& unit, const table::Block& block, References& references);
  /// The row says why there is no time; a row with blocks keeps its time and gets the flag
  /// "failed_later".
  Status refuse(Unit& unit, const table::Outcome& refusal, References& references);
  /// Assesses anew, now that all references are known, and writes the row if that changed it.
  Status refresh(Unit& unit, References& references);

 private:
  struct View {
    table::Outcome outcome;
    table::Method method;
  };
  View assess(Unit& unit, References& references) const;
  Result<table::RowId> put(Unit& unit, View view);

  table::Table* table_;
  table::DeviceId device_;
  table::SettingId setting_;
  measure::StopRule rule_;
  std::optional<table::CampaignId> campaign_;
};

}  // namespace oplat::measure
