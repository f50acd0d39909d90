// SPDX-License-Identifier: Apache-2.0
#include "app/fit.hpp"

#include <chrono>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/groups_file.hpp"
#include "app/table_source.hpp"
#include "base/counted.hpp"
#include "base/text.hpp"
#include "compat/registry.hpp"
#include "predict/load.hpp"

namespace oplat::app {
namespace {

/// Fits that are ready to be stored: together, or those that are finished once the rest is
/// interrupted.
using Fits = std::vector<table::Fit>;

/// Of LeaveOneOut::silent_on_inputs().
void note_silent(const std::vector<std::string>& models, Events& events) {
  if (models.empty()) return;
  const std::size_t more = models.size() - 1;
  events.note(fmt::format(
      "the inputs of models are not counted: the plan of {}{} was made by an earlier oplat; "
      "profile these models again to renew it",
      base::printable(models.front(), 80), more > 0 ? fmt::format(", and {} more", more) : ""));
}

/// A name that no model has groups nothing, and models that should be left out together are not.
void warn_of_unknown(const std::map<std::string, std::string>& groups,
                     const predict::FitResult& fitted, Events& events) {
  std::set<std::string_view> names;
  for (const predict::LeftOutModel& model : fitted.left_out) names.insert(model.name);
  for (const auto& [name, why] : fitted.excluded) names.insert(name);
  std::vector<std::string> unknown;
  for (const auto& [name, group] : groups)
    if (!names.contains(name)) unknown.push_back(name);
  if (unknown.empty()) return;
  events.warn(fmt::format(
      "groups: no measured model of this device and setting is called '{}'{}; expected names of "
      "model files without folders, such as '{}'",
      base::printable(unknown.front(), 80),
      unknown.size() > 1 ? fmt::format(" (and {} more)", unknown.size() - 1) : "",
      base::printable(*names.begin(), 80)));
}

Status fit_composition(const table::Table& table, const predict::Selection& selection,
                       const predict::FitRequest& request, bool given_groups, Events& events,
                       FitResult& result, Fits& fits) {
  auto fitted = predict::fit_composition(table, selection, request);
  if (!fitted && fitted.error().code == Code::Refused) {
    result.no_composition = fitted.error().message;
    return {};
  }
  if (!fitted) return fail(fitted.error());
  note_silent(fitted->silent_on_inputs, events);
  if (given_groups) warn_of_unknown(request.groups, *fitted, events);
  std::string record = predict::encode(fitted->fit);
  OPLAT_CHECK(predict::decode_composition(record));
  fits.push_back({std::string(predict::kCompositionFormat), 0, std::move(record)});
  result.composition = std::move(*fitted);
  return {};
}

/// Rows from which on learning takes so long that faster ways are named.
constexpr std::int64_t kManyRows = 5000;

Status note_of_time(const estimate::RowSource& rows, const FitRequest& request, Events& events) {
  OPLAT_TRY(timings, rows_to_learn_from(rows));
  if (timings < kManyRows) return {};
  events.note(fmt::format(
      "learning from {} rows, which takes minutes;{}{} Ctrl-C stops it{}", timings,
      request.learn.calibrate ? " --no-calibrate is several times faster, with wider intervals;"
                              : "",
      request.composition ? " --only composition needs seconds;" : "",
      request.store ? ", and what is finished is kept" : ""));
  return {};
}

/// Too few rows to learn from leave the rest of the work to be done.
Status fit_kernels(table::Table& table, const predict::Selection& selection,
                   const FitRequest& request, Events& events, FitResult& result, Fits& fits) {
  const estimate::RowSource rows{&table, selection.device_id, selection.setting_ids, std::nullopt,
                                 selection.catalogue};
  OPLAT_CHECK(note_of_time(rows, request, events));
  const auto start = std::chrono::steady_clock::now();
  auto learned = learn(rows, request.learn, events, request.store ? &table : nullptr);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  if (!learned && learned.error().code == Code::Refused) {
    result.no_kernels = learned.error().message;
    return {};
  }
  if (!learned && learned.error().code == Code::Interrupted && request.store && !fits.empty()) {
    // What is finished need not be made again.
    OPLAT_CHECK(store_fits(table, selection.device_id, selection.setting_ids.front(), fits));
    return fail(Code::Interrupted,
                "{}; how kernels add up is stored; 'oplat fit --only kernels' goes on",
                learned.error().message);
  }
  if (!learned) return fail(learned.error());
  std::int64_t bytes = 0;
  for (const table::Fit& fit : learned->fits) bytes += static_cast<std::int64_t>(fit.blob.size());
  result.kernels = LearnedKernels{learned->rows,      seconds.count(),     bytes,
                                  request.learn.seed, learned->calibrated, learned->under_load};
  std::move(learned->fits.begin(), learned->fits.end(), std::back_inserter(fits));
  return {};
}

}  // namespace

Status check_parts(const FitRequest& request) {
  const auto refuse = [](std::string_view flag, std::string_view part, std::string_view only) {
    return fail(Code::Usage, "{}: applies to the {}, which --only {} leaves out", flag, part, only);
  };
  if (!request.composition) {
    const auto of_composition = [&](auto flag) { return refuse(flag, "composition", "kernels"); };
    if (!request.groups_file.empty()) return of_composition("--groups");
    if (request.how.max_half_width != predict::FitRequest{}.max_half_width)
      return of_composition("--max-half-width");
  }
  if (!request.kernels) {
    const auto of_kernels = [&](auto flag) { return refuse(flag, "kernels", "composition"); };
    if (request.learn.jobs != LearnOptions{}.jobs) return of_kernels("--jobs");
    if (!request.learn.calibrate) return of_kernels("--no-calibrate");
    if (request.learn.exclude_suspects) return of_kernels("--exclude-suspects");
  }
  return {};
}

Result<FitResult> fit(const FitRequest& request, Events& events) {
  if (!request.composition && !request.kernels)
    return fail(Code::Usage, "nothing to fit: both 'composition' and 'kernels' are false");
  predict::FitRequest how = request.how;
  if (!request.groups_file.empty()) {
    OPLAT_TRY(groups, read_groups_file(request.groups_file, "model file name"));
    how.groups = std::move(groups);
  }
  OPLAT_TRY(table, table::Table::open(request.table,
                                      request.store ? table::Mode::Write : table::Mode::Read,
                                      compat::codecs()));
  OPLAT_TRY(selection, select_rows(table, request.rows));
  for (const std::string& warning : selection.warnings) events.warn(warning);
  FitResult result;
  result.device = selection.device;
  result.setting = selection.setting;
  Fits fits;
  if (request.composition) {
    const bool given_groups = !how.groups.empty();
    if (request.keep_groups && request.groups_file.empty() && !given_groups) {
      OPLAT_TRY(groups, predict::kept_groups(table, selection));
      how.groups = std::move(groups);
      if (!how.groups.empty())
        events.note("groups of models are those of the fit before; --groups sets others");
    }
    OPLAT_CHECK(fit_composition(table, selection, how, given_groups, events, result, fits));
  }
  if (request.kernels) OPLAT_CHECK(fit_kernels(table, selection, request, events, result, fits));
  if (fits.empty()) {
    const bool both = !result.no_composition.empty() && !result.no_kernels.empty();
    return fail(Code::Refused, "{}{}{}", result.no_composition, both ? "; and of kernels, " : "",
                result.no_kernels);
  }
  if (request.store && events.cancelled())
    return fail(Code::Interrupted, "interrupted before the fit was stored");
  if (request.store)
    OPLAT_CHECK(store_fits(table, selection.device_id, selection.setting_ids.front(), fits));
  result.stored = request.store;
  return result;
}

predict::RowFilter rows_of(const Session& session) {
  predict::RowFilter filter = {.has_mismatch_flag = false};
  filter.device = session.device.name;
  filter.runtime = session.setting.runtime;
  filter.version = session.setting.version;
  filter.precision = session.setting.precision;
  filter.threads = session.setting.threads;
  filter.build = session.setting.build;
  filter.options = session.setting.options;
  filter.exact_options = true;
  return filter;
}

namespace {

Status try_update(const Session& session, table::Table& table, Events& events) {
  OPLAT_TRY(selection, select_rows(table, rows_of(session)));
  predict::FitRequest how;
  OPLAT_TRY(groups, predict::kept_groups(table, selection));
  how.groups = std::move(groups);
  OPLAT_TRY(models, predict::LeaveOneOut::prepare(table, selection, std::move(how)));
  const std::optional<predict::CompositionFit> fit = models.without("");
  if (!fit) return {};
  note_silent(models.silent_on_inputs(), events);
  const std::string record = predict::encode(*fit);
  OPLAT_CHECK(predict::decode_composition(record));
  if (!fit->scores.empty())
    events.note(fmt::format("the composition is fitted to {} of the table",
                            base::counted(fit->scores.size(), "whole model")));
  const Fits fits = {{std::string(predict::kCompositionFormat), 0, record}};
  return store_fits(table, selection.device_id, selection.setting_ids.front(), fits);
}

}  // namespace

void update_composition(const Session& session, table::Table& table, Events& events) {
  if (events.cancelled()) return;
  const Status updated = try_update(session, table, events);
  if (!updated)
    events.warn(fmt::format("the composition is not fitted to the table's whole models: {}",
                            updated.error().message));
}

Result<UnseenByFit> UnseenByFit::create(const table::Table& table,
                                        const predict::Selection& selection,
                                        std::int64_t max_models) {
  UnseenByFit unseen;
  if (!selection.fit) return unseen;
  OPLAT_TRY(load, predict::load_of_models(table, selection));
  if (load.timings > max_models) return unseen;
  predict::FitRequest how;
  how.groups = selection.fit->groups;
  OPLAT_TRY(models, predict::LeaveOneOut::prepare(table, selection, std::move(how)));
  unseen.settings_ = selection.setting_ids;
  unseen.models_ = std::make_shared<const predict::LeaveOneOut>(std::move(models));
  return unseen;
}

predict::Selection UnseenByFit::selection_for(predict::Selection selection,
                                              const std::string& plan_identity) const {
  if (models_ && selection.fit && selection.setting_ids == settings_ &&
      models_->holds(plan_identity))
    selection.fit = models_->without(plan_identity);
  return selection;
}

predict::Selection UnseenByFit::selection_without(predict::Selection selection,
                                                  const table::Plan& plan) const {
  if (models_ && selection.fit && selection.setting_ids == settings_)
    selection.fit = models_->without_relatives(plan);
  return selection;
}

report::FitReport fit_report(const FitRequest& request, FitResult result) {
  report::FitReport report;
  report.table = request.table;
  report.device = std::move(result.device);
  report.setting = std::move(result.setting);
  report.level = request.how.level;
  report.max_half_width = request.how.max_half_width;
  report.stored = result.stored;
  if (result.composition)
    report.composition = report::composition_report(*std::move(result.composition));
  report.no_composition = std::move(result.no_composition);
  if (const auto& learned = result.kernels)
    report.learned = report::LearnedReport{learned->rows, learned->seconds,    learned->bytes,
                                           learned->seed, learned->calibrated, learned->under_load};
  report.no_learned = std::move(result.no_kernels);
  return report;
}

}  // namespace oplat::app
