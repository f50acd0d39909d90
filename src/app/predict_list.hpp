// SPDX-License-Identifier: Apache-2.0
/// Use case: several models predicted by the same rows, each an entry of a list with its answer or
/// its error.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/events.hpp"
#include "app/gate.hpp"
#include "app/predict.hpp"
#include "base/result.hpp"
#include "report/model_lists.hpp"

namespace oplat::app {

/// Warnings of several models: each text once, with the model that it is about, or how many.
class ModelWarnings {
 public:
  void add(const std::string& model, const std::vector<std::string>& texts);
  /// "net.onnx: TEXT" or "3 models: TEXT", in the order in which they came.
  [[nodiscard]] std::vector<std::string> lines() const;

 private:
  struct Said {
    std::string text;
    std::string first;
    std::size_t models;
  };
  std::vector<Said> said_;
  std::map<std::string, std::size_t> index_;
};

struct PredictListResult {
  std::optional<Code> first_error;    ///< of a model, in their order
  std::vector<std::string> warnings;  ///< lines of ModelWarnings
  std::optional<Error> stopped;       ///< Code::Interrupted: the models after it have no entry
};

/// Predicts each. An entry has an error if its model cannot be predicted, if kernels are missing,
/// or if it is above the limit of `gate`. `answer` gets each as soon as it is there, in order; what
/// it fails with ends the work. Errors as of predict_models(), but for Code::Interrupted.
Result<PredictListResult> predict_list(
    const PredictModelsRequest& request, const std::optional<Gate>& gate,
    const std::function<Status(report::PredictionList::Entry&&)>& answer, Events& events);

}  // namespace oplat::app
