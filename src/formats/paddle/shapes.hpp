// SPDX-License-Identifier: Apache-2.0
/// Operators of Paddle's programs: shapes of their results, and the few integers that shapes are
/// computed from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "ir/key.hpp"

namespace oplat::formats::paddle {

/// Domain of the nodes that formats/paddle makes.
inline constexpr std::string_view kPaddleDomain = "paddle";

/// What shape inference knows of a tensor.
struct PaddleTensor {
  std::vector<std::int64_t> dims;
  /// of few integers that do not depend on the model's input data
  std::optional<std::vector<std::int64_t>> values;
};

/// Tensors by the name of their parameter.
using PaddleSlots = std::map<std::string, std::vector<PaddleTensor>, std::less<>>;

struct PaddleCall {
  std::string_view op;
  std::span<const ir::NamedValue> attributes;
  PaddleSlots operands;
  std::map<std::string, std::size_t, std::less<>> results;  ///< how many tensors each slot has
};

/// Results by slot; those that nobody computes with (XShape, saved statistics) are left out.
/// Code::Input if operands and attributes contradict each other, Code::Missing if the sizes
/// depend on data that is not known.
Result<PaddleSlots> infer_paddle(const PaddleCall& call);

}  // namespace oplat::formats::paddle
