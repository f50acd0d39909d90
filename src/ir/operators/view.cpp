// SPDX-License-Identifier: Apache-2.0
/// Operators whose result is their operand's bytes under another shape. ONNX Runtime's CPU kernels
/// declare Alias(0, 0) for them (core/providers/cpu/tensor/reshape.cc, flatten.h, squeeze.cc,
/// unsqueeze.cc, identity_op.cc).
#include "ir/operators/arguments.hpp"
#include "ir/operators/list.hpp"

namespace oplat::ir::ops {

std::vector<OperatorInfo> view() {
  std::vector<OperatorInfo> list;
  for (const std::string_view op : {"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity"}) {
    list.push_back({.domain = "", .op = op, .overwritable = {0}, .view = true, .flops = no_flops});
  }
  // In inference; every runtime's optimiser removes it, so that one left over is counted as the
  // Identity it means.
  list.push_back({.domain = "",
                  .op = "Dropout",
                  .overwritable = {0},
                  .view = true,
                  .inert = {"is_test", "ratio", "seed"},
                  .flops = no_flops});
  return list;
}

}  // namespace oplat::ir::ops
