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

/// Warnings of the kernels that say `under_load`, or whose rows never had their core alone.
void warn_of_load(Prediction& prediction);
/// Of a fitted composition.
std::string load_warning(const table::Load& models);

}  // namespace oplat::predict
