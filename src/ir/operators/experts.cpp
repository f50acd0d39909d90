// SPDX-License-Identifier: Apache-2.0
#include "ir/operators/experts.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "ir/operators/arguments.hpp"
#include "ir/operators/list.hpp"

namespace oplat::ir::ops {
namespace {

/// Where weights are among the operands: the layer that widens, that which narrows, and a gate.
constexpr std::array<std::size_t, 3> kFloatExperts = {2, 4, 6}, kPackedExperts = {2, 5, 8};

std::optional<double> flops_experts(const Key& key) {
  const auto experts = experts_of(key);
  return experts ? std::optional(2 * experts->tokens * experts->weights) : std::nullopt;
}

}  // namespace

std::optional<Experts> experts_of(const Key& key) {
  if (key.domain != kContrib || (key.op != "MoE" && key.op != "QMoE")) return std::nullopt;
  const bool quantised = key.op == "QMoE";
  const auto experts = dim(key.operand(1), -1);
  const auto choices = elements(key.operand(1));
  const auto bits = quantised ? integer(key, "expert_weight_bits").value_or(4) : 0;
  if (!experts || *experts < 1 || !choices || (quantised && bits < 1)) return std::nullopt;
  constexpr double kByte = 8;
  Experts out;
  out.experts = static_cast<double>(*experts);
  for (const std::size_t operand : quantised ? kPackedExperts : kFloatExperts) {
    const TensorEntry* weights = key.operand(operand);
    if (weights == nullptr) continue;
    const auto stored = elements(weights);
    if (!stored) return std::nullopt;
    out.weights += *stored / out.experts * (quantised ? kByte / static_cast<double>(bits) : 1);
  }
  // The layer that narrows is [experts, results, channels].
  const auto results = dim(key.result(0), -1);
  const auto narrowing = elements(key.operand(quantised ? kPackedExperts[1] : kFloatExperts[1]));
  if (!results || *results < 1 || !narrowing) return std::nullopt;
  out.channels = *narrowing / out.experts / static_cast<double>(*results) *
                 (quantised ? kByte / static_cast<double>(bits) : 1);
  const double each =
      std::clamp(static_cast<double>(integer(key, "k").value_or(1)), 1.0, out.experts);
  const double tokens = *choices / out.experts;
  out.tokens = tokens * each;
  out.touched = out.experts * (1 - std::pow(1 - each / out.experts, tokens));
  return out;
}

std::vector<OperatorInfo> experts() {
  return {{.domain = kContrib, .op = "MoE", .flops = flops_experts},
          {.domain = kContrib, .op = "QMoE", .flops = flops_experts}};
}

}  // namespace oplat::ir::ops
