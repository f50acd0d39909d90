// SPDX-License-Identifier: Apache-2.0
/// What a prediction says of the load under which its rows were measured: intervals know only of
/// rows that never had their core alone.
#pragma once

#include <string>

#include "predict/prediction.hpp"

namespace oplat::predict {

/// Of the rows, or of the whole models, of all settings of the selection.
Result<table::Load> load_of_rows(const table::Table& table, const Selection& selection);
Result<table::Load> load_of_models(const table::Table& table, const Selection& selection);

/// Whether so many of them were measured under load that what is learned from them may be too long:
/// more than a third, as of the blocks of a row.
bool is_substantial(const table::Load& load);

/// Whether one of its kernels says `under_load`, or rests on rows that never had their core alone.
bool is_any_under_load(const Prediction& prediction);
/// Warnings of these kernels. `load_sd`: of estimate::load_sd_of_rows().
void warn_of_load(Prediction& prediction, double load_sd);
/// Of a fitted composition.
std::string load_warning(const table::Load& models);

}  // namespace oplat::predict
