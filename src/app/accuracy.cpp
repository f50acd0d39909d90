// SPDX-License-Identifier: Apache-2.0
#include "app/accuracy.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include "app/groups_file.hpp"
#include "app/table_source.hpp"
#include "compat/registry.hpp"
#include "estimate/foreign.hpp"
#include "plan/blocked_layout.hpp"

namespace oplat::app {
namespace {

Result<estimate::Split> read_groups(const std::string& path) {
  constexpr std::size_t kMaxGroups = 1000;
  OPLAT_TRY(groups, read_groups_file(path, "key"));
  estimate::Split split;
  split.kind = estimate::Split::Kind::Groups;
  std::map<std::string, std::size_t> numbers;
  for (const auto& [key, group] : groups)
    split.groups[key] = numbers.emplace(group, numbers.size()).first->second;
  split.folds = numbers.size();
  if (numbers.empty() || numbers.size() > kMaxGroups) {
    return fail(Code::Input, "{}: {} groups; expected 1 to {}", path, numbers.size(), kMaxGroups);
  }
  return split;
}

}  // namespace

Result<estimate::Split> parse_hold_out(const std::string& text) {
  constexpr std::string_view kGroups = "groups:";
  return text.starts_with(kGroups) ? read_groups(text.substr(kGroups.size()))
                                   : estimate::parse_split(text);
}

Result<AccuracyResult> accuracy(const AccuracyRequest& request, Events& events) {
  estimate::AccuracyRequest asked;
  OPLAT_TRY(split, parse_hold_out(request.split));
  asked.split = std::move(split);
  asked.exclude_suspects = request.learn.exclude_suspects;
  asked.operators = request.operators;
  asked.profile = request.estimator;
  asked.level = request.level;
  asked.networks = request.networks;
  asked.network_seed = request.network_seed;
  OPLAT_TRY(table, table::Table::open(request.table, table::Mode::Read, compat::codecs()));
  OPLAT_TRY(selection, select_rows(table, request.rows));
  for (const std::string& warning : selection.warnings) events.warn(warning);
  asked.host = plan::host_of(selection.device, selection.setting.threads);
  OPLAT_TRY(samples,
            estimate::read_samples_to_learn({&table, selection.device_id, selection.setting_ids,
                                             std::nullopt, selection.catalogue}));
  asked.learn = learn_request(request.learn);
  asked.learn.progress =
      learning_progress(static_cast<std::int64_t>(samples.size()), events, nullptr);
  auto measured = estimate::measure_accuracy(samples, asked, compat::catalogue());
  if (!measured) return fail_in(request.table, measured.error());
  const std::size_t grouped = asked.split.groups.size();
  if (static_cast<std::size_t>(measured->asked) < grouped) {
    events.warn(
        fmt::format("--split {}: it lists {} keys, but only {} match a row that can be predicted",
                    request.split, grouped, measured->asked));
  }
  return AccuracyResult{std::move(selection.device), std::move(selection.setting),
                        std::move(*measured)};
}

report::AccuracyReport accuracy_report(const AccuracyRequest& request, std::string estimator,
                                       AccuracyResult result) {
  report::AccuracyReport report;
  report.accuracy = std::move(result.accuracy);
  report.table = request.table;
  report.device = std::move(result.device);
  report.setting = std::move(result.setting);
  report.split = request.split;
  report.profile = std::move(estimator);
  report.seed = request.learn.seed;
  report.network_seed = request.network_seed;
  // A sparse model calibrates itself, asked or not; too few rows calibrate nothing.
  report.calibrated = report.accuracy.calibrated;
  report.level = request.level;
  return report;
}

}  // namespace oplat::app
