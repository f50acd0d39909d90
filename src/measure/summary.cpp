// SPDX-License-Identifier: Apache-2.0
/// Counts rows by outcome.
#include "measure/summary.hpp"

namespace oplat::measure {
namespace {

std::string reason_of(const table::Outcome& outcome) {
  if (const auto* failed = std::get_if<table::Failed>(&outcome)) return failed->reason;
  if (const auto* unsupported = std::get_if<table::Unsupported>(&outcome))
    return unsupported->reason;
  if (const auto* skipped = std::get_if<table::Skipped>(&outcome)) return skipped->reason;
  return {};
}

void count(Counts& counts, const CampaignRow& row, const measure::StopRule& rule) {
  ++counts.total;
  if (row.refusal) {
    counts.failed += std::holds_alternative<table::Failed>(*row.refusal) ? 1 : 0;
    counts.unsupported += std::holds_alternative<table::Unsupported>(*row.refusal) ? 1 : 0;
    counts.skipped += std::holds_alternative<table::Skipped>(*row.refusal) ? 1 : 0;
  } else if (row.blocks.empty()) {
    ++counts.left;
  } else if (row.precise) {
    ++counts.precise;
  } else if (row.attempts() >= rule.min_blocks) {
    ++counts.wide;
  } else {
    ++counts.few;
  }
}

}  // namespace

Summary summarise(const CampaignRows& rows, const measure::StopRule& rule) {
  Summary summary;
  summary.views = rows.views;
  std::optional<std::int64_t> fewest;
  for (const CampaignRow& row : rows.all) {
    if (row.demand == RowDemand::No) continue;
    // Whether an evicted row is wanted is open until its hot one is measured: that one is counted
    // instead.
    if (row.demand == RowDemand::Yes)
      count(row.kind == RowKind::Model ? summary.models : summary.kernels, row, rule);
    if (row.refusal) {
      summary.refusals.push_back(
          {row.name, std::string(table::outcome_name(*row.refusal)), reason_of(*row.refusal)});
    } else if (!fewest || row.attempts() < *fewest) {
      fewest = row.attempts();
    }
  }
  summary.passes = fewest.value_or(0);
  summary.kernels.total += static_cast<std::int64_t>(rows.unreadable.size());
  summary.kernels.failed += static_cast<std::int64_t>(rows.unreadable.size());
  summary.refusals.insert(summary.refusals.end(), rows.unreadable.begin(), rows.unreadable.end());
  return summary;
}

}  // namespace oplat::measure
