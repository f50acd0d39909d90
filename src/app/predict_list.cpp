// SPDX-License-Identifier: Apache-2.0
#include "app/predict_list.hpp"

#include <utility>

#include "base/text.hpp"

namespace oplat::app {
namespace {

report::PredictionList::Entry prediction_entry(ModelPrediction&& one,
                                               const std::optional<Gate>& gate) {
  report::PredictionList::Entry entry{one.model, std::nullopt};
  if (!one.result) {
    entry.error = one.result.error();
    return entry;
  }
  if (auto good = check_prediction(gate, one.result->prediction); !good) entry.error = good.error();
  entry.report =
      report::PredictionReport{std::move(one.result->prediction), std::move(one.result->diagnosis)};
  return entry;
}

}  // namespace

void ModelWarnings::add(const std::string& model, const std::vector<std::string>& texts) {
  for (const std::string& text : texts) {
    const auto [at, added] = index_.emplace(text, said_.size());
    if (added) said_.push_back({text, model, 0});
    ++said_[at->second].models;
  }
}

std::vector<std::string> ModelWarnings::lines() const {
  std::vector<std::string> lines;
  for (const Said& one : said_)
    lines.push_back(one.models == 1
                        ? fmt::format("{}: {}", base::printable(one.first, 400), one.text)
                        : fmt::format("{} models: {}", one.models, one.text));
  return lines;
}

Result<PredictListResult> predict_list(
    const PredictModelsRequest& request, const std::optional<Gate>& gate,
    const std::function<Status(report::PredictionList::Entry&&)>& answer, Events& events) {
  PredictListResult result;
  ModelWarnings warnings;
  const Status done = predict_models(
      request,
      [&](ModelPrediction&& one) -> Status {
        report::PredictionList::Entry entry = prediction_entry(std::move(one), gate);
        if (entry.error && !result.first_error) result.first_error = entry.error->code;
        if (entry.report) warnings.add(entry.model, entry.report->prediction.warnings);
        return answer(std::move(entry));
      },
      events);
  if (!done && done.error().code != Code::Interrupted) return fail(done.error());
  if (!done) result.stopped = done.error();
  result.warnings = warnings.lines();
  return result;
}

}  // namespace oplat::app
