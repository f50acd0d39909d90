// SPDX-License-Identifier: Apache-2.0
/// Use case: how long single kernels take, given by key.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/events.hpp"
#include "app/predict.hpp"
#include "base/result.hpp"
#include "predict/prediction.hpp"
#include "report/report_model.hpp"

namespace oplat::app {

struct EstimateRequest {
  std::vector<std::string> keys;  ///< as `oplat plan` prints them
  std::string table;              ///< a table of oplat
  predict::RowFilter rows = {};
  PredictionOptions options = {};
  std::optional<double> reuse_bytes = {};  ///< touched between two uses of a weight; empty: hot
};

struct EstimateResult {
  std::vector<predict::KernelPrediction> kernels;  ///< in the order of the keys
  predict::Selection selection;                    ///< the rows that answered, with warnings
};

/// Estimates each key by itself. A key without an estimate is not an error here: see
/// KernelPrediction::latency_ns, and require_estimates. Code::Usage: a key is malformed, or several
/// settings fit; Code::Input: the table; Code::Refused: no rows for the filter.
Result<EstimateResult> estimate(const EstimateRequest& request, Events& events);
/// The same by a table that is open; `request.table` is not looked at.
Result<EstimateResult> estimate(const EstimateRequest& request, const table::Table& table);

/// What `oplat estimate` says of them.
report::EstimateListing estimate_listing(const EstimateRequest& request, EstimateResult result);

/// Code::Missing with the first key that has no estimate, unless the policy is Zero.
Status require_estimates(const EstimateResult& result, predict::MissingPolicy missing);

}  // namespace oplat::app
