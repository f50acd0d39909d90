// SPDX-License-Identifier: Apache-2.0
/// Products by their description, the rest by name.
#include "ir/reading.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "ir/catalogue.hpp"
#include "ir/description.hpp"
#include "ir/moved_work.hpp"

namespace oplat::ir {
namespace {

/// What does more operations for each byte that it reads computes while it waits.
constexpr double kOperationsPerByte = 4;

/// Copies of runs, besides what picks, and functions of single elements or of rows. Sorted.
constexpr std::array<std::string_view, 26> kAhead = {
    "BiasGelu", "Celu",      "Concat", "Cos",         "Elu", "Erf",        "Exp",
    "Expand",   "FastGelu",  "Gelu",   "HardSigmoid", "Log", "LogSoftmax", "Mish",
    "Pow",      "QuickGelu", "Selu",   "Sigmoid",     "Sin", "Softmax",    "Softplus",
    "Softsign", "Split",     "Swish",  "Tanh",        "Tile"};
static_assert(std::is_sorted(kAhead.begin(), kAhead.end()));

}  // namespace

Reading reading_of(const Key& key, const Catalogue& catalogue) {
  const OperatorInfo* info = catalogue.find(key.domain, key.op);
  if (picks(key.op) || (info != nullptr && info->moves_little) ||
      std::binary_search(kAhead.begin(), kAhead.end(), key.op))
    return Reading::Ahead;
  const auto description = describe(key, catalogue, {});
  if (!description) return Reading::Waits;
  const bool computes =
      description->contraction ||
      description->work.flops.value_or(0) > kOperationsPerByte * description->work.bytes_in;
  return computes ? Reading::Computes : Reading::Waits;
}

}  // namespace oplat::ir
