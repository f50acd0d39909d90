// SPDX-License-Identifier: Apache-2.0
/// MMT's operator spaces (ops.yaml): packages, their classes, and candidates for each argument of a
/// class's constructor.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "compat/mmt/pickle.hpp"

namespace oplat::compat::mmt {

struct SpaceOperator {
  std::string package;     ///< to be imported: torch.nn
  std::string class_name;  ///< Conv2d
  Attributes parameters;   ///< name -> value in the file's order; null: a constructor without any
  std::vector<std::int64_t> input_shape;
  int line = 0;  ///< of the class in the file
};

/// "torch.nn.Conv2d(in_channels=3,stride=[2,1]) [1,3,224,224]"
std::string text_of(const SpaceOperator& one);

struct ExpandedSpace {
  std::vector<SpaceOperator> operators;  ///< in MMT's order: the last argument changes fastest
  std::vector<std::string> left_out;     ///< what MMT skips, with line and reason
};

/// Whether a YAML file is a space of MMT rather than one of oplat, which begins with its format.
bool is_space(std::string_view name, std::string_view bytes);

/// All operators of a space: every combination of candidates, where input_shape goes by index with
/// the first argument. Code::Input names file, line and what is wrong, also where MMT crashed or
/// skipped in silence: lists of input_shape and the first argument that differ in length, a class
/// without candidates, candidates that are not in a list, more than 100,000 operators.
Result<ExpandedSpace> expand_space(std::string_view name, std::string_view bytes);

}  // namespace oplat::compat::mmt
