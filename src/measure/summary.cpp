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

void count(Counts& counts, const Unit& unit, const measure::StopRule& rule) {
  ++counts.total;
  if (unit.refusal) {
    counts.failed += std::holds_alternative<table::Failed>(*unit.refusal) ? 1 : 0;
    counts.unsupported += std::holds_alternative<table::Unsupported>(*unit.refusal) ? 1 : 0;
    counts.skipped += std::holds_alternative<table::Skipped>(*unit.refusal) ? 1 : 0;
  } else if (unit.blocks.empty()) {
    ++counts.left;
  } else if (unit.precise) {
    ++counts.precise;
  } else if (unit.attempts() >= rule.least_blocks) {
    ++counts.wide;
  } else {
    ++counts.few;
  }
}

}  // namespace

Summary summarise(const Units& units, const measure::StopRule& rule) {
  Summary summary;
  summary.views = units.views;
  std::optional<std::int64_t> fewest;
  for (const Unit& unit : units.all) {
    if (unit.need == Need::No) continue;
    // Whether an evicted row is wanted is open until its hot one is measured: that one is counted
    // instead.
    if (unit.need == Need::Yes)
      count(unit.kind == UnitKind::Model ? summary.models : summary.kernels, unit, rule);
    if (unit.refusal) {
      summary.refusals.push_back(
          {unit.name, std::string(table::outcome_name(*unit.refusal)), reason_of(*unit.refusal)});
    } else if (!fewest || unit.attempts() < *fewest) {
      fewest = unit.attempts();
    }
  }
  summary.passes = fewest.value_or(0);
  summary.kernels.total += static_cast<std::int64_t>(units.unreadable.size());
  summary.kernels.failed += static_cast<std::int64_t>(units.unreadable.size());
  summary.refusals.insert(summary.refusals.end(), units.unreadable.begin(), units.unreadable.end());
  return summary;
}

}  // namespace oplat::measure
