// SPDX-License-Identifier: Apache-2.0
/// Operators whose result is their operand's bytes under another shape. ONNX Runtime's CPU kernels
/// declare Alias(0, 0) for them (core/providers/cpu/tensor/reshape.cc, flatten.h, squeeze.cc,
/// unsqueeze.cc, identity_op.cc), which its planner follows unless the result leaves the graph:
/// then it is copied into the output's own memory (plan/kernels.cpp tags such a kernel).
#include "ir/operators/arguments.hpp"
#include "ir/operators/forms.hpp"
#include "ir/operators/list.hpp"

namespace oplat::ir::ops {

std::vector<OperatorInfo> view() {
  std::vector<OperatorInfo> list;
  for (const std::string_view op : {"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity"}) {
    // A constant that leaves the graph is copied by an Identity, whatever it holds.
    const std::vector<std::size_t> unprinted =
        op == "Identity" ? std::vector<std::size_t>{0} : std::vector<std::size_t>{};
    list.push_back({.domain = "",
                    .op = op,
                    .overwritable = {0},
                    .view = true,
                    .unprinted_operands = unprinted,
                    .flops = no_flops,
                    .describe = describe_copy});
  }
  // No view: an optimiser removes it in inference, and where one is left the runtime copies its
  // operand, or draws a mask when it is in training mode.
  list.push_back(
      {.domain = "", .op = "Dropout", .inert = {"is_test", "ratio", "seed"}, .flops = no_flops});
  return list;
}

}  // namespace oplat::ir::ops
