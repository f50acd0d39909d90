// SPDX-License-Identifier: Apache-2.0
#include "app/learning.hpp"

#include <algorithm>
#include <chrono>
#include <optional>

#include "app/table_source.hpp"
#include "base/parallel.hpp"
#include "predict/row_selection.hpp"

namespace oplat::app {
namespace {

constexpr int kMaxJobs = 256;

}  // namespace

estimate::LearnRequest learn_request(const LearnOptions& options) {
  estimate::LearnRequest request;
  request.seed = options.seed;
  request.threads = options.jobs > 0 ? options.jobs : std::min(base::usable_cores(), kMaxJobs);
  request.calibrate = options.calibrate;
  request.exclude_suspects = options.exclude_suspects;
  return request;
}

std::function<bool(int, int)> learning_progress(Events& events, table::Table* lease) {
  using Clock = std::chrono::steady_clock;
  return [&events, lease, start = Clock::now()](int done, int total) {
    if (events.cancelled()) return false;
    Progress progress{done, total, std::nullopt, "fit", "learning from rows"};
    if (done > 0) {
      const double spent = std::chrono::duration<double>(Clock::now() - start).count();
      progress.eta_s = spent / done * (total - done);
    }
    events.progress(progress);
    // Whoever took the table over is reported when the fit is stored.
    if (lease != nullptr) static_cast<void>(lease->keep_lease());
    return true;
  };
}

Result<estimate::LearnedFit> learn(const estimate::RowSource& rows, const LearnOptions& options,
                                   Events& events, table::Table* lease) {
  estimate::LearnRequest request = learn_request(options);
  request.progress = learning_progress(events, lease);
  OPLAT_TRY(fit, estimate::learn(rows, request));
  if (events.cancelled()) return fail(Code::Interrupted, "interrupted while fitting");
  return fit;
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
      "original' needs no fit; Ctrl-C stops it");
  LearnOptions options;
  options.calibrate = calibrate;
  const estimate::RowSource rows{&table, selection.device_id, selection.setting_ids, std::nullopt,
                                 selection.catalogue};
  OPLAT_TRY(learned, learn(rows, options, events, &table));
  return store_fits(table, selection.device_id, selection.setting_ids.front(), learned.fits);
}

}  // namespace oplat::app
