// SPDX-License-Identifier: Apache-2.0
/// The document of `oplat profile` in each form.
#include <ostream>

#include "base/counted.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "report/csv.hpp"
#include "report/documents.hpp"
#include "report/json_documents.hpp"

namespace oplat::report {
namespace {

std::string counts_text(const measure::Counts& c) {
  std::string text = fmt::format("{} of {} measured", c.measured(), c.total);
  if (c.wide + c.few > 0)
    text += fmt::format(" ({} within the target, {} wider, {} with too few blocks)", c.precise,
                        c.wide, c.few);
  if (c.failed > 0) text += fmt::format(", {} failed", c.failed);
  if (c.unsupported > 0) text += fmt::format(", {} unsupported", c.unsupported);
  if (c.skipped > 0) text += fmt::format(", {} skipped", c.skipped);
  if (c.left > 0) text += fmt::format(", {} left", c.left);
  return text;
}

Json counts_json(const measure::Counts& c) {
  return {{"total", c.total},     {"precise", c.precise}, {"wide", c.wide},
          {"few_blocks", c.few},  {"failed", c.failed},   {"unsupported", c.unsupported},
          {"skipped", c.skipped}, {"left", c.left}};
}

/// Kernels that move nothing, such as Reshape.
std::string views_text(std::int64_t views) {
  if (views == 0) return "";
  return fmt::format("; {} no row", base::counted(views, "view needs", "views need"));
}

/// "1.02 ms", or "1.02 to 1.05 ms" in two texts where the ends differ in them.
std::string either_text(const base::Interval& ns) {
  const std::string low = base::duration_text(ns.low);
  const std::string high = base::duration_text(ns.high);
  return low == high ? low : low + " to " + high;
}

std::string unlike_text(const measure::UnlikeKernel& kernel) {
  return fmt::format(
      "unlike_in_model: {}: {} takes {} inside the model ({:.0f} % of it) and {} {}",
      base::printable(kernel.model, 400), base::printable(kernel.name, 200),
      either_text(kernel.in_model_ns), 100 * kernel.share, either_text(kernel.by_itself_ns),
      kernel.has_row ? "by itself; predictions reach as far" : "is taken for it, as for any view");
}

Json unlike_json(const measure::UnlikeKernel& kernel) {
  return {{"model", kernel.model},
          {"name", kernel.name},
          {"key", kernel.key},
          {"share", kernel.share},
          {"in_model_ns", {kernel.in_model_ns.low, kernel.in_model_ns.high}},
          {"by_itself_ns", {kernel.by_itself_ns.low, kernel.by_itself_ns.high}},
          {"has_row", kernel.has_row}};
}

std::string counts_line(std::string_view subject, const measure::Counts& c) {
  return csv_line({std::string(subject), csv_number(c.total), csv_number(c.precise),
                   csv_number(c.wide), csv_number(c.few), csv_number(c.failed),
                   csv_number(c.unsupported), csv_number(c.skipped), csv_number(c.left)});
}

/// What one has, for whoever has not read the counts: may one predict from it, and what would make
/// it better.
std::string standing_text(const measure::Summary& s) {
  const measure::Counts& k = s.kernels;
  const std::int64_t left = k.left + s.models.left;
  const std::int64_t rough = k.few + s.models.few;
  const std::int64_t wide = k.wide + s.models.wide;
  const std::string target = fmt::format("+-{:.3g} %", 100 * s.target_error);
  const auto more = [&](double seconds, std::string_view to) {
    return seconds > 0 ? fmt::format("; {} {}", base::more_time_text(seconds), to) : "";
  };
  if (k.measured() + s.models.measured() == 0) return "nothing was measured";
  if (left > 0)
    return fmt::format("incomplete: {} no time yet{}", base::counted(left, "row has", "rows have"),
                       more(s.first_pass_seconds, "for one block of each"));
  if (rough > 0)
    return fmt::format("usable, rough: {} of {} passes{}", s.passes, s.min_passes,
                       more(s.more_seconds, "for " + target));
  if (wide > 0)
    return fmt::format("usable: {} of {} rows are not within {}{}", wide, k.total + s.models.total,
                       target, more(s.more_seconds, "for them"));
  return "precise: every row is within its target";
}

std::string space_text(const SpaceSummary& space) {
  std::string text =
      fmt::format("space {}: {} of {} kernels measured in {} rounds ({} are of its {} networks)",
                  base::printable(space.name, 400), space.measured, space.candidates, space.rounds,
                  space.kernels, space.networks);
  if (space.expected)
    text += fmt::format(
        "\nexpected error of models never seen: {:.1f} % in the mean ({:.1f} % by kernels, {:.1f} "
        "% "
        "by their sum)",
        100 * space.expected->mean, 100 * space.expected->kernels,
        100 * space.expected->composition);
  if (space.expected_in_8_bits && space.expected_of_others)
    text += fmt::format("; {:.1f} % of those in 8 bits, {:.1f} % of others",
                        100 * space.expected_in_8_bits->mean, 100 * space.expected_of_others->mean);
  if (space.target)
    text += fmt::format("; the target of {:.3g} % is {}", 100 * *space.target,
                        space.target_met ? "met" : "not met");
  if (!space.expected) text += "\nexpected error of models never seen: too little is known";
  return text;
}

Json error_json(const std::optional<ExpectedError>& error) {
  if (!error) return nullptr;
  return {{"mean", error->mean}, {"kernels", error->kernels}, {"composition", error->composition}};
}

Json space_json(const SpaceSummary& space) {
  Json json = {{"name", space.name},
               {"networks", space.networks},
               {"kernels", space.kernels},
               {"candidates", space.candidates},
               {"measured", space.measured},
               {"rounds", space.rounds},
               {"expected_error", error_json(space.expected)},
               {"expected_error_in_8_bits", error_json(space.expected_in_8_bits)},
               {"expected_error_of_others", error_json(space.expected_of_others)},
               {"target_error", nullptr},
               {"target_met", space.target_met}};
  if (space.target) json["target_error"] = *space.target;
  return json;
}

}  // namespace

void print_document(const ProfileReport& profile, std::ostream& out) {
  const measure::Summary& s = profile.summary;
  out << fmt::format("kernel rows: {}{}\n", counts_text(s.kernels), views_text(s.views));
  if (s.models.total > 0) out << fmt::format("whole models: {}\n", counts_text(s.models));
  const std::string waited = s.waited_seconds < 1
                                 ? ""
                                 : fmt::format(" ({} of it waiting for distinct cores)",
                                               base::clock_text(s.waited_seconds));
  out << fmt::format("{} blocks in {} processes, {}, {}{}; table {}\n", s.blocks, s.processes,
                     base::counted(s.passes, "complete pass", "complete passes"),
                     base::clock_text(s.seconds), waited, base::printable(profile.table, 400));
  for (const measure::Refusal& refusal : s.refusals)
    out << fmt::format("{}: {}\n  {}\n", refusal.outcome, base::printable(refusal.reason, 1000),
                       base::printable(refusal.key, 1 << 16));
  for (const measure::UnlikeKernel& kernel : profile.unlike)
    out << fmt::format("{}\n  {}\n", unlike_text(kernel), base::printable(kernel.key, 1 << 16));
  // Of a space rows need not be precise.
  out << (profile.space ? space_text(*profile.space) : standing_text(s)) << "\n";
}

Json json_document(const ProfileReport& profile) {
  const measure::Summary& s = profile.summary;
  Json refusals = Json::array();
  for (const measure::Refusal& refusal : s.refusals)
    refusals.push_back(
        {{"key", refusal.key}, {"outcome", refusal.outcome}, {"reason", refusal.reason}});
  Json unlike = Json::array();
  for (const measure::UnlikeKernel& kernel : profile.unlike) unlike.push_back(unlike_json(kernel));
  Json document = {
      {"schema", "oplat.profile/1"},
      {"table", profile.table},
      {"rows", counts_json(s.kernels)},
      {"models", counts_json(s.models)},
      {"view_keys", s.views},
      {"blocks", s.blocks},
      {"passes", s.passes},
      {"min_passes", s.min_passes},
      {"standing", standing_text(s)},
      {"more_seconds", s.more_seconds},
      {"processes", s.processes},
      {"seconds", s.seconds},
      {"waited_seconds", s.waited_seconds},
      {"budget_ended", s.budget_ended},
      {"interrupted", s.interrupted},
      {"refusals", std::move(refusals)},
      {"unlike_in_model", std::move(unlike)},
  };
  if (profile.space) document["space"] = space_json(*profile.space);
  return document;
}

void write_csv(const ProfileReport& profile, std::ostream& out) {
  out << csv_line({"subject", "total", "precise", "wide", "few_blocks", "failed", "unsupported",
                   "skipped", "left"});
  out << counts_line("kernels", profile.summary.kernels)
      << counts_line("models", profile.summary.models);
}

}  // namespace oplat::report
