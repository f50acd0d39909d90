// SPDX-License-Identifier: Apache-2.0
#include "app/gate.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "base/units.hpp"

namespace oplat::app {
namespace {

constexpr std::array kGateNumbers = {GateOn::Point, GateOn::Upper, GateOn::Measured, GateOn::P50,
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

/// The number of measured inferences that the gate limits; std::nullopt if it is not known.
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

/// `unknown_help`: what to do where there are no `times`.
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

constexpr std::string_view kMeasureAnew = "measure into a new --table";

/// A limit is not met by what was not measured. `reason`: why it was not, if that is known.
Status unmeasured(std::string_view subject, std::string_view reason) {
  return fail(Code::GateNotMet, "{}: it was not measured, and --max-latency is not met{}{}",
              base::printable(subject, 400), reason.empty() ? "" : ": ",
              base::printable(reason, 2000));
}

/// The end of the interval or the latency; std::nullopt while kernels are missing, and of a
/// prediction without an interval its upper end.
Status check_predicted(const Gate& gate, std::string_view subject, std::optional<double> latency_ns,
                       const std::optional<base::Interval>& interval) {
  if (gate.on != GateOn::Upper) return gate.check(subject, latency_ns);
  return gate.check(subject, interval ? std::optional(interval->high) : std::nullopt);
}

Status check_validated(const Gate& gate, const predict::ValidatedModel& model) {
  if (is_of_inferences(gate.on))
    return check_inferences(gate, model.name, model.inferences, "replayed times have none");
  if (gate.on == GateOn::Measured) return gate.check(model.name, model.measured.median_ns);
  return check_predicted(gate, model.name, model.predicted_ns, model.interval);
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

bool is_of_inferences(GateOn on) {
  return on != GateOn::Point && on != GateOn::Upper && on != GateOn::Measured;
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

Result<std::optional<Gate>> parse_gate(const std::string& max_latency, const std::string& on,
                                       GateOn otherwise) {
  if (max_latency.empty()) {
    if (!on.empty())
      return fail(Code::Usage, "--gate-on {}: needs a limit; set it with --max-latency",
                  base::printable(on));
    return std::optional<Gate>();
  }
  auto limit = base::parse_duration_ns(max_latency);
  if (!limit) return fail(Code::Usage, "--max-latency: {}", limit.error().message);
  Gate gate{*limit, otherwise, max_latency};
  for (const GateOn one : kGateNumbers)
    if (on == name(one)) gate.on = one;
  return std::optional(std::move(gate));
}

Status check_prediction(const std::optional<Gate>& gate, const predict::Prediction& prediction,
                        bool is_reported) {
  OPLAT_CHECK(predict::require_complete(prediction, is_reported));
  if (!gate) return {};
  return check_predicted(*gate, prediction.model, prediction.latency_ns, prediction.interval);
}

std::vector<Status> gate_checks(const std::optional<Gate>& gate,
                                std::span<const predict::Prediction> predictions) {
  std::vector<Status> checks;
  if (!gate) return checks;
  for (const predict::Prediction& one : predictions)
    checks.push_back(check_predicted(*gate, one.model, one.latency_ns, one.interval));
  return checks;
}

std::vector<Status> gate_checks(const std::optional<Gate>& gate, const report::Sweep& sweep) {
  std::vector<Status> checks;
  if (!gate) return checks;
  for (const auto& point : sweep.points) {
    const std::string place = point.place(" and ");
    const std::string subject = point.path + (place.empty() ? "" : " with ") + place;
    if (!sweep.measured)
      checks.push_back(check_predicted(*gate, subject, point.latency_ns, point.interval));
    else if (point.latency_ns)
      checks.push_back(check_inferences(*gate, subject, point.inferences, kMeasureAnew));
    else
      checks.push_back(unmeasured(subject, point.error));
  }
  return checks;
}

std::vector<Status> gate_checks(const std::optional<Gate>& gate,
                                std::span<const std::string> models,
                                const report::Measurement& measurement) {
  std::vector<Status> checks;
  if (!gate) return checks;
  for (const std::string& model : models) {
    const auto line = std::find_if(measurement.models.begin(), measurement.models.end(),
                                   [&](const auto& one) { return one.path == model; });
    checks.push_back(line != measurement.models.end()
                         ? check_inferences(*gate, model, line->inferences, kMeasureAnew)
                         : unmeasured(model, ""));
  }
  return checks;
}

std::vector<Status> gate_checks(const std::optional<Gate>& gate,
                                const predict::Validation& validation) {
  std::vector<Status> checks;
  if (!gate) return checks;
  for (const predict::ValidatedModel& model : validation.models)
    checks.push_back(check_validated(*gate, model));
  return checks;
}

Failures failures_of(std::span<const Status> checks) {
  Failures failures;
  for (const Status& one : checks) {
    if (one) continue;
    failures.lines.push_back(one.error().message);
    failures.code = Code::GateNotMet;
  }
  return failures;
}

Failures failures_of(const report::Measurement& measurement) {
  Failures failures;
  if (measurement.failed.empty()) return failures;
  failures.code = measurement.failed.front().error.code;
  if (!measurement.models.empty()) return failures;
  for (const auto& one : measurement.failed) failures.lines.push_back(one.error.message);
  failures.lines.emplace_back("no model could be measured");
  return failures;
}

Status check_advice(const Gate& gate, const report::AdviceReport& advice) {
  const auto is_met = [&](const auto& one) {
    return one.meets == report::Meets::Yes ||
           (gate.on == GateOn::Point && one.meets == report::Meets::Likely);
  };
  if (std::any_of(advice.choices.begin(), advice.choices.end(), is_met)) return {};
  const bool known = std::any_of(advice.choices.begin(), advice.choices.end(),
                                 [](const auto& one) { return one.latency_ns.has_value(); });
  if (!known) {
    for (const auto& one : advice.choices)
      if (one.code)
        return fail(*one.code, "no choice has a latency; the first lacks it because {}", one.why);
  }
  return fail(Code::GateNotMet, "no setting of the table meets --max-latency {}{}", gate.max_text,
              gate.on == GateOn::Upper ? " with the upper end of its interval" : "");
}

}  // namespace oplat::app
