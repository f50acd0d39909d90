// SPDX-License-Identifier: Apache-2.0
/// Inputs of a model whose values decide what is executed. Where nobody gives them, oplat makes
/// them up: legal, greatest where lengths are asked for, and said aloud.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "formats/onnx.hpp"
#include "ir/graph.hpp"
#include "ir/operand_values.hpp"

namespace oplat::formats {

/// An input that an operand with a rule (ir::operand_rule()) is made of.
struct DecisiveInput {
  std::string name;
  ir::ValueRole role = ir::ValueRole::Index;
  std::string op;      ///< operator that reads it, directly or behind others: "GRU"
  std::string node;    ///< its name; may be empty
  bool direct = true;  ///< as it is, or through casts and reshapes
  /// What it is filled with; std::nullopt: shapes that are not in the file decide.
  std::optional<ir::OperandFill> fill;
};

/// The decisive inputs among `inputs`, in their order: each once, by the operand that matters most.
std::vector<DecisiveInput> decisive_inputs(const std::vector<onnx::InputInfo>& inputs,
                                           const ir::Graph& graph);

/// Whether its value changes how much is executed; indices and divisors must only be legal.
bool decides_work(ir::ValueRole role);

/// "input 'n' (sequence lengths of GRU) was made up as 100; give its values with --input
/// n=FILE.npy"
std::string made_up_text(const DecisiveInput& input);

/// The text for each input that decides work and that `given` (--input) does not name, with the
/// shapes that the model fixes.
std::vector<std::string> made_up_texts(const std::vector<onnx::InputInfo>& inputs,
                                       const ir::Graph& graph,
                                       const std::map<std::string, std::string>& given);

/// Whether data that are `given` (--input) decide which bodies run and how often: those of all
/// inputs, or of all that decide work, a condition or a number of trips among them.
bool given_data_decide_bodies(const std::vector<onnx::InputInfo>& inputs, const ir::Graph& graph,
                              const std::map<std::string, std::string>& given);
/// The same of the model in `source`, under `shapes`; false of what is not an ONNX model.
bool given_data_decide_bodies(const base::Source& source, const ShapeOptions& shapes,
                              const std::map<std::string, std::string>& given);

/// made_up_texts() of the model in `source`, under `shapes`. For a file that is not an ONNX
/// model or cannot be read there are none: whoever runs it says what is wrong.
std::vector<std::string> made_up_texts(const base::Source& source, const ShapeOptions& shapes,
                                       const std::map<std::string, std::string>& given);

}  // namespace oplat::formats
