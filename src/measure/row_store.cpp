// SPDX-License-Identifier: Apache-2.0
/// Rows and blocks, one transaction each.
#include "measure/row_store.hpp"

#include <algorithm>

namespace oplat::measure {
namespace {

void add_flag(std::vector<std::string>& flags, const std::string& flag) {
  flags.push_back(flag);
  std::sort(flags.begin(), flags.end());
  flags.erase(std::unique(flags.begin(), flags.end()), flags.end());
}

}  // namespace

RowStore::View RowStore::assess(Unit& unit, References& references) const {
  const measure::Assessment assessment =
      measure::assess(unit.blocks, rule_, references.medians(), unit.seed());
  View view;
  view.method = unit.method;
  for (const std::string& flag : assessment.flags) add_flag(view.method.flags, flag);
  if (assessment.timing) {
    view.outcome = *assessment.timing;
  } else {
    view.outcome = table::Failed{"no usable block"};
  }
  unit.judge(assessment);
  return view;
}

Result<table::RowId> RowStore::put(Unit& unit, View view) {
  unit.stored = view.outcome;
  unit.stored_flags = view.method.flags;
  if (unit.kind == UnitKind::Model) {
    table::ModelRow row{unit.name, unit.model->plan_identity, unit.model->executed_batch,
                        std::move(view.outcome), std::move(view.method)};
    return table_->put_model_row(device_, setting_, campaign_, row);
  }
  table::Row row;
  row.key = unit.name;
  row.reuse_bytes = unit.state.reuse_bytes;
  row.outcome = std::move(view.outcome);
  row.method = std::move(view.method);
  return table_->put_row(device_, setting_, campaign_, row);
}

Status RowStore::add_block(Unit& unit, const table::Block& block, References& references) {
  references.add(block);
  unit.blocks.push_back(block);
  View view = assess(unit, references);
  return table_->transaction([&]() -> Status {
    OPLAT_TRY(row, put(unit, std::move(view)));
    return unit.kind == UnitKind::Model ? table_->add_model_block(row, block)
                                        : table_->add_block(row, block);
  });
}

Status RowStore::refuse(Unit& unit, const table::Outcome& refusal, References& references) {
  unit.finished = true;
  View view{refusal, unit.method};
  if (unit.blocks.empty()) {
    unit.refusal = refusal;
  } else {
    add_flag(unit.method.flags, kFailedLater);
    view = assess(unit, references);
  }
  OPLAT_TRY(row, put(unit, std::move(view)));
  (void)row;
  return {};
}

Status RowStore::refresh(Unit& unit, References& references) {
  if (unit.blocks.empty()) return {};
  View view = assess(unit, references);
  if (unit.stored == view.outcome && unit.stored_flags == view.method.flags) return {};
  OPLAT_TRY(row, put(unit, std::move(view)));
  (void)row;
  return {};
}

}  // namespace oplat::measure
