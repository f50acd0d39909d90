// SPDX-License-Identifier: Apache-2.0
/// Use case: two models, predicted from the same rows.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "app/events.hpp"
#include "app/predict.hpp"
#include "base/result.hpp"
#include "predict/prediction.hpp"
#include "table/table.hpp"

namespace oplat::app {

struct CompareRequest {
  std::array<std::string, 2> models;  ///< paths
  ModelInputs inputs = {};            ///< of either
  std::string table;                  ///< a table of oplat
  predict::RowFilter rows = {};
  PlanSource plan = {};
  PredictionOptions options = {};
};

struct CompareResult {
  std::array<predict::Prediction, 2> models;  ///< both complete; each with its own warnings
  std::vector<predict::Mismatch> mismatch;    ///< of the rows, where another setting answers
  /// What both or either is warned of, each text once.
  [[nodiscard]] std::vector<std::string> warnings() const;
};

/// Predicts both. Errors as of predict(); Code::Missing too where a kernel has no estimate.
Result<CompareResult> compare(const CompareRequest& request, Events& events);
/// The same by a table that is open; `request.table` is not looked at. One thread at a time.
Result<CompareResult> compare(const CompareRequest& request, const table::Table& table,
                              Events& events);

}  // namespace oplat::app
