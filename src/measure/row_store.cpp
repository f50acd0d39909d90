// SPDX-License-Identifier: Apache-2.0
/// Rows and blocks, one transaction each.
#include "measure/row_store.hpp"

namespace oplat::measure {

RowStore::View RowStore::assess(CampaignRow& row, References& references) const {
  const measure::Assessment assessment =
      measure::assess(row.blocks, rule_, references.medians(), row.seed());
  View view;
  view.method = row.method;
  view.inferences = assessment.inferences;
  for (const std::string& flag : assessment.flags) view.method.add(flag);
  if (assessment.timing) {
    view.outcome = *assessment.timing;
  } else {
    view.outcome = table::Failed{"no usable block"};
  }
  row.judge(assessment);
  return view;
}

Result<table::RowId> RowStore::put(CampaignRow& row, View view) {
  row.stored = view.outcome;
  row.stored_flags = view.method.flags;
  row.stored_inferences = view.inferences;
  if (row.kind == RowKind::Model) {
    table::ModelRow stored{row.name,
                           row.model->plan_identity,
                           row.model->executed_batch,
                           std::move(view.outcome),
                           std::move(view.method),
                           view.inferences};
    return table_->put_model_row(device_, setting_, campaign_, stored);
  }
  table::Row stored;
  stored.key = row.name;
  stored.reuse_bytes = row.state.reuse_bytes;
  stored.outcome = std::move(view.outcome);
  stored.method = std::move(view.method);
  return table_->put_row(device_, setting_, campaign_, stored);
}

Result<table::RowId> RowStore::put_afresh(CampaignRow& row, View view) {
  OPLAT_TRY(id, put(row, std::move(view)));
  if (row.afresh) OPLAT_CHECK(table_->remove_blocks(id));
  return id;
}

Status RowStore::add_block(CampaignRow& row, const table::Block& block, References& references) {
  references.add(block);
  row.blocks.push_back(block);
  View view = assess(row, references);
  Status stored = table_->transaction([&]() -> Status {
    OPLAT_TRY(id, put_afresh(row, std::move(view)));
    row.id = id;
    return row.kind == RowKind::Model ? table_->add_model_block(id, block)
                                      : table_->add_block(id, block);
  });
  if (stored) row.afresh = false;
  return stored;
}

Status RowStore::refuse(CampaignRow& row, const table::Outcome& refusal, References& references) {
  row.finished = true;
  View view{refusal, row.method};
  if (row.blocks.empty()) {
    row.refusal = refusal;
  } else {
    row.method.add(kFailedLater);
    view = assess(row, references);
  }
  Status stored = table_->transaction(
      [&]() -> Status { return put_afresh(row, std::move(view)).map([](table::RowId) {}); });
  if (stored) row.afresh = false;
  return stored;
}

Status RowStore::refresh(CampaignRow& row, References& references) {
  if (row.blocks.empty()) return {};
  View view = assess(row, references);
  if (row.stored == view.outcome && row.stored_flags == view.method.flags &&
      row.stored_inferences == view.inferences)
    return {};
  return put(row, std::move(view)).map([](table::RowId) {});
}

}  // namespace oplat::measure
