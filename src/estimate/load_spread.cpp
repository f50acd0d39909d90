// SPDX-License-Identifier: Apache-2.0
/// The 90th percentile of how far blocks of a busy machine lie from those of a quiet one.
///
/// Load moves most rows by little and some by a lot, so that squares would follow the few. The
/// percentile holds the scatter of single blocks, too: a cautious value, since a row's own interval
/// has that already.
#include "estimate/load_spread.hpp"

#include <cmath>
#include <vector>

#include "base/stats.hpp"

namespace oplat::estimate {
namespace {

constexpr double kInside = 0.9;

using BlocksOfSetting = Result<std::vector<table::BlocksByLoad>> (table::Table::*)(
    table::DeviceId, table::SettingId) const;

Result<double> load_sd_of(const table::Table& table, BlocksOfSetting blocks_of,
                          table::DeviceId device, std::span<const table::SettingId> settings,
                          double start_sd) {
  std::vector<table::BlocksByLoad> all;
  for (const table::SettingId setting : settings) {
    OPLAT_TRY(rows, (table.*blocks_of)(device, setting));
    all.insert(all.end(), rows.begin(), rows.end());
  }
  return load_sd(all, start_sd);
}

}  // namespace

double load_sd(std::span<const table::BlocksByLoad> rows, double start_sd) {
  std::vector<double> distances;
  for (const table::BlocksByLoad& row : rows) {
    const auto quiet = base::median(row.quiet_ns);
    const auto loaded = base::median(row.loaded_ns);
    if (!quiet || !loaded) continue;
    const double distance = std::abs(std::log(*loaded / *quiet));
    if (std::isfinite(distance)) distances.push_back(distance);
  }
  const auto largest = base::quantile(distances, kInside);
  if (!largest) return start_sd;
  const double seen = *largest / base::two_sided_normal_quantile(kInside);
  const auto count = static_cast<double>(distances.size());
  return std::sqrt((kRowsOfAStartValue * start_sd * start_sd + count * seen * seen) /
                   (kRowsOfAStartValue + count));
}

Result<double> load_sd_of_rows(const table::Table& table, table::DeviceId device,
                               std::span<const table::SettingId> settings) {
  return load_sd_of(table, &table::Table::row_blocks_by_load, device, settings, kUnderLoadSd);
}

Result<double> load_sd_of_models(const table::Table& table, table::DeviceId device,
                                 std::span<const table::SettingId> settings) {
  return load_sd_of(table, &table::Table::model_blocks_by_load, device, settings, kLoadedModelSd);
}

}  // namespace oplat::estimate
