// SPDX-License-Identifier: Apache-2.0
/// A limit of latencies, for CI: which number of a result it is compared with, and what a result
/// above it fails with. Every function that checks several models checks all of them, so that a
/// caller can say everything that is wrong at once.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "predict/prediction.hpp"
#include "predict/validation.hpp"
#include "report/advice.hpp"
#include "report/measurement.hpp"
#include "report/sweep.hpp"

namespace oplat::app {

/// Which number a limit is compared with.
enum class GateOn : std::uint8_t {
  Point,     ///< the predicted latency itself
  Upper,     ///< the upper end of its interval
  Measured,  ///< the measured latency, the median of blocks
  P50,       ///< the median of single measured inferences
  P90,       ///< their 90 % quantile
  P99,       ///< their 99 % quantile
  Mean,      ///< their mean
  Max,       ///< the longest of them
};
/// As --gate-on spells it: "point", "upper", "measured", "p50", "p90", "p99", "mean", "max".
std::string_view name(GateOn on);
/// Whether it is a number of single measured inferences.
bool is_of_inferences(GateOn on);

/// What results of predictions have, the default first.
inline constexpr std::array kPredictGates = {GateOn::Point, GateOn::Upper};
/// What results of measured inferences have, the default first.
inline constexpr std::array kMeasureGates = {GateOn::P50, GateOn::P90, GateOn::P99, GateOn::Mean,
                                             GateOn::Max};
/// What models have that are predicted and measured, the default first.
inline constexpr std::array kValidateGates = {GateOn::Measured, GateOn::P50,  GateOn::P90,
                                              GateOn::P99,      GateOn::Mean, GateOn::Max,
                                              GateOn::Point,    GateOn::Upper};

/// A limit that was asked for.
struct Gate {
  double max_ns = 0;
  GateOn on = GateOn::Point;
  std::string max_text;  ///< as typed: "5ms"

  /// Code::GateNotMet if `ns` is above the limit or not known; the message names `subject`, a
  /// model.
  [[nodiscard]] Status check(std::string_view subject, std::optional<double> ns) const;
};
/// A limit as typed: "5ms" and one of the names above, or "" for `otherwise`. std::nullopt if no
/// limit is given. Code::Usage: a time without a unit, a statistic without a limit.
Result<std::optional<Gate>> parse_gate(const std::string& max_latency, const std::string& on,
                                       GateOn otherwise);

/// Why the prediction is not what was asked for. Code::Missing: kernels are missing and the policy
/// is Error; Code::GateNotMet: it is above the limit. `is_reported`: as
/// predict::require_complete().
Status check_prediction(const std::optional<Gate>& gate, const predict::Prediction& prediction,
                        bool is_reported = false);

/// One check a model or point, in their order; none without a gate.
std::vector<Status> gate_checks(const std::optional<Gate>& gate,
                                std::span<const predict::Prediction> predictions);
/// A point of a measurement that was not measured does not meet the limit.
std::vector<Status> gate_checks(const std::optional<Gate>& gate, const report::Sweep& sweep);
/// `models`: those that were asked for. One that was not measured does not meet the limit.
std::vector<Status> gate_checks(const std::optional<Gate>& gate,
                                std::span<const std::string> models,
                                const report::Measurement& measurement);
std::vector<Status> gate_checks(const std::optional<Gate>& gate,
                                const predict::Validation& validation);

/// What is wrong with a result that has a document all the same: a line each, and the code that a
/// command ends with.
struct Failures {
  std::vector<std::string> lines;
  std::optional<Code> code;  ///< std::nullopt: nothing is wrong
};
/// Those of the checks that failed.
Failures failures_of(std::span<const Status> checks);
/// Models without a time, with the code of the first. A document that lists models has their
/// errors, so that there are lines only if no model has a time.
Failures failures_of(const report::Measurement& measurement);

/// Code::GateNotMet if no choice meets the target, and the code of the first choice if none has a
/// latency.
Status check_advice(const Gate& gate, const report::AdviceReport& advice);

}  // namespace oplat::app
