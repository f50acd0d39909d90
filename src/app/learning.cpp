// SPDX-License-Identifier: Apache-2.0
#include "app/learning.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

#include "app/table_source.hpp"
#include "base/parallel.hpp"
#include "estimate/finished_parts.hpp"
#include "predict/row_selection.hpp"

namespace oplat::app {
namespace {

constexpr int kMaxJobs = 256;

/// The finished parts that the table keeps of a fit that was stopped; none if they are damaged.
Status read_finished(const table::Table& table, const estimate::RowSource& rows,
                     estimate::FinishedParts& finished) {
  OPLAT_TRY(found,
            table.find_fit(estimate::kFinishedPartsFormat, rows.device, rows.settings.front()));
  if (found) static_cast<void>(finished.load(found->fit.blob));
  return {};
}

}  // namespace

estimate::LearnRequest learn_request(const LearnOptions& options) {
  estimate::LearnRequest request;
  request.seed = options.seed;
  request.threads = options.jobs > 0 ? options.jobs : std::min(base::usable_cores(), kMaxJobs);
  request.calibrate = options.calibrate;
  request.exclude_suspects = options.exclude_suspects;
  return request;
}

std::optional<double> Pace::eta_s(int done, int total, Clock::time_point now) {
  constexpr std::chrono::seconds kLately{20};
  constexpr double kMinShare = 0.01;
  if (!first_) first_ = Seen{now, done};
  if (seen_.empty() || now - seen_.back().at >= std::chrono::seconds(1))
    seen_.push_back({now, done});
  while (seen_.size() > 1 && now - seen_[1].at >= kLately) seen_.pop_front();
  const double seconds = std::chrono::duration<double>(now - seen_.front().at).count();
  const int steps = done - seen_.front().done;
  if (done - first_->done < kMinShare * total || steps <= 0 || seconds <= 0) return std::nullopt;
  return seconds / steps * (total - done);
}

std::function<bool(int, int)> learning_progress(Events& events, table::Table* lease) {
  // Rows are read and compared with each other before the first step: seconds if they are many.
  events.progress({0, 0, std::nullopt, "reading", "rows of the table"});
  return [&events, lease, pace = Pace()](int done, int total) mutable {
    if (events.cancelled()) return false;
    const Progress progress{done, total, pace.eta_s(done, total, Pace::Clock::now()), "fit",
                            "learning from rows"};
    events.progress(progress);
    // Whoever took the table over is reported when the fit is stored.
    if (lease != nullptr) static_cast<void>(lease->keep_lease());
    return true;
  };
}

Result<estimate::LearnedFit> learn(const estimate::RowSource& rows, const LearnOptions& options,
                                   Events& events, table::Table* table) {
  estimate::LearnRequest request = learn_request(options);
  request.progress = learning_progress(events, table);
  estimate::FinishedParts finished;
  if (table != nullptr) {
    OPLAT_CHECK(read_finished(*table, rows, finished));
    request.finished = &finished;
  }
  const std::size_t before = finished.size();
  auto fit = estimate::learn(rows, request);
  const bool stopped = fit ? events.cancelled() : fit.error().code == Code::Interrupted;
  if (!stopped) {
    if (fit && before > 0 && table != nullptr)
      OPLAT_CHECK(
          table->erase_fit(estimate::kFinishedPartsFormat, rows.device, rows.settings.front()));
    return fit;
  }
  if (finished.size() == 0) return fail(Code::Interrupted, "interrupted while fitting");
  if (finished.size() > before)
    OPLAT_CHECK(table->put_fit(
        rows.device, rows.settings.front(),
        {std::string(estimate::kFinishedPartsFormat), options.seed, finished.save()}));
  return fail(
      Code::Interrupted,
      "interrupted while fitting; its {} finished parts are kept, and the same command goes "
      "on with them",
      finished.size());
}

Status store_fits(table::Table& table, table::DeviceId device, table::SettingId setting,
                  std::span<const table::Fit> fits) {
  return table.transaction([&]() -> Status {
    for (const table::Fit& fit : fits) OPLAT_CHECK(table.put_fit(device, setting, fit));
    return {};
  });
}

Result<bool> has_fit(const table::Table& table) {
  OPLAT_TRY(selection, select_rows(table, {}));
  const table::SettingId setting = selection.setting_ids.front();
  OPLAT_TRY(found, table.find_fit(estimate::kLearnedFormat, selection.device_id, setting));
  if (found && found->current) {
    OPLAT_TRY(age, estimate::age_of_fit(found->fit.blob));
    if (age == estimate::FitAge::Current) return true;
  }
  OPLAT_TRY(population, table.population_of(selection.device_id, setting));
  return population.timings < static_cast<std::int64_t>(estimate::kMinRowsLearned);
}

Status ensure_fit(table::Table& table, bool calibrate, Events& events) {
  OPLAT_TRY(fitted, has_fit(table));
  if (fitted) return {};
  OPLAT_TRY(selection, select_rows(table, {}));
  events.note(
      "fitting the library, which happens once and takes minutes if it has many rows; "
      "--no-calibrate is several times faster, with wider intervals, and 'tinynas predict --method "
      "original' needs no fit; Ctrl-C stops it, and what is finished is kept");
  LearnOptions options;
  options.calibrate = calibrate;
  const estimate::RowSource rows{&table, selection.device_id, selection.setting_ids, std::nullopt,
                                 selection.catalogue};
  OPLAT_TRY(learned, learn(rows, options, events, &table));
  return store_fits(table, selection.device_id, selection.setting_ids.front(), learned.fits);
}

}  // namespace oplat::app
