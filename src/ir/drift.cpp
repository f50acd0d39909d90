// SPDX-License-Identifier: Apache-2.0
/// The problem: the copies of a kernel that is measured are chained as in a model, so that the k-th
/// computes with what k - 1 others made of the first one's numbers. A sum or a product with a
/// constant near one stays where it was. A square does not: of numbers from 0.75 to 1.25 a quarter
/// is denormal after six, which a processor computes with in microcode, and after ten all are 0 or
/// infinite. Sixteen squares in a chain took 1.4 times as long as sixteen side by side, and
/// sixteen powers of 1.7 twice as long (Zen 4, ONNX Runtime 1.31.1).
#include "ir/drift.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "ir/onnx_domain.hpp"
#include "ir/value_costs.hpp"

namespace oplat::ir {
namespace {

/// About x / 2 near 0: after some 130 copies in a chain numbers have lost all their bits.
constexpr std::array<std::string_view, 7> kHalving = {"QuickGelu", "Gelu",  "FastGelu", "BiasGelu",
                                                      "HardSwish", "Swish", "Mish"};

/// Powers of a number, and products of it with itself.
bool multiplies_by_itself(const Key& key) {
  if (key.op == "Pow") return true;
  return (key.op == "Mul" || key.op == "Einsum") && key.operands.size() == 2 &&
         std::holds_alternative<AliasEntry>(key.operands[1]);
}

bool drifts(const Key& key) {
  return std::find(kHalving.begin(), kHalving.end(), key.op) != kHalving.end() ||
         multiplies_by_itself(key) || value_cost_sd(key) > 0;
}

}  // namespace

bool is_another_in_chain(const Key& key) {
  if (!is_onnx_family(key.domain) || key.results.empty() ||
      std::holds_alternative<AliasEntry>(key.results[0]))
    return false;
  // Rows of the last two from before docs/adr/0099 were measured in place, even if their key has a
  // result of its own.
  return drifts(key) || key.op == "Trilu" || key.op == "TensorScatter";
}

}  // namespace oplat::ir
