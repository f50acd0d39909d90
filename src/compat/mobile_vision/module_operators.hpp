// SPDX-License-Identifier: Apache-2.0
/// The operators of module queries: their names, what their constructors take, and how arguments
/// are read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compat/mobile_vision/module_query.hpp"

namespace oplat::compat::mobile_vision::modules {

using Dims = std::vector<std::int64_t>;

enum class Kind : std::uint8_t {
  Conv,
  ConvTranspose,
  Linear,
  AdaptiveAvgPool,
  AvgPool,
  MaxPool,
  MatMul,
  Attention
};

struct Operator {
  std::string name;
  Kind kind = Kind::Conv;
  std::size_t axes = 0;  ///< of the map
};

/// Code::Input lists those that there are.
Result<const Operator*> operator_of(std::string_view name);

/// What a constructor takes.
struct Parameter {
  std::string_view name;
  bool axis = false;                      ///< one number an axis; a single one stands for all
  std::optional<std::int64_t> otherwise;  ///< nothing: it has to be given
  std::int64_t least = 0;
};
/// By name.
std::vector<Parameter> parameters_of(Kind kind);

/// Number of elements. Code::Input if 63 bits do not hold it.
Result<std::int64_t> product(const Dims& dims);

const ir::Value* find(const std::vector<ir::NamedValue>& args, std::string_view name);
/// An argument of a canonical query: there, and a number or one number an axis.
std::int64_t one(const ModuleQuery& query, std::string_view name);
Dims many(const ModuleQuery& query, std::string_view name);

}  // namespace oplat::compat::mobile_vision::modules
