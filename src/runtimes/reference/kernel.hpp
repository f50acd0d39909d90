// SPDX-License-Identifier: Apache-2.0
/// A kernel of plain loops made from a key.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "ir/key.hpp"
#include "runtimes/reference/loops.hpp"
#include "table/records.hpp"

namespace oplat::runtimes::reference {

/// What one call needs: per operand of the key a buffer (empty where missing or of no data), and
/// one for the result.
struct Kernel {
  std::vector<std::int64_t>
      operand_elements;  ///< per operand; 0: missing, or an integer the loops took from the key
  std::vector<bool> constant;                ///< per operand: a weight
  std::vector<std::optional<float>> values;  ///< per operand: every element, where the key says so
  std::vector<std::size_t>
      source;  ///< per operand: the operand whose tensor it is, itself unless "&i"
  std::int64_t result_elements = 0;
  std::optional<std::size_t>
      chained;  ///< the first operand that is not a constant, if the result has its shape
  std::function<void(const std::vector<Floats>&, FloatsOut)> call;
};
using Built = std::variant<Kernel, table::Unsupported, table::Failed>;

/// Unsupported: names the operator or what of it the loops lack. Failed: a key that contradicts
/// itself.
Built build(const ir::Key& key);

}  // namespace oplat::runtimes::reference
