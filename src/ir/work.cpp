// SPDX-License-Identifier: Apache-2.0
/// Bytes and floating-point operations of a kernel.
#include "ir/work.hpp"

#include <cmath>

#include "ir/catalogue.hpp"
#include "ir/operators/arguments.hpp"
#include "ir/parameters.hpp"

namespace oplat::ir {

std::optional<double> stored_bytes(const TensorEntry& tensor) {
  const auto elements = ops::extent(tensor.shape);
  const auto size = bits(tensor.dtype);
  if (!elements || !size) return std::nullopt;
  return std::ceil(*elements * *size / 8.0);
}

Work work(const Key& key, const Catalogue& catalogue) {
  return work(key, catalogue.find(key.domain, key.op));
}

Work work(const Key& key, const OperatorInfo* info) {
  Work work;
  const auto add = [&](double& sum, const TensorEntry* tensor) {
    const auto bytes = tensor == nullptr ? std::nullopt : stored_bytes(*tensor);
    if (bytes) {
      sum += *bytes;
    } else {
      work.complete = false;
    }
  };
  for (const Entry& entry : key.operands) {
    // "&i" is operand i once more, whose bytes are counted there.
    if (const auto* tensor = std::get_if<TensorEntry>(&entry)) {
      add(tensor->constant ? work.bytes_weights : work.bytes_in, tensor);
    }
  }
  work.bytes_weights += parameter_bytes(key.attributes);
  for (std::size_t i = 0; i < key.results.size(); ++i) {
    // A result written over an operand is written all the same.
    if (!std::holds_alternative<AbsentEntry>(key.results[i])) add(work.bytes_out, key.result(i));
  }
  if (info != nullptr) {
    if (info->flops != nullptr) work.flops = info->flops(key);
    if (info->scratch != nullptr) work.bytes_scratch = info->scratch(key).value_or(0);
  }
  return work;
}

}  // namespace oplat::ir
