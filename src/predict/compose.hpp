// SPDX-License-Identifier: Apache-2.0
/// From kernels to a model: coefficients, sum, shares and spread.
#pragma once

#include "oplat/predict/prediction.hpp"

namespace oplat::predict {

/// Coefficients of a table without a fit: c0 is the median empty call of the selection's campaigns, c1 is 0. Notes in
/// `warnings` where no campaign measured an empty call.
Result<Composition> unfitted(const table::Table& table, const Selection& selection, std::vector<std::string>& warnings);

/// Fills latency, spread, interval, coverage and missing from `kernels`, `composition`, `mismatch`, `level` and
/// `policy`. Code::Input where the numbers run over.
Status compose(Prediction& prediction);

}  // namespace oplat::predict
