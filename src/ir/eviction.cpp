// SPDX-License-Identifier: Apache-2.0
/// Weights, else operands.
#include "oplat/ir/eviction.hpp"

namespace oplat::ir {
namespace {

/// Less is read from the last level within 2 us.
constexpr double kLeastEvictedBytes = 64 * 1024;

double operand_bytes(const Work& work) {
  const double read = work.bytes_in - work.bytes_overwritten;
  return read + (work.bytes_overwritten > 0 ? 0 : work.bytes_out);
}

}  // namespace

Evicted evicted_of(const Work& work) {
  if (work.bytes_weights >= kLeastEvictedBytes) return Evicted::Weights;
  return operand_bytes(work) >= kLeastEvictedBytes ? Evicted::Operands : Evicted::Nothing;
}

double evicted_bytes(const Work& work) {
  switch (evicted_of(work)) {
    case Evicted::Nothing: return 0;
    case Evicted::Weights: return work.bytes_weights;
    case Evicted::Operands: return operand_bytes(work);
  }
  return 0;
}

}  // namespace oplat::ir
