// SPDX-License-Identifier: Apache-2.0
/// oplat inspect MODEL: operations, parameters and memory, without a table.
#include "app/inspect.hpp"
#include "cli/commands/commands.hpp"

namespace oplat::cli {
namespace {

struct InspectFlags : OutputFlags {
  std::string model;
  app::RuntimeTexts run;
  app::ModelInputTexts inputs;
  std::int64_t depth = 2;
};

Result<int> run_inspect(const InspectFlags& flags) {
  OPLAT_CHECK(check_out(flags.form, {flags.model}));
  OPLAT_TRY(inputs, app::parse_model_inputs(flags.inputs));
  OPLAT_TRY(runtime, app::parse_runtime(flags.run));
  TerminalEvents events(flags.verbosity);
  OPLAT_TRY(report, app::inspect({flags.model, std::move(inputs), std::move(runtime), flags.depth},
                                 events));
  events.finish();
  OPLAT_CHECK(print_document(flags.form, std::move(report)));
  return kDone;
}

constexpr const char* kInspectFooter =
    R"(
Nothing is measured and no table is needed. Sizes of inner tensors that the file does not say are
those of one run under ONNX Runtime (or --runtime), which is asked to fuse nothing. Operations of a
multiply-add are two; operators without a formula are counted apart. Activations are all results of
one run, views excluded; the peak is what is alive at once, in the order of the file, without what
kernels need for themselves.
Exit codes: 0 done; 2 usage, or an open dimension (set it with --shape or --batch); 3 the file; 5 the
sizes are not in the file and no runtime finds them.
Example: oplat inspect net.onnx --batch 4 --depth 1)";

}  // namespace

void add_inspect(const Command& app) {
  const auto [command, flags] = add_command(
      app, "inspect", "count a model's operations, parameters and memory, without a table",
      run_inspect);
  command.add_option("MODEL", flags->model, "model file (ONNX, Paddle, Caffe2)").required();
  add_model_options(command, flags->inputs);
  const Option runtime =
      command.add_option("--runtime", flags->run.request.runtime,
                         "runtime that runs the model once to find sizes (default: onnxruntime, "
                         "where the file does not say them)");
  add_worker_option(command, flags->run.worker, runtime);
  command
      .add_option("--depth", flags->depth,
                  "parts of a node's name, split at / or ., that make a module; 0: no modules")
      .range(std::int64_t{0}, std::int64_t{16})
      .capture_default_str();
  add_output<report::InspectionReport>(command, *flags);
  command.footer({kInspectFooter});
}

}  // namespace oplat::cli
