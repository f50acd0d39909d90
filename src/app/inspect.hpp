// SPDX-License-Identifier: Apache-2.0
/// Use case: the work and the memory of a model, without a table.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "app/events.hpp"
#include "app/session.hpp"
#include "base/result.hpp"
#include "plan/inspection.hpp"
#include "report/inspection.hpp"

namespace oplat::app {

struct InspectRequest {
  std::string model;  ///< path
  ModelInputs inputs = {};
  /// What finds the sizes of inner tensors that the file does not say, by running the model once;
  /// no runtime: ONNX Runtime for ONNX models, and nothing for others.
  RuntimeRequest runtime = {};
  std::int64_t depth = 2;  ///< of modules
};

/// Code::Input: the file; Code::Usage: open dimensions; Code::Runtime: the sizes are not in the
/// file and the runtime that would find them does not run.
Result<report::InspectionReport> inspect(const InspectRequest& request, Events& events);

/// What the kernels of a plan ask for, summed by operator and module. The peak is left to the
/// caller, who knows the graph. `parameters`: of each kernel; empty: those of its key.
report::InspectionReport sum_kernels(const std::vector<table::PlanKernel>& kernels,
                                     std::int64_t depth,
                                     std::span<const plan::ParameterSum> parameters = {});

}  // namespace oplat::app
