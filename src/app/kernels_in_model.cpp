// SPDX-License-Identifier: Apache-2.0
#include "app/kernels_in_model.hpp"

#include <string_view>
#include <unordered_map>
#include <utility>

#include "app/fit.hpp"
#include "app/table_source.hpp"
#include "base/text.hpp"
#include "compat/registry.hpp"
#include "predict/ceilings.hpp"

namespace oplat::app {
namespace {

/// The plan's kernels with what the profile says of each: a node that runs as several kernels has a
/// time for all of them together, which goes to the first.
predict::Prediction with_times(const PlannedModel& model, const Session& session,
                               const runtimes::NodeTimes& times) {
  std::unordered_map<std::string_view, double> ns_of;
  for (const runtimes::NodeTime& time : times)
    ns_of.emplace(time.node, 0.5 * (time.ns.low + time.ns.high));
  predict::Prediction made;
  made.model = model.path;
  made.batch = model.plan.batch;
  made.device = session.device;
  made.setting = session.setting;
  double sum = 0;
  for (const table::PlanKernel& kernel : model.plan.kernels) {
    predict::KernelPrediction one;
    one.name = kernel.name;
    one.key = kernel.key;
    one.count = kernel.count;
    one.inserted_by_runtime = kernel.inserted_by_runtime;
    if (const auto found = ns_of.find(kernel.name); found != ns_of.end()) {
      one.latency_ns = std::exchange(found->second, 0);
      one.source = estimate::Source::Measured;
      sum += static_cast<double>(one.count) * *one.latency_ns;
    }
    made.composition.n_kernels += one.count;
    made.kernels.push_back(std::move(one));
  }
  made.latency_ns = sum;
  return made;
}

predict::Ceilings ceilings_of(const Session& session, const table::Table& table,
                              const predict::Prediction& prediction) {
  const auto selection = select_rows(table, rows_of(session));
  if (!selection) return {};
  auto ceilings = predict::find_ceilings(table, *selection, prediction);
  return ceilings ? *std::move(ceilings) : predict::Ceilings();
}

}  // namespace

Result<std::optional<report::PredictionReport>> kernels_in_model(Session& session,
                                                                 const PlannedModel& model,
                                                                 const table::Table& table,
                                                                 Events& events) {
  const std::optional<report::PredictionReport> none;
  const Status started = session.worker->dead() ? session.worker->restart() : Status();
  const auto times =
      started ? session.worker->node_times(plan_request(model.path, model.inputs, session.setting))
              : fail(started.error());
  if (!times && times.error().code == Code::Interrupted) return fail(times.error());
  if (!times || times->empty()) {
    // Another worker than oplat's own need not know the question.
    const bool silent = times || times.error().code == Code::Usage;
    events.warn(fmt::format("{}: {}", base::printable(model.path, 400),
                            silent ? std::string("the runtime gave no times of kernels inside the "
                                                 "model, so there are none by operator")
                                   : "no times by operator: " + times.error().message));
    return none;
  }
  predict::Prediction prediction = with_times(model, session, *times);
  predict::Diagnosis diagnosis =
      predict::diagnose(prediction, ceilings_of(session, table, prediction), compat::catalogue());
  return std::optional(report::PredictionReport{std::move(prediction), std::move(diagnosis)});
}

}  // namespace oplat::app
