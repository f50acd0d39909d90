// SPDX-License-Identifier: Apache-2.0
/// oplat plan MODEL
#include <memory>

#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/output.hpp"
#include "cli/question.hpp"
#include "cli/runtime_session.hpp"

namespace oplat::cli {
namespace {

struct Flags {
  std::string model;
  RunOptions run;
  ModelOptions model_options;
  FormOptions form;
  Loudness loudness;
};

Result<int> run(const Flags& flags) {
  OPLAT_TRY(shapes, shape_options(flags.model_options));
  OPLAT_TRY(inputs, input_options(flags.model_options));
  OPLAT_CHECK(check_runtime_name(flags.run.runtime));
  OPLAT_CHECK(check_model_file(flags.model));
  OPLAT_TRY(session, start_runtime(flags.run, flags.loudness));
  runtimes::PlanRequest request;
  request.model = flags.model;
  request.shapes = shapes.shapes;
  request.batch = shapes.batch;
  request.inputs = inputs;
  request.setting = session.setting;
  OPLAT_TRY(plan, session.worker->plan(request));
  OPLAT_CHECK(print_report(flags.form.form(), report::ReportModel{plan, {}}));
  return kDone;
}

}  // namespace

void add_plan(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("plan", "list the kernels that a runtime executes for a model");
  const auto flags = std::make_shared<Flags>();
  command->add_option("MODEL", flags->model, "model file (ONNX)")->required();
  add_run_options(*command, flags->run);
  add_model_options(*command, flags->model_options);
  add_form(*command, flags->form);
  add_loudness(*command, flags->loudness);
  command->callback([&action, flags] { action = [flags] { return run(*flags); }; });
}

}  // namespace oplat::cli
