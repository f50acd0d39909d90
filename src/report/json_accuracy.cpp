// SPDX-License-Identifier: Apache-2.0
/// The document of `oplat accuracy --json`.
#include "report/json_accuracy.hpp"

namespace oplat::report {

Json accuracy_document(const AccuracyReport& report) {
  const estimate::Accuracy& accuracy = report.accuracy;
  Json lines = Json::array(), networks = Json::array();
  for (const estimate::ErrorLine& line : accuracy.lines) {
    lines.push_back({{"rows_of", line.name},
                     {"rows", line.rows},
                     {"mape", line.mape},
                     {"median", line.median},
                     {"p90", line.p90},
                     {"bias", line.bias},
                     {"mean_error_ns", line.mean_ns},
                     {"within_5_percent", line.within5},
                     {"within_10_percent", line.within10},
                     {"interval_coverage", line.coverage},
                     {"half_width", line.half_width}});
  }
  for (const estimate::NetworkLine& line : accuracy.networks) {
    networks.push_back({{"batch", line.batch},
                        {"networks", line.networks},
                        {"mape", line.mape},
                        {"bias", line.bias},
                        {"within_1_percent", line.within1}});
  }
  return {{"schema", "oplat.accuracy/1"},
          {"table", report.table},
          {"device", json_of(report.device)},
          {"setting", json_of(report.setting)},
          {"split", report.split},
          {"profile", report.profile},
          {"seed", report.seed},
          {"calibrated", report.calibrated},
          {"level", report.level},
          {"learned_from", accuracy.learned_from},
          {"asked", accuracy.asked},
          {"unanswered", accuracy.unanswered},
          {"set_aside", accuracy.set_aside},
          {"of_unknown_batch", accuracy.stand_ins},
          {"fit_seconds", accuracy.fit_seconds},
          {"microseconds_a_row", accuracy.microseconds_a_row},
          {"lines", std::move(lines)},
          {"network_seed", report.network_seed},
          {"networks", std::move(networks)}};
}

}  // namespace oplat::report
