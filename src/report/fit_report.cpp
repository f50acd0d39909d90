// SPDX-License-Identifier: Apache-2.0
/// Models left out of a fit, next to their measurement.
#include "report/fit_report.hpp"

#include <vector>

namespace oplat::report {

CompositionReport composition_report(predict::FitResult result) {
  CompositionReport report;
  std::vector<predict::ValidatedModel> fitted, unfitted;
  for (const predict::LeftOutModel& model : result.left_out) {
    if (!model.calibrates) continue;
    fitted.push_back({model.name, model.predicted_ns, model.interval, model.measured, {}});
    unfitted.push_back({model.name, model.unfitted_ns, std::nullopt, model.measured, {}});
  }
  report.left_out = predict::summarise(fitted);
  report.unfitted = predict::summarise(unfitted);
  report.result = std::move(result);
  return report;
}

}  // namespace oplat::report
