// SPDX-License-Identifier: Apache-2.0
#include "app/learning.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/table_source.hpp"
#include "base/counted.hpp"
#include "base/parallel.hpp"
#include "base/text.hpp"
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
  constexpr std::chrono::seconds kMinWatched{3};
  constexpr double kMinShare = 0.001;
  if (!first_) first_ = Seen{now, done};
  if (seen_.empty() || now - seen_.back().at >= std::chrono::seconds(1))
    seen_.push_back({now, done});
  while (seen_.size() > 1 && now - seen_[1].at >= kLately) seen_.pop_front();
  if (now - first_->at < kMinWatched || done - first_->done < kMinShare * total)
    return std::nullopt;
  const auto each = seconds_per_step();
  if (!each) return std::nullopt;
  return *each * (total - done);
}

/// Over the seconds lately, without those in which far more steps were done than in most: they had
/// been finished before.
std::optional<double> Pace::seconds_per_step() const {
  constexpr double kFarMore = 4;
  struct Stretch {
    double seconds = 0;
    int steps = 0;
    [[nodiscard]] double rate() const { return steps / seconds; }
  };
  std::vector<Stretch> stretches;
  std::vector<double> rates;
  for (std::size_t i = 1; i < seen_.size(); ++i) {
    const Stretch stretch{std::chrono::duration<double>(seen_[i].at - seen_[i - 1].at).count(),
                          seen_[i].done - seen_[i - 1].done};
    stretches.push_back(stretch);
    rates.push_back(stretch.rate());
  }
  if (stretches.empty()) return std::nullopt;
  const auto middle = rates.begin() + static_cast<std::ptrdiff_t>((rates.size() - 1) / 2);
  std::nth_element(rates.begin(), middle, rates.end());
  Stretch sum;
  for (const Stretch& stretch : stretches) {
    if (*middle > 0 && stretch.rate() > kFarMore * *middle) continue;
    sum.seconds += stretch.seconds;
    sum.steps += stretch.steps;
  }
  if (sum.steps <= 0) return std::nullopt;
  return sum.seconds / sum.steps;
}

Result<std::int64_t> rows_to_learn_from(const estimate::RowSource& rows) {
  std::int64_t timings = 0;
  for (const table::SettingId setting : rows.settings) {
    OPLAT_TRY(context, rows.table->context_of(rows.device, setting));
    timings += context.timings;
  }
  return timings;
}

std::function<bool(int, int)> learning_progress(std::int64_t rows, Events& events,
                                                table::Table* lease) {
  // Rows are read and compared with each other before the first step: seconds if they are many.
  const std::string count = base::counted(rows, "row");
  events.progress({0, 0, std::nullopt, "reading", count + " of the table"});
  return [&events, lease, pace = Pace(), item = "learning from " + count](int done,
                                                                          int total) mutable {
    if (events.cancelled()) return false;
    const Progress progress{done, total, pace.eta_s(done, total, Pace::Clock::now()), "fit", item};
    events.progress(progress);
    // Whoever took the table over is reported when the fit is stored.
    if (lease != nullptr) static_cast<void>(lease->keep_lease());
    return true;
  };
}

Result<estimate::LearnedFit> learn(const estimate::RowSource& rows, const LearnOptions& options,
                                   Events& events, table::Table* table) {
  estimate::LearnRequest request = learn_request(options);
  OPLAT_TRY(count, rows_to_learn_from(rows));
  request.progress = learning_progress(count, events, table);
  estimate::FinishedParts finished;
  if (table != nullptr) {
    OPLAT_CHECK(read_finished(*table, rows, finished));
    request.finished = &finished;
  }
  const bool goes_on = finished.size() + finished.begun() > 0;
  auto fit = estimate::learn(rows, request);
  const bool stopped = fit ? events.cancelled() : fit.error().code == Code::Interrupted;
  if (!stopped) {
    if (fit && goes_on && table != nullptr)
      OPLAT_CHECK(
          table->erase_fit(estimate::kFinishedPartsFormat, rows.device, rows.settings.front()));
    return fit;
  }
  if (finished.size() + finished.begun() == 0)
    return fail(Code::Interrupted,
                "interrupted while fitting, before the first of its parts was begun");
  if (finished.has_more())
    OPLAT_CHECK(table->put_fit(
        rows.device, rows.settings.front(),
        {std::string(estimate::kFinishedPartsFormat), options.seed, finished.save()}));
  return fail(
      Code::Interrupted,
      "interrupted while fitting; {} finished and {} begun parts of it are kept, and the same "
      "command goes on with them",
      finished.size(), finished.begun());
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
  OPLAT_TRY(context, table.context_of(selection.device_id, setting));
  return context.timings < static_cast<std::int64_t>(estimate::kMinRowsLearned);
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
