// SPDX-License-Identifier: Apache-2.0
/// oplat lut ops FILE: layers of PyTorch models, as mobile_cv's lut asks for them.
#include <memory>

#include "cli/exit_code.hpp"
#include "cli/lut/commands.hpp"
#include "cli/output.hpp"
#include "compat/mobile_vision/module_document.hpp"

namespace oplat::cli {
namespace {

struct LutOpsFlags {
  compat::mobile_vision::ModuleRequest request;
  FormOptions form;
};

Result<int> run_lut_ops(const LutOpsFlags& flags) {
  OPLAT_CHECK(check_out(flags.form, {flags.request.file, flags.request.table}));
  OPLAT_TRY(document, compat::mobile_vision::ModuleDocument::make(flags.request));
  OPLAT_CHECK(print_report(flags.form, report::ReportModel{document, {}}));
  OPLAT_CHECK(document->require_found());
  return kDone;
}

}  // namespace

void add_lut_ops(const Command& group) {
  const Command command = group.add_subcommand(
      "ops", "list output shapes, parameters, multiply-adds and latencies of PyTorch layers");
  const auto flags = std::make_shared<LutOpsFlags>();
  command.add_option("FILE", flags->request.file, "operators as JSON Lines, one a line").required();
  command
      .add_option("--table", flags->request.table,
                  "latency table: JSON Lines of operators with \"latency_us\"")
      .type_name("FILE");
  command.add_flag("--mirror-bias", flags->request.mirror_bias,
                   "use an entry with a bias for the layer without one, and the reverse");
  add_form<report::ForeignReport>(command, flags->form);
  command.footer({R"(
A line of FILE: {"op": "Conv2d", "args": {"in_channels": 3, "out_channels": 32, "kernel_size": 3},
"input_shapes": [[1,3,224,224]]}. Arguments and defaults are those of PyTorch's modules.
Operators: Conv1d to 3d, ConvTranspose1d to 3d, Linear, AdaptiveAvgPool1d to 3d, AvgPool1d to 3d,
MaxPool1d to 3d, MatMul, MultiheadAttention. Equal entries of the table are averaged.
'mobile_cv_flops' of --json counts as mobile_cv does.
Exit codes: 0 done; 2 usage; 3 a file is missing or malformed, or an operator is unknown; 4
operators that the table lacks.
Example: oplat lut ops net.jsonl --table phone.jsonl --mirror-bias)"});
  command.runs([flags] { return run_lut_ops(*flags); });
}

}  // namespace oplat::cli
