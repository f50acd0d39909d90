// SPDX-License-Identifier: Apache-2.0
/// Checks before writing, so that no reader ever meets a value that it must refuse.
#include "table/validate.hpp"

#include <cmath>

#include "base/text.hpp"
#include "table/limits.hpp"

namespace oplat::table {
namespace {

struct OutcomeCheck {
  Status operator()(const Timing& t) const {
    OPLAT_CHECK(validate_number("median_ns", t.median_ns));
    OPLAT_CHECK(validate_number("sd_log", t.sd_log));
    OPLAT_CHECK(validate_number("ci_low_ns", t.ci_low_ns));
    OPLAT_CHECK(validate_number("ci_high_ns", t.ci_high_ns));
    OPLAT_CHECK(validate_number("ci_level", t.ci_level));
    OPLAT_CHECK(validate_number("min_ns", t.min_ns));
    OPLAT_CHECK(validate_number("p10_ns", t.p10_ns));
    OPLAT_CHECK(validate_number("p90_ns", t.p90_ns));
    OPLAT_CHECK(validate_count("blocks", t.blocks));
    return validate_count("processes", t.processes);
  }
  Status operator()(const Unsupported& o) const { return validate_text("reason", o.reason); }
  Status operator()(const Skipped& o) const { return validate_text("reason", o.reason); }
  Status operator()(const Failed& o) const { return validate_text("reason", o.reason); }
};

}  // namespace

Status validate_text(std::string_view what, std::string_view text) {
  if (text.size() <= kMaxText) return {};
  return fail(Code::Input, "{}: has {} bytes of text; the limit is {}", what, text.size(),
              kMaxText);
}

Status validate_number(std::string_view what, double value) {
  if (std::isfinite(value) && value >= 0) return {};
  return fail(Code::Input, "{}: is {}; expected a finite number of at least 0", what,
              base::float_text(value));
}

Status validate_number(std::string_view what, const std::optional<double>& value) {
  return value ? validate_number(what, *value) : Status{};
}

Status validate_count(std::string_view what, std::int64_t value) {
  if (value >= 0) return {};
  return fail(Code::Input, "{}: is {}; expected at least 0", what, value);
}

Status validate_key(std::string_view key) {
  if (key.empty()) return fail(Code::Input, "the key is empty");
  OPLAT_CHECK(validate_text("key", key));
  // Three searches for one byte each are many times faster than one for any of three.
  const auto holds = [&](char c) { return key.find(c) != std::string_view::npos; };
  if (!holds('\n') && !holds('\r') && !holds('\0')) return {};
  return fail(Code::Input, "{}: the key contains a line end or NUL", base::printable(key));
}

Status validate(const Outcome& outcome) { return std::visit(OutcomeCheck{}, outcome); }

Status validate(const Block& block) {
  OPLAT_CHECK(validate_number("value_ns", block.value_ns));
  OPLAT_CHECK(validate_number("reference_compute_ns", block.reference_compute_ns));
  OPLAT_CHECK(validate_number("reference_memory_ns", block.reference_memory_ns));
  OPLAT_CHECK(validate_number("other_load", block.other_load));
  if (block.inferences) OPLAT_CHECK(base::TimeSketch::parse(block.inferences->text()));
  OPLAT_CHECK(validate_count("pass", block.pass));
  OPLAT_CHECK(validate_count("process", block.process));
  OPLAT_CHECK(validate_count("rounds", block.rounds));
  OPLAT_CHECK(validate_count("switches", block.switches));
  return validate_count("steal_ticks", block.steal_ticks);
}

Status validate(const InferenceTimes& times) {
  OPLAT_CHECK(validate_count("inferences", times.count));
  OPLAT_CHECK(validate_count("inference_blocks", times.blocks));
  OPLAT_CHECK(validate_number("inference_mean_ns", times.mean_ns));
  OPLAT_CHECK(validate_number("inference_p50_ns", times.p50_ns));
  OPLAT_CHECK(validate_number("inference_p90_ns", times.p90_ns));
  OPLAT_CHECK(validate_number("inference_p99_ns", times.p99_ns));
  return validate_number("inference_max_ns", times.max_ns);
}

}  // namespace oplat::table
