// SPDX-License-Identifier: Apache-2.0
#include "cli/gate.hpp"

#include <array>
#include <vector>

#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/print.hpp"

namespace oplat::cli {
namespace {

constexpr std::array kStatistics = {GateOn::Point, GateOn::Upper, GateOn::Measured, GateOn::P50,
                                    GateOn::P90,   GateOn::P99,   GateOn::Mean,     GateOn::Max};

/// What a message calls the number.
std::string_view words(GateOn on) {
  switch (on) {
    case GateOn::Point:
      return "the predicted latency";
    case GateOn::Upper:
      return "the upper end of the predicted interval";
    case GateOn::Measured:
      return "the measured latency";
    case GateOn::P50:
      return "the measured p50";
    case GateOn::P90:
      return "the measured p90";
    case GateOn::P99:
      return "the measured p99";
    case GateOn::Mean:
      return "the measured mean";
    case GateOn::Max:
      return "the longest measured inference";
  }
  return "";
}

}  // namespace

std::string_view name(GateOn on) {
  switch (on) {
    case GateOn::Point:
      return "point";
    case GateOn::Upper:
      return "upper";
    case GateOn::Measured:
      return "measured";
    case GateOn::P50:
      return "p50";
    case GateOn::P90:
      return "p90";
    case GateOn::P99:
      return "p99";
    case GateOn::Mean:
      return "mean";
    case GateOn::Max:
      return "max";
  }
  return "";
}

void add_gate(const Command& command, GateFlags& to, std::span<const GateOn> statistics) {
  command
      .add_option("--max-latency", to.max_latency,
                  "exit with 7 if the latency is above this time: 10ms, 250us")
      .type_name("TIME");
  if (statistics.size() < 2) return;
  std::vector<std::string> known;
  for (const GateOn on : statistics) known.emplace_back(name(on));
  command
      .add_option("--gate-on", to.gate_on,
                  fmt::format("number that --max-latency limits: {} (default {})",
                              base::join(known, ", "), known.front()))
      .one_of(known)
      .type_name("NUMBER");
}

Result<std::optional<Gate>> parse_gate(const GateFlags& flags, GateOn otherwise) {
  if (flags.max_latency.empty()) {
    if (!flags.gate_on.empty())
      return fail(Code::Usage, "--gate-on {}: needs a limit; set it with --max-latency",
                  base::printable(flags.gate_on));
    return std::optional<Gate>();
  }
  auto limit = base::parse_duration_ns(flags.max_latency);
  if (!limit) return fail(Code::Usage, "--max-latency: {}", limit.error().message);
  Gate gate{*limit, otherwise, flags.max_latency};
  for (const GateOn on : kStatistics)
    if (flags.gate_on == name(on)) gate.on = on;
  return std::optional(std::move(gate));
}

Status Gate::check(std::string_view subject, std::optional<double> ns) const {
  if (!ns)
    return fail(Code::GateNotMet, "{}: {} that --max-latency limits is not known",
                base::printable(subject, 400), words(on));
  if (*ns <= max_ns) return {};
  return fail(Code::GateNotMet, "{}: {}{} {} is above --max-latency {}",
              base::printable(subject, 400), words(on),
              on == GateOn::Upper || on == GateOn::Max ? "," : "", base::duration_text(*ns),
              max_text);
}

bool is_of_inferences(GateOn on) {
  return on != GateOn::Point && on != GateOn::Upper && on != GateOn::Measured;
}

Status check_inferences(const Gate& gate, std::string_view subject,
                        const std::optional<table::InferenceTimes>& times,
                        std::string_view unknown_help) {
  const auto ns = gated_ns(gate, times);
  if (ns) return gate.check(subject, ns);
  return fail(Code::GateNotMet, "{}: the {} that --max-latency limits is not known{}",
              base::printable(subject, 400), name(gate.on),
              times ? fmt::format(" of {} inferences; {} are needed; set a larger --budget or more "
                                  "--blocks",
                                  times->count, table::kMinForP99)
                    : fmt::format("; {}", unknown_help));
}

Status report_gates(std::span<const Status> checks) {
  bool failed = false;
  for (const Status& one : checks) {
    if (one) continue;
    failed = true;
    print_message(one.error().message);
  }
  if (failed) return tl::unexpected<Error>(Error{Code::GateNotMet, ""});
  return {};
}

std::optional<double> gated_ns(const Gate& gate, const predict::Prediction& prediction) {
  if (gate.on != GateOn::Upper) return prediction.latency_ns;
  return prediction.interval ? std::optional(prediction.interval->high) : std::nullopt;
}

std::optional<double> gated_ns(const Gate& gate,
                               const std::optional<table::InferenceTimes>& inferences) {
  if (!inferences) return std::nullopt;
  switch (gate.on) {
    case GateOn::P90:
      return inferences->p90_ns;
    case GateOn::P99:
      return inferences->p99_ns;
    case GateOn::Mean:
      return inferences->mean_ns;
    case GateOn::Max:
      return inferences->max_ns;
    default:
      return inferences->p50_ns;
  }
}

}  // namespace oplat::cli
