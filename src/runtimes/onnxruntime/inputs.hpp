// SPDX-License-Identifier: Apache-2.0
/// What the inputs of models and kernel models are filled with.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "formats/made_up_inputs.hpp"
#include "formats/onnx.hpp"
#include "runtimes/onnxruntime/session.hpp"

namespace oplat::runtimes::onnxruntime {

/// Data for each input of a model. `specifications`: NAME -> FILE.npy | zeros | ones |
/// uniform:LO:HI. Without one, inputs that decide something (`decisive`) get the values that suit
/// it; other floats are uniform in [-1, 1], other integers 0 or 1.
Result<std::vector<InputData>> model_inputs(
    const std::vector<formats::onnx::InputInfo>& inputs,
    const std::vector<formats::DecisiveInput>& decisive,
    const std::map<std::string, std::string>& specifications, std::uint64_t seed);

Result<std::vector<InputData>> kernel_inputs(const std::vector<formats::onnx::KernelInput>& inputs,
                                             std::uint64_t seed);

}  // namespace oplat::runtimes::onnxruntime
