// SPDX-License-Identifier: Apache-2.0
/// Programs to graphs: order, producers, shapes.
#pragma once

#include <string>
#include <vector>

#include "formats/paddle/program.hpp"
#include "ir/graph.hpp"

namespace oplat::formats::paddle {

/// What a program is fed with.
struct Input {
  std::string name;
  Dims declared;  ///< -1 where open
  Dims dims;      ///< of this question
};

/// Inputs in the program's order, open dimensions fixed as the options say. Code::Usage if they
/// do not, or contradict.
Result<std::vector<Input>> inputs_of(const std::string& file, const Program& program,
                                     const ShapeOptions& options);
/// Code::Input names the operator, the variable and the way out.
Result<ir::Graph> build(const std::string& file, const Program& program,
                        const std::vector<Input>& inputs);

}  // namespace oplat::formats::paddle
