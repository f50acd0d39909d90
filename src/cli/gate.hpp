// SPDX-License-Identifier: Apache-2.0
/// --max-latency TIME and --gate-on STATISTIC: a command that ends with exit code 7 where a latency
/// is above a limit, for CI.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "cli/command_line.hpp"
#include "predict/prediction.hpp"
#include "table/records.hpp"

namespace oplat::cli {

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

/// What commands that predict can say, the default first.
inline constexpr std::array kPredictGates = {GateOn::Point, GateOn::Upper};

/// What commands that measure single inferences can say, the default first.
inline constexpr std::array kMeasureGates = {GateOn::P50, GateOn::P90, GateOn::P99, GateOn::Mean,
                                             GateOn::Max};

/// --max-latency and --gate-on as typed.
struct GateFlags {
  std::string max_latency;
  std::string gate_on;
};
/// `statistics`: those that the command knows, the default first. Several of them make --gate-on.
void add_gate(const Command& command, GateFlags& to, std::span<const GateOn> statistics);

/// A limit that was asked for.
struct Gate {
  double max_ns = 0;
  GateOn on = GateOn::Point;
  std::string max_text;  ///< as typed: "5ms"

  /// Code::GateNotMet if `ns` is above the limit or not known; the message names `subject`, a
  /// model.
  [[nodiscard]] Status check(std::string_view subject, std::optional<double> ns) const;
};
/// std::nullopt if no limit was given. Code::Usage: a time without a unit, a statistic without a
/// limit. `otherwise`: the default of add_gate().
Result<std::optional<Gate>> parse_gate(const GateFlags& flags, GateOn otherwise);

/// As Gate::check() of the number of measured inferences that the gate limits. `unknown_help`: what
/// to do where there is none of `times`.
Status check_inferences(const Gate& gate, std::string_view subject,
                        const std::optional<table::InferenceTimes>& times,
                        std::string_view unknown_help);

/// Prints every failure; Code::GateNotMet, without a further message, if there is one.
Status report_gates(std::span<const Status> checks);

/// Whether the gate limits a number of single measured inferences.
bool is_of_inferences(GateOn on);

/// The number of a prediction that the gate limits; std::nullopt while kernels are missing, and of
/// a prediction without an interval its upper end.
std::optional<double> gated_ns(const Gate& gate, const predict::Prediction& prediction);
/// The number of measured inferences that the gate limits; std::nullopt if it is not known of them.
std::optional<double> gated_ns(const Gate& gate,
                               const std::optional<table::InferenceTimes>& inferences);

}  // namespace oplat::cli
