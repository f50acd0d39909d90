// SPDX-License-Identifier: Apache-2.0
/// Dump, name, run, join.
#include "runtimes/onnxruntime/planner.hpp"

#include "oplat/base/files.hpp"
#include "oplat/plan/plan.hpp"
#include "runtimes/onnxruntime/profile_events.hpp"

namespace oplat::runtimes::onnxruntime {
namespace {

Result<std::unique_ptr<Session>> create(const Api& api, const std::string& bytes, const SessionOptions& options) {
  auto session = Session::create(api, bytes, options);
  if (!session) return fail(std::move(session).error().error);
  return std::move(*session);
}

}  // namespace

Result<plan::Plan> make_plan(const Api& api, const formats::onnx::Model& model, const std::vector<InputData>& inputs, const SessionOptions& options) {
  OPLAT_TRY(folder, base::TemporaryFolder::create("oplat-plan"));
  const std::string optimized_path = (folder.path() / "optimized.onnx").string();
  {
    SessionOptions dump = options;
    dump.optimized_model = optimized_path;
    OPLAT_TRY(bytes, model.bytes());
    OPLAT_TRY(session, create(api, bytes, dump));
  }
  OPLAT_TRY(source, base::Source::open(optimized_path));
  OPLAT_TRY(optimized, formats::onnx::Model::load(source));
  optimized.name_nodes();
  OPLAT_TRY(graph, optimized.graph());

  // Pre-packing takes weights out of the profiler's shapes; the level is 0 because the optimisations are in the file.
  SessionOptions profiled = options;
  profiled.level = 0;
  profiled.prepacking = false;
  profiled.profile_prefix = (folder.path() / "profile").string();
  std::string events;
  {
    OPLAT_TRY(bytes, optimized.bytes());
    OPLAT_TRY(session, create(api, bytes, profiled));
    OPLAT_CHECK(session->bind(inputs));
    OPLAT_CHECK(session->run());
    OPLAT_TRY(file, session->end_profiling());
    OPLAT_TRY(text, base::read_file(file));
    events = std::move(text);
  }
  OPLAT_TRY(runs, parse_profile(events));
  OPLAT_TRY(kernels, plan::kernels_of(graph, runs));
  const plan::Footprint footprint = plan::footprint(graph, runs);
  plan::Plan plan;
  plan.weight_bytes = footprint.weight_bytes;
  plan.activation_bytes = footprint.activation_bytes;
  plan.kernels = std::move(kernels);
  return plan;
}

}  // namespace oplat::runtimes::onnxruntime
