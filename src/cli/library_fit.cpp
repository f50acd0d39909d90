// SPDX-License-Identifier: Apache-2.0
/// One table, one device and setting, one fit.
#include "cli/library_fit.hpp"

#include "cli/learning.hpp"
#include "compat/registry.hpp"
#include "predict/row_selection.hpp"

namespace oplat::cli {

Result<bool> has_fit(const table::Table& table) {
  OPLAT_TRY(selection, predict::select_rows(table, {}, compat::catalogue()));
  const table::SettingId setting = selection.setting_ids.front();
  OPLAT_TRY(found, table.find_fit(estimate::kLearnedFormat, selection.device_id, setting));
  if (found && found->current) {
    OPLAT_TRY(age, estimate::age_of_fit(found->fit.blob));
    if (age == estimate::FitAge::Current) return true;
  }
  OPLAT_TRY(population, table.population_of(selection.device_id, setting));
  return population.timings < static_cast<std::int64_t>(estimate::kMinRowsLearned);
}

Status ensure_fit(table::Table& table, bool calibrate, const Verbosity& verbosity) {
  OPLAT_TRY(fitted, has_fit(table));
  if (fitted) return {};
  OPLAT_TRY(selection, predict::select_rows(table, {}, compat::catalogue()));
  if (!verbosity.quiet) {
    fmt::print(stderr,
               "oplat: learning from the library, once; this takes minutes where it has many rows, "
               "Ctrl-C ends it and "
               "keeps nothing\n");
  }
  LearnOptions options;
  options.calibrate = calibrate;
  const estimate::RowSource rows{&table, selection.device_id, selection.setting_ids, std::nullopt,
                                 selection.catalogue};
  OPLAT_TRY(learned, learn_with_progress(rows, options, verbosity, &table));
  return store_fits(table, selection.device_id, selection.setting_ids.front(), learned.fits);
}

}  // namespace oplat::cli
