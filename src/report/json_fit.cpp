// SPDX-License-Identifier: Apache-2.0
/// The document of `oplat fit --json`.
#include "report/json_fit.hpp"

#include <algorithm>
#include <cmath>

namespace oplat::report {
namespace {

Json ramp_json(const std::optional<estimate::Ramp>& ramp) {
  if (!ramp) return nullptr;
  return {{"lo_bytes", ramp->lo_bytes},
          {"hi_bytes", ramp->hi_bytes},
          {"rise_per_octave", ramp->rise_per_octave}};
}

Json summary_json(const predict::ValidationSummary& summary) {
  return {{"models", summary.predicted},
          {"mape", number(summary.mape)},
          {"bias", number(summary.bias)},
          {"within_5_percent", number(summary.within_5_percent)},
          {"within_10_percent", number(summary.within_10_percent)},
          {"interval_coverage", number(summary.interval_coverage)}};
}

Json model_json(const predict::LeftOutModel& model) {
  return {{"name", model.name},
          {"group", model.group},
          {"measured_ns", model.measured.median_ns},
          {"measured_ci_ns", {model.measured.ci_low_ns, model.measured.ci_high_ns}},
          {"predicted_ns", model.predicted_ns},
          {"sd_log", model.sd_log},
          {"moment_sd_log", model.moment_sd_log},
          {"interval_ns", {model.interval.low, model.interval.high}},
          {"signed_error", model.predicted_ns / model.measured.median_ns - 1},
          {"inside_interval", model.interval.low <= model.measured.median_ns &&
                                  model.measured.median_ns <= model.interval.high},
          {"unfitted_ns", model.unfitted_ns},
          {"calibrates", model.calibrates}};
}

Json reason_json(const std::string& reason) {
  return reason.empty() ? Json(nullptr) : Json(reason);
}

void add_composition(const FitReport& report, Json& document) {
  document["composition"] = nullptr;
  document["no_composition"] = reason_json(report.no_composition);
  if (!report.composition) return;
  const CompositionReport& composition = *report.composition;
  const predict::CompositionFit& fit = composition.result.fit;
  Json left_out = Json::array(), excluded = Json::array();
  for (const auto& model : composition.result.left_out) left_out.push_back(model_json(model));
  for (const auto& [name, reason] : composition.result.excluded)
    excluded.push_back({{"name", name}, {"reason", reason}});
  Json curve = nullptr;
  if (fit.curve)
    curve = {{"own", ramp_json(fit.curve->own)},
             {"last", ramp_json(fit.curve->last)},
             {"earliest", ramp_json(fit.curve->earliest)},
             {"latest", ramp_json(fit.curve->latest)}};
  document["composition"] = {{"c0_ns", fit.c0_ns},
                             {"c1_ns", fit.c1_ns},
                             {"c2_ns_per_byte", fit.c2_ns_per_byte},
                             {"scale", fit.scale},
                             {"scale_int8", fit.scale_int8},
                             {"sd_log", fit.sd_log},
                             {"foreign_bytes_per_ns", fit.foreign_bytes_per_ns},
                             {"foreign_share", fit.foreign_share},
                             {"foreign_share_sd", fit.foreign_share_sd},
                             {"moment_sd_log", fit.moments.sd_log},
                             {"moment_per_reach", fit.moments.per_reach},
                             {"moment_ramp", ramp_json(fit.moments.last)},
                             {"measured_correlation", fit.measured_correlation}};
  const auto unsure = [&](predict::Unknown one) {
    return std::sqrt(std::max(0.0, fit.covariance.at(one, one)));
  };
  document["composition_sd"] = {{"c0_ns", unsure(predict::kC0)},
                                {"c1_ns", unsure(predict::kC1)},
                                {"c2_ns_per_byte", unsure(predict::kC2)},
                                {"scale", unsure(predict::kScale)},
                                {"scale_int8_above_scale", unsure(predict::kScaleInt8)}};
  document["curve"] = std::move(curve);
  document["calibration_models"] = fit.scores.size();
  document["calibration_models_under_load"] = composition.result.under_load;
  document["left_out_summary"] = summary_json(composition.left_out);
  document["unfitted_summary"] = summary_json(composition.unfitted);
  document["left_out"] = std::move(left_out);
  document["excluded"] = std::move(excluded);
}

void add_learned(const FitReport& report, Json& document) {
  document["learned"] = nullptr;
  document["no_learned"] = reason_json(report.no_learned);
  if (!report.learned) return;
  const LearnedReport& learned = *report.learned;
  document["learned"] = {{"rows", learned.rows},
                         {"seconds", learned.seconds},
                         {"bytes", learned.bytes},
                         {"seed", learned.seed},
                         {"calibrated", learned.calibrated},
                         {"under_load", learned.under_load}};
}

}  // namespace

Json fit_document(const FitReport& report) {
  Json document = {{"schema", "oplat.fit/1"},
                   {"table", report.table},
                   {"device", json_of(report.device)},
                   {"setting", json_of(report.setting)},
                   {"level", report.level},
                   {"stored", report.stored}};
  add_composition(report, document);
  add_learned(report, document);
  return document;
}

}  // namespace oplat::report
