// SPDX-License-Identifier: Apache-2.0
/// Operators with bodies. Their kernel is what they take besides the kernels of their bodies: a
/// call of the body a step, states handed on, scan outputs joined. A branch's results are written
/// by the branch itself, so that their bytes say nothing about the time.
#include "ir/operators/arguments.hpp"
#include "ir/operators/list.hpp"

namespace oplat::ir::ops {

std::vector<OperatorInfo> control() {
  std::vector<OperatorInfo> list;
  for (const std::string_view op : {"If", "Loop", "Scan"})
    list.push_back(
        {.domain = "", .op = op, .moves_little = true, .hands_on = op == "If", .flops = no_flops});
  return list;
}

}  // namespace oplat::ir::ops
