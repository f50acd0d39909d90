// SPDX-License-Identifier: Apache-2.0
/// Stores what a campaign knows of its rows: rows of the table, and their blocks.
#pragma once

#include <optional>

#include "measure/campaign_rows.hpp"
#include "measure/references.hpp"
#include "table/table.hpp"

namespace oplat::measure {

class RowStore {
 public:
  RowStore(table::Table& table, table::DeviceId device, table::SettingId setting,
           const measure::StopRule& rule)
      : table_(&table), device_(device), setting_(setting), rule_(rule) {}
  void set_campaign(table::CampaignId campaign) { campaign_ = campaign; }
  void set_single_sd_log(double sd_log) { rule_.single_sd_log = sd_log; }
  void set_common_sd_log(double sd_log) { rule_.common_sd_log = sd_log; }

  /// One transaction: the row as it is with this block, and the block.
  Status add_block(CampaignRow& row, const table::Block& block, References& references);
  /// The row says why there is no time; a row with blocks keeps its time and gets the flag
  /// "failed_later".
  Status refuse(CampaignRow& row, const table::Outcome& refusal, References& references);
  /// Assesses anew, now that all references are known, and writes the row if that changed it.
  Status refresh(CampaignRow& row, References& references);

 private:
  struct View {
    table::Outcome outcome;
    table::Method method;
    std::optional<table::InferenceTimes> inferences = std::nullopt;
  };
  View assess(CampaignRow& row, References& references) const;
  Result<table::RowId> put(CampaignRow& row, View view);
  /// The same; blocks of another kernel go (CampaignRow::afresh). To be called in a transaction.
  Result<table::RowId> put_afresh(CampaignRow& row, View view);

  table::Table* table_;
  table::DeviceId device_;
  table::SettingId setting_;
  measure::StopRule rule_;
  std::optional<table::CampaignId> campaign_;
};

}  // namespace oplat::measure
