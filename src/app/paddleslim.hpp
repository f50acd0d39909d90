// SPDX-License-Identifier: Apache-2.0
/// Use case: the latency of a Paddle model by a table of PaddleSlim, as its TableLatencyPredictor
/// gives it, with an interval and without silent zeros.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "app/events.hpp"
#include "app/model_inputs.hpp"
#include "app/plan_source.hpp"
#include "base/result.hpp"
#include "predict/diagnosis.hpp"
#include "predict/prediction.hpp"
#include "predict/row_selection.hpp"

namespace oplat::app {

/// Exactly one of `table` and `hardware`.
struct PaddleslimRequest {
  std::string model;      ///< path of the program
  std::string params;     ///< path of its parameters; empty: the file next to it
  std::string table;      ///< a file, or a name such as SD710
  std::string hardware;   ///< a name alone
  std::string table_dir;  ///< further folder with named tables
  std::optional<std::string> dtype = std::nullopt;  ///< nothing: what the model holds
  std::int64_t threads = 4;
  std::optional<std::int64_t> power_mode = std::nullopt;
  bool estimate = false;  ///< operators that the table lacks, too
  ModelInputs inputs = {};
  predict::RowFilter rows = {};  ///< device and version
  PlanSource plan = {};
  double level = 0.9;  ///< of the interval
  bool skip_bad_rows = false;
  bool calibrate = true;
};

struct PaddleslimResult {
  predict::Prediction prediction;  ///< with all warnings
  predict::Diagnosis diagnosis;    ///< of this very prediction
};

/// Operators without a time are not an error here: see compat::paddleslim::require_keys().
/// Code::Usage: the request contradicts itself or the model; Code::Input: a file; Code::Refused: no
/// rows for threads, power mode or precision.
Result<PaddleslimResult> paddleslim_predict(const PaddleslimRequest& request, Events& events);

}  // namespace oplat::app
