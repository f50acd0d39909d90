// SPDX-License-Identifier: Apache-2.0
/// Outcomes to cells and back.
#include "table/outcome.hpp"

#include "base/text.hpp"
#include "table/json_text.hpp"
#include "table/validate.hpp"

namespace oplat::table {
namespace {

std::string_view reason_of(const Outcome& outcome) {
  if (const auto* unsupported = std::get_if<Unsupported>(&outcome)) return unsupported->reason;
  if (const auto* skipped = std::get_if<Skipped>(&outcome)) return skipped->reason;
  if (const auto* failed = std::get_if<Failed>(&outcome)) return failed->reason;
  return {};
}

}  // namespace

Result<OutcomeCells> OutcomeCells::make(const Outcome& outcome, const Method& method) {
  OPLAT_CHECK(validate(outcome));
  OPLAT_CHECK(validate_count("copies", method.copies));
  OPLAT_CHECK(validate_text("topology", method.topology));
  OPLAT_TRY(flags, json_array(method.flags));
  OPLAT_CHECK(validate_text("flags", flags));
  OutcomeCells cells;
  cells.outcome_ = outcome;
  cells.method_ = method;
  cells.flags_ = std::move(flags);
  return cells;
}

void add_outcome(Statement& statement, const Outcome& outcome) {
  statement.add(outcome_name(outcome));
  if (const auto* t = std::get_if<Timing>(&outcome)) {
    statement.add_null();
    statement.add(t->median_ns)
        .add(t->sd_log)
        .add(t->ci_low_ns)
        .add(t->ci_high_ns)
        .add(t->ci_level);
    statement.add(t->min_ns).add(t->p10_ns).add(t->p90_ns).add(t->blocks).add(t->processes);
  } else {
    statement.add(reason_of(outcome));
    for (int i = 0; i < 10; ++i) statement.add_null();
  }
}

void OutcomeCells::add_to(Statement& statement) const {
  add_outcome(statement, outcome_);
  statement.add(method_.copies).add(method_.topology).add(flags_);
}

Outcome read_outcome(Cells& cells, int first_column) {
  int column = first_column;
  const std::string name = cells.text(column);
  if (name == "timing") {
    column = first_column + 2;
    Timing t;
    t.median_ns = cells.number(column++);
    t.sd_log = cells.number(column++);
    t.ci_low_ns = cells.number(column++);
    t.ci_high_ns = cells.number(column++);
    t.ci_level = cells.number(column++);
    t.min_ns = cells.number(column++);
    t.p10_ns = cells.number(column++);
    t.p90_ns = cells.number(column++);
    t.blocks = cells.count(column++);
    t.processes = cells.count(column);
    return t;
  }
  std::string reason = cells.text(first_column + 1);
  if (name == "unsupported") return Unsupported{std::move(reason)};
  if (name == "skipped") return Skipped{std::move(reason)};
  if (name == "failed") return Failed{std::move(reason)};
  cells.bad(first_column, fmt::format("'{}', which is not an outcome", base::printable(name)));
  return Failed{};
}

Method read_method(Cells& cells, int first_column) {
  Method method;
  method.copies = cells.count(first_column + 12);
  method.topology = cells.text(first_column + 13);
  if (auto flags = parse_json_array(cells.text(first_column + 14))) {
    method.flags = *std::move(flags);
  } else {
    cells.bad(first_column + 14, "text that is not a JSON array of words");
  }
  return method;
}

}  // namespace oplat::table
