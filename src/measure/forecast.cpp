// SPDX-License-Identifier: Apache-2.0
/// Costs of blocks by row, else by kind, else as designed.
#include "measure/forecast.hpp"

#include <algorithm>

namespace oplat::measure {
namespace {

/// Block, opening and calibration of a kind before any was measured: hot, evicted, model.
constexpr std::array<double, 3> kDesignedSeconds{0.2, 0.4, 0.6};

}  // namespace

void Forecast::add(CampaignRow& row, double seconds) {
  row.cost_seconds += seconds;
  ++row.cost_blocks;
  const auto kind = static_cast<std::size_t>(row.kind);
  seconds_[kind] += seconds;
  blocks_[kind] += 1;
}

double Forecast::cost(const CampaignRow& row) const {
  if (row.cost_blocks > 0) return row.cost_seconds / static_cast<double>(row.cost_blocks);
  const auto kind = static_cast<std::size_t>(row.kind);
  return blocks_[kind] > 0 ? seconds_[kind] / blocks_[kind] : kDesignedSeconds[kind];
}

double Forecast::blocks_left(const CampaignRow& row) const {
  if (row.finished) return 0;
  const std::int64_t wanted = std::max(min_blocks_, row.expected_blocks);
  const auto blocks = static_cast<double>(std::max<std::int64_t>(wanted - row.attempts(), 1));
  return row.demand == RowDemand::Unknown ? blocks / 2 : blocks;
}

double Forecast::seconds_left(std::span<const CampaignRow> rows) const {
  double sum = 0;
  for (const CampaignRow& row : rows) sum += blocks_left(row) * cost(row);
  return sum;
}

double Forecast::first_pass_left(std::span<const CampaignRow> rows) const {
  double sum = 0;
  for (const CampaignRow& row : rows) {
    if (!row.finished && row.blocks.empty())
      sum += cost(row) * (row.demand == RowDemand::Unknown ? 0.5 : 1);
  }
  return sum;
}

std::int64_t Forecast::model_blocks_lacking(const CampaignRow& row) const {
  if (row.kind != RowKind::Model || row.finished) return 0;
  return std::max<std::int64_t>(min_blocks_ - row.attempts(), 0);
}

double Forecast::models_left(std::span<const CampaignRow> rows) const {
  double sum = 0;
  for (const CampaignRow& row : rows)
    sum += static_cast<double>(model_blocks_lacking(row)) * cost(row);
  return sum;
}

}  // namespace oplat::measure
