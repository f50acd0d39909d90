// SPDX-License-Identifier: Apache-2.0
/// Counts over settings, and the sentences.
#include "predict/load.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/counted.hpp"
#include "base/text.hpp"

namespace oplat::predict {

using estimate::Source;

namespace {

/// Over all settings of the selection, each as the table counts it.
template <class Count>
Result<table::Load> sum_over(const Selection& selection, const Count& count) {
  table::Load sum;
  for (const table::SettingId setting : selection.setting_ids) {
    OPLAT_TRY(load, count(setting));
    sum.timings += load.timings;
    sum.under_load += load.under_load;
  }
  return sum;
}

std::string_view was_or_were(std::size_t count) { return base::one_or_many(count, "was", "were"); }

std::string_view its_or_their(std::size_t count) {
  return base::one_or_many(count, "its time", "their times");
}

}  // namespace

Result<table::Load> load_of_rows(const table::Table& table, const Selection& selection) {
  return sum_over(selection, [&](table::SettingId setting) {
    return table.load_of_rows(selection.device_id, setting);
  });
}

Result<table::Load> load_of_models(const table::Table& table, const Selection& selection) {
  return sum_over(selection, [&](table::SettingId setting) {
    return table.load_of_models(selection.device_id, setting);
  });
}

bool is_substantial(const table::Load& load) {
  return 3.0 * static_cast<double>(load.under_load) > static_cast<double>(load.timings);
}

bool is_any_under_load(const Prediction& prediction) {
  return std::any_of(prediction.kernels.begin(), prediction.kernels.end(),
                     [](const KernelPrediction& kernel) {
                       return kernel.under_load || kernel.group == estimate::kNeverQuietGroup;
                     });
}

void warn_of_load(Prediction& prediction, double load_sd) {
  // Nineteen in twenty, rounded up.
  const double too_long = std::ceil(std::round(1000 * 2 * load_sd) / 10);
  std::set<std::string_view> never_quiet, measured, estimated;
  for (const KernelPrediction& kernel : prediction.kernels) {
    if (kernel.group == estimate::kNeverQuietGroup) {
      never_quiet.insert(kernel.key);
      continue;
    }
    if (!kernel.under_load) continue;
    const bool own = kernel.source == Source::Measured || kernel.source == Source::Free;
    (own ? measured : estimated).insert(kernel.key);
  }
  if (!never_quiet.empty())
    prediction.warnings.push_back(fmt::format(
        "{} of its kernels {} measured on a core that something else always used: "
        "{} may be up to twice too long, and the interval is wider; measure "
        "again on a quiet machine with oplat profile --retry-loaded",
        never_quiet.size(), was_or_were(never_quiet.size()), its_or_their(never_quiet.size())));
  if (!measured.empty()) {
    prediction.warnings.push_back(fmt::format(
        "{} of its kernels {} measured on a busy machine: {} may be up to "
        "{:.0f} % too long, and the interval is wider; measure again on a quiet "
        "machine with oplat profile --retry-loaded",
        measured.size(), was_or_were(measured.size()), its_or_their(measured.size()), too_long));
  }
  if (!estimated.empty()) {
    prediction.warnings.push_back(fmt::format(
        "{} of its kernels {} estimated from rows of which more than a third were measured on a "
        "busy machine: {} may be up to {:.0f} % too long, and the interval is wider; "
        "measure again on a quiet machine with oplat profile --retry-loaded, then run oplat fit",
        estimated.size(), base::one_or_many(estimated.size(), "is", "are"),
        its_or_their(estimated.size()), too_long));
  }
}

std::string load_warning(const table::Load& models) {
  return fmt::format(
      "{} {} measured on a busy machine, and {} for little in the composition; measure again on a "
      "quiet machine with oplat profile --retry-loaded, then run oplat fit",
      models.timings == 1
          ? std::string("the table's only whole model")
          : fmt::format("{} of the table's {} whole models", models.under_load, models.timings),
      was_or_were(static_cast<std::size_t>(models.under_load)),
      base::one_or_many(models.under_load, "counts", "count"));
}

}  // namespace oplat::predict
