// SPDX-License-Identifier: Apache-2.0
/// PIR, the programs of Paddle 3, on their way to the words of ProgramDesc.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/paddle/program.hpp"

namespace oplat::formats::paddle {

/// A value's type: a tensor, or a list of tensors.
struct PirType {
  bool list = false;
  std::vector<Variable> tensors;  ///< one, unless it is a list
};

struct PirResult {
  std::int64_t id = 0;  ///< 0: none
  PirType type;
};

struct PirOperator {
  std::string dialect;                 ///< "builtin", "pd_op", "cf", ...
  std::string name;                    ///< within it
  std::vector<std::int64_t> operands;  ///< 0: none
  std::vector<PirResult> results;
  std::vector<ir::NamedValue> attributes;
  bool has_regions = false;
  /// of a parameter: it persists, so that its value is in the parameters' file
  bool stored = true;
};

/// How an operator of PIR is called in ProgramDesc. Texts are lists parted by commas, in PIR's
/// order:
///   operands    "X", or "@shape/Shape/ShapeTensor": an attribute where it is constant, else a
///   tensor, or a list of them;
///               "-" is not taken over
///   results     "Out"; what stands behind the last is not taken over
///   attributes  "transpose_x>trans_x" is renamed, "+axis=-1" is added
struct PirName {
  std::string_view pir;
  std::string_view op;
  std::string_view operands;
  std::string_view results;
  std::string_view attributes;
};

/// nullptr if it is called the same and nothing more is known.
const PirName* find_pir_name(std::string_view pir);

/// The operators in order. `where` is the file's name.
Result<Program> translate(const std::string& file, const std::vector<PirOperator>& operators);

}  // namespace oplat::formats::paddle
