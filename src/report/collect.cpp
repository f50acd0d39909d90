// SPDX-License-Identifier: Apache-2.0
/// What reports need beyond the values that other layers hand them.
#include <algorithm>
#include <map>
#include <numeric>

#include "oplat/report/report_model.hpp"

namespace oplat::report {

std::vector<std::size_t> costliest(const predict::Prediction& prediction, std::size_t most) {
  const auto cost = [&](std::size_t i) {
    const auto& kernel = prediction.kernels[i];
    return static_cast<double>(kernel.count) * kernel.latency_ns.value_or(0);
  };
  std::vector<std::size_t> order(prediction.kernels.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return cost(a) > cost(b); });
  while (!order.empty() && cost(order.back()) <= 0) order.pop_back();
  if (order.size() > most) order.resize(most);
  return order;
}

Result<TableInfo> table_info(const table::Table& table) {
  TableInfo info;
  info.path = table.path().string();
  info.schema_version = table::Table::schema_version();
  OPLAT_TRY(devices, table.devices());
  OPLAT_TRY(settings, table.settings());
  OPLAT_TRY(populations, table.populations());
  OPLAT_TRY(campaigns, table.campaigns());
  OPLAT_TRY(plans, table.plans());
  OPLAT_TRY(models, table.model_rows());
  const std::map<table::DeviceId, table::Device> device_of(devices.begin(), devices.end());
  const std::map<table::SettingId, table::Setting> setting_of(settings.begin(), settings.end());
  for (const table::Population& population : populations) {
    const auto device = device_of.find(population.device);
    const auto setting = setting_of.find(population.setting);
    if (device == device_of.end() || setting == setting_of.end()) continue;
    info.populations.push_back({device->second, setting->second, population.rows, population.timings});
  }
  info.campaigns = static_cast<std::int64_t>(campaigns.size());
  info.plans = static_cast<std::int64_t>(plans.size());
  info.models = static_cast<std::int64_t>(models.size());
  return info;
}

Result<RowListing> table_rows(const table::Table& table, std::int64_t most) {
  OPLAT_TRY(devices, table.devices());
  OPLAT_TRY(settings, table.settings());
  const std::map<table::DeviceId, table::Device> device_of(devices.begin(), devices.end());
  const std::map<table::SettingId, table::Setting> setting_of(settings.begin(), settings.end());
  RowListing listing;
  OPLAT_CHECK(table.each_row([&](const table::StoredRow& row) {
    if (static_cast<std::int64_t>(listing.rows.size()) >= most) {
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
