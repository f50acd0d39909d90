// SPDX-License-Identifier: Apache-2.0
/// Reports filled by hand, with names that need quoting.
#pragma once

#include <sstream>
#include <string>

#include "base/interval.hpp"
#include "report/renderer.hpp"
#include "unit/estimate/small_table.hpp"

namespace oplat::test {

/// c0 1 ms; kernels 3 * 2 ms measured, 5 ms physics, a free view.
inline predict::Prediction sample_prediction() {
  using estimate::Source;
  predict::Prediction p;
  p.model = "net.onnx";
  p.latency_ns = 12e6;
  p.interval = base::Interval{11.5e6, 12.6e6};
  p.sd_log = 0.03;
  p.batch = 1;
  p.reuse_bytes = 2048;
  p.composition.c0_ns = 1e6;
  p.composition.n_kernels = 4;
  p.coverage.time = {{Source::Measured, 0.5}, {Source::Roofline, 5.0 / 12}, {Source::Free, 0}};
  p.coverage.overhead = 1.0 / 12;
  p.coverage.count = {{Source::Measured, 3}, {Source::Roofline, 1}, {Source::Free, 1}};
  p.kernels = {
      {"conv, \"first\"", kCopy250, 3, 2e6, 0.02, Source::Measured, "measured", "row 1"},
      {"gemm", kCopy1000, 1, 5e6, 1.0, Source::Roofline, "physics",
       "roofline of 2 rows, bytes only"},
      {"view", kReshape, 1, 0, 0, Source::Free, "free", "a view: the runtime moves nothing"},
  };
  p.device.name = "desk";
  p.setting = setting_of();
  p.table_path = "t.oplat";
  p.schema_version = 1;
  p.plan_source = "runtime";
  p.plan_hash = "abc";
  return p;
}

/// The same with the second kernel missing.
inline predict::Prediction sample_missing() {
  predict::Prediction p = sample_prediction();
  p.latency_ns.reset();
  p.interval.reset();
  p.sd_log.reset();
  p.kernels[1] = {"gemm", kCopy1000, 1, std::nullopt, std::nullopt, estimate::Source::Missing,
                  "",     "no row"};
  p.coverage.time = {{estimate::Source::Measured, 6.0 / 7}, {estimate::Source::Free, 0}};
  p.coverage.overhead = 1.0 / 7;
  p.coverage.count = {
      {estimate::Source::Measured, 3}, {estimate::Source::Missing, 1}, {estimate::Source::Free, 1}};
  p.missing = {kCopy1000};
  return p;
}

inline predict::Validation sample_validation() {
  predict::Validation v;
  v.models = {{"a.onnx", 1.04e6, base::Interval{0.95e6, 1.1e6}, round_timing(1e6), {}},
              {"b.onnx", std::nullopt, std::nullopt, round_timing(2e6), {kCopy250}}};
  v.device.name = "desk";
  v.setting = setting_of();
  return v;
}

/// As `oplat predict` reports it, held against memory that gives one byte in 1000 ns and no other
/// ceiling.
inline report::PredictionReport report_of(predict::Prediction p) {
  predict::Ceilings ceilings;
  ceilings.memory = {{std::nullopt, 0.001}};
  ceilings.rows = 7;
  predict::Diagnosis diagnosis = predict::diagnose(p, ceilings, ir::Catalogue::own());
  return {std::move(p), std::move(diagnosis)};
}

inline report::Comparison sample_comparison() {
  report::Comparison comparison;
  comparison.models = {sample_prediction(), sample_prediction()};
  comparison.models[1].model = "big.onnx";
  comparison.models[1].latency_ns = 18e6;
  comparison.models[1].interval = base::Interval{17e6, 19e6};
  comparison.models[1].warnings = {"a warning"};
  return comparison;
}

inline report::Measurement sample_measurement() {
  report::Measurement measurement;
  table::Timing t = round_timing(1e6);
  t.min_ns = 0.9e6;
  t.p10_ns = 0.95e6;
  t.p90_ns = 1.1e6;
  const table::InferenceTimes times{200, 5, 1.25e6, 1.1e6, 1.5e6, 1.9e6, 4e6};
  measurement.models = {{"models/a.onnx", "a.onnx", 2, t, {"ci_not_reached", "disturbed"}, times}};
  measurement.device.name = "desk";
  measurement.setting = setting_of();
  return measurement;
}

/// The same between two models that failed.
inline report::Measurement sample_measurement_with_failures() {
  report::Measurement measurement = sample_measurement();
  measurement.failed = {
      {0, "nets/gone.onnx", {Code::Input, "nets/gone.onnx: no such file"}},
      {2, "nets/odd.onnx", {Code::Runtime, "nets/odd.onnx: failed: no kernel \"Ralu\""}}};
  return measurement;
}

template <class Subject>
std::string rendered(const char* form, Subject subject, report::Options options = {}) {
  std::ostringstream out;
  must(report::render(form, {std::move(subject), options}, out));
  return out.str();
}
inline std::string rendered(const char* form, const predict::Prediction& p,
                            report::Options options = {}) {
  return rendered(form, report_of(p), options);
}

}  // namespace oplat::test
