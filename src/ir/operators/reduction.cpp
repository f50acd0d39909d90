// SPDX-License-Identifier: Apache-2.0
/// Reductions: operations for each element read; what is done once for each result (the division of
/// a mean, a root) is not counted.
#include "ir/operators/arguments.hpp"
#include "ir/operators/forms.hpp"
#include "ir/operators/list.hpp"

namespace oplat::ir::ops {

std::vector<OperatorInfo> reduction() {
  std::vector<OperatorInfo> list;
  for (const std::string_view op : {"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin",
                                    "ReduceProd", "ArgMax", "ArgMin", "CumSum", "CumProd"}) {
    list.push_back({.domain = "",
                    .op = op,
                    .flops = flops_per_operand<1>,
                    .describe_among_threads = describe_reduction});
  }
  // An absolute value, square or exponential before each is added.
  for (const std::string_view op :
       {"ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSum", "ReduceLogSumExp"}) {
    list.push_back({.domain = "",
                    .op = op,
                    .flops = flops_per_operand<2>,
                    .describe_among_threads = describe_reduction});
  }
  list.push_back({.domain = kContrib,
                  .op = "QLinearReduceMean",
                  .unprinted_operands = {2, 4},
                  .flops = flops_per_operand<1>,
                  .describe_among_threads = describe_reduction});
  list.push_back({.domain = kContrib, .op = "ReduceSumInteger", .flops = flops_per_operand<1>});
  return list;
}

}  // namespace oplat::ir::ops
