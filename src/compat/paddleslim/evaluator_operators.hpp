// SPDX-License-Identifier: Apache-2.0
/// Operators of a Paddle program as PaddleSlim's TableLatencyEvaluator asks its table for them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "ir/graph.hpp"

namespace oplat::compat::paddleslim {

struct EvaluatorQuestion {
  std::string node;
  std::string text;  ///< "conv,1,0,1,3,224,224,32,1,3,1,2,1", fields joined by the delimiter
};
struct EvaluatorQuestions {
  std::vector<EvaluatorQuestion> asked;
  std::map<std::string, std::size_t>
      passed_over;  ///< operator type -> how many the rule does not count
};

/// By the original's rule, a batch of 1 and its silence about padding algorithms included.
/// Code::Input names the operator that lacks a size or an attribute.
Result<EvaluatorQuestions> evaluator_questions(const ir::Graph& graph, bool only_conv,
                                               const std::string& delimiter);

}  // namespace oplat::compat::paddleslim
