// SPDX-License-Identifier: Apache-2.0
/// Use case: how long a model takes, by a table of latencies. Needs no runtime where the table
/// holds the model's plan, or fusion rules make it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/events.hpp"
#include "app/model_inputs.hpp"
#include "app/plan_source.hpp"
#include "app/table_source.hpp"
#include "base/result.hpp"
#include "predict/diagnosis.hpp"
#include "predict/prediction.hpp"

namespace oplat::app {

/// How kernels are estimated and added up.
struct PredictionOptions {
  double level = 0.9;  ///< of the intervals: 0.9 holds nine of ten
  predict::MissingPolicy missing = predict::MissingPolicy::Error;
  estimate::Profile estimator = estimate::Profile::Accurate;  ///< of learned estimates
};

/// The same as typed.
struct PredictionTexts {
  double level = 0.9;
  std::string missing = "error";
  std::string estimator = "accurate";
};
/// Code::Usage for a policy that is unknown.
Result<PredictionOptions> parse_prediction(const PredictionTexts& texts);
/// The estimator of that name, the accurate one if there is none.
estimate::Profile estimator_named(const std::string& name);

struct PredictRequest {
  std::string model;        ///< path of the file (ONNX, Paddle)
  ModelInputs inputs = {};  ///< what the file leaves open
  /// A table of oplat, another system's file, or the name of one ("RK3288").
  std::string table;
  predict::RowFilter rows = {};  ///< device, runtime, threads and the like, where the table leaves
                                 ///< a choice
  PlanSource plan = {};
  PredictionOptions options = {};
  bool skip_bad_rows = false;  ///< of another system's file
  bool calibrate = true;       ///< of the fit that is made of another system's file
};

struct PredictResult {
  predict::Prediction prediction;  ///< with all warnings; its latency is empty while kernels are
                                   ///< missing and the policy is Error
  predict::Diagnosis diagnosis;    ///< of this very prediction
  bool measures_here = false;      ///< oplat has a worker for the rows' runtime
};

/// Predicts one model. Opens `request.table`. Warnings are in the prediction, and `events` get none
/// of them. Code::Input: model or table; Code::Usage: several settings fit, or options contradict
/// the model; Code::Refused: no rows for the filter; Code::Missing: no plan; Code::Runtime: the
/// runtime that would make the plan. A prediction with missing kernels is not an error: see
/// predict::require_complete. Thread-safe for tables of oplat.
Result<PredictResult> predict(const PredictRequest& request, Events& events);
/// The same by a table that is open; `request.table` is not looked at. One thread at a time.
Result<PredictResult> predict(const PredictRequest& request, OpenedTable& table, Events& events);

/// What predictions by one open table share: the choice of rows, what was read of fits and rows,
/// and the kernels that were asked for. Look-ups of an open table stay as they are, so that this
/// stays right; who opens the file anew begins with an empty one. Outlived by the table.
class PredictMemo {
 public:
  PredictMemo();
  PredictMemo(PredictMemo&&) noexcept;
  PredictMemo& operator=(PredictMemo&&) noexcept;
  ~PredictMemo();
  /// How often rows were chosen and a predictor was made, rather than taken from here.
  [[nodiscard]] std::int64_t selections() const;
  [[nodiscard]] std::int64_t predictors() const;

  struct Impl;
  [[nodiscard]] Impl& impl() { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

/// The same, by what earlier predictions of the table left in `memo`.
Result<PredictResult> predict(const PredictRequest& request, OpenedTable& table, PredictMemo& memo,
                              Events& events);

/// Opens the table that a request names.
Result<OpenedTable> open_table_of(const PredictRequest& request, Events& events);

/// Several models, by the same rows.
struct PredictModelsRequest {
  std::vector<std::string> models;  ///< paths
  PredictRequest each = {};         ///< its `model` is not looked at
};
struct ModelPrediction {
  std::string model;
  Result<PredictResult> result;
};
/// Predicts each: a model that fails is an entry with its error. Errors as of predict(), where all
/// models would fail alike: the table, the runtime's name, the choice of rows; Code::Interrupted
/// once `events` say cancelled.
/// `answer` gets each as soon as it is there, in order; what it fails with ends the work.
Status predict_models(const PredictModelsRequest& request,
                      const std::function<Status(ModelPrediction&&)>& answer, Events& events);

}  // namespace oplat::app
