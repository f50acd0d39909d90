// SPDX-License-Identifier: Apache-2.0
/// What the inputs of models and kernel models are filled with.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "formats/onnx.hpp"
#include "ir/graph.hpp"
#include "runtimes/onnxruntime/session.hpp"

namespace oplat::runtimes::onnxruntime {

/// Data for each input of a model. `specifications`: NAME -> FILE.npy | zeros | ones |
/// uniform:LO:HI. Without one, floats are uniform in [-1, 1]; integers are indices in range of the
/// operator that reads them, else 0 or 1.
Result<std::vector<InputData>> model_inputs(
    const std::vector<formats::onnx::InputInfo>& inputs, const ir::Graph& graph,
    const std::map<std::string, std::string>& specifications, std::uint64_t seed);

Result<std::vector<InputData>> kernel_inputs(const std::vector<formats::onnx::KernelInput>& inputs,
                                             std::uint64_t seed);

}  // namespace oplat::runtimes::onnxruntime
