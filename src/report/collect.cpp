// SPDX-License-Identifier: Apache-2.0
/// What reports need beyond the values that other layers hand them.
#include <algorithm>
#include <map>

#include "report/report_model.hpp"
#include "table/limits.hpp"

namespace oplat::report {

namespace {

constexpr std::size_t kBytesPerRow = 1024;
constexpr std::size_t kMaxListedBytes = std::size_t{4} << 30;

}  // namespace

std::vector<CostlyKernel> costliest(const predict::Prediction& prediction, std::size_t most) {
  std::vector<CostlyKernel> found;
  std::map<std::string_view, std::size_t> place_of;
  for (std::size_t i = 0; i < prediction.kernels.size(); ++i) {
    const auto& kernel = prediction.kernels[i];
    const double time = static_cast<double>(kernel.count) * kernel.latency_ns.value_or(0);
    if (time <= 0) continue;
    const auto [at, added] = place_of.emplace(kernel.key, found.size());
    if (added) found.push_back({i, 0, 0, 0});
    CostlyKernel& costly = found[at->second];
    costly.count += kernel.count;
    costly.places += 1;
    costly.time_ns += time;
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.time_ns > b.time_ns; });
  if (found.size() > most) found.resize(most);
  return found;
}

std::optional<double> Comparison::ratio() const {
  const auto &first = models[0].latency_ns, &second = models[1].latency_ns;
  if (!first || !second || *first <= 0) return std::nullopt;
  return *second / *first;
}

bool Comparison::intervals_apart() const {
  const auto &first = models[0].interval, &second = models[1].interval;
  if (!first || !second) return false;
  return first->high < second->low || second->high < first->low;
}

Result<TableInfo> table_info(const table::Table& table) {
  TableInfo info;
  info.path = table.path().string();
  info.schema_version = table::Table::schema_version();
  OPLAT_TRY(devices, table.devices());
  OPLAT_TRY(settings, table.settings());
  OPLAT_TRY(contexts, table.contexts());
  OPLAT_TRY(counts, table.counts());
  const std::map<table::DeviceId, table::Device> device_of(devices.begin(), devices.end());
  const std::map<table::SettingId, table::Setting> setting_of(settings.begin(), settings.end());
  for (const table::Context& context : contexts) {
    const auto device = device_of.find(context.device);
    const auto setting = setting_of.find(context.setting);
    if (device == device_of.end() || setting == setting_of.end()) continue;
    info.contexts.push_back({device->second, setting->second, context.rows, context.timings});
  }
  info.campaigns = counts.campaigns;
  info.plans = counts.plans;
  info.models = counts.model_rows;
  return info;
}

Result<RowListing> table_rows(const table::Table& table, std::int64_t most) {
  OPLAT_TRY(devices, table.devices());
  OPLAT_TRY(settings, table.settings());
  const std::map<table::DeviceId, table::Device> device_of(devices.begin(), devices.end());
  const std::map<table::SettingId, table::Setting> setting_of(settings.begin(), settings.end());
  RowListing listing;
  std::size_t key_bytes = 0;
  OPLAT_CHECK(table.each_row({}, [&](const table::StoredRow& row) {
    // Rows share keys in the file but not in memory: an untrusted table of one long key must not
    // fill it.
    key_bytes += row.row.key.size();
    const std::size_t bytes = key_bytes + (listing.rows.size() + 1) * kBytesPerRow;
    if (static_cast<std::int64_t>(listing.rows.size()) >= most || bytes > kMaxListedBytes ||
        key_bytes > table::kMaxSharedBytes) {
      listing.cut = true;
      return false;
    }
    const auto device = device_of.find(row.device);
    const auto setting = setting_of.find(row.setting);
    listing.rows.push_back({device == device_of.end() ? std::string() : device->second.name,
                            setting == setting_of.end() ? table::Setting() : setting->second, row});
    return true;
  }));
  return listing;
}

}  // namespace oplat::report
