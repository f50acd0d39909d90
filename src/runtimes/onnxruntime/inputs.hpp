// SPDX-License-Identifier: Apache-2.0
/// What the inputs of models and kernel models are filled with.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "formats/made_up_inputs.hpp"
#include "formats/onnx.hpp"
#include "runtimes/onnxruntime/session.hpp"

namespace oplat::runtimes::onnxruntime {

/// Whether this specification of an input names a file.
bool is_data_file(std::string_view specification);

/// Data for each input of a model. `specifications`: NAME -> FILE.npy | zeros | ones |
/// uniform:LO:HI. Without one, inputs that decide something (`decisive`) get the values that suit
/// it; other floats are uniform in [-1, 1], other integers 0 or 1.
Result<std::vector<InputData>> model_inputs(
    const std::vector<formats::onnx::InputInfo>& inputs,
    const std::vector<formats::DecisiveInput>& decisive,
    const std::map<std::string, std::string>& specifications, std::uint64_t seed);

Result<std::vector<InputData>> kernel_inputs(const std::vector<formats::onnx::KernelInput>& inputs,
                                             std::uint64_t seed);

inline constexpr std::size_t kMaxFurtherInputs = 31;
/// Data from a seed, for one set of inputs.
using InputMaker = std::function<Result<std::vector<InputData>>(std::uint64_t seed)>;

/// Gives a session that has run once further sets of inputs, up to `most`, so that no run has the
/// data of the one before (ir::is_quicker_on_repeated_data). All sets together hold 4 MiB or less;
/// one further set is made of up to 128 MiB. Each runs once, for 0.1 s together. Ends where the
/// data are the same for every seed, since the user gave them, and where a run fails or `is_good`,
/// asked after each, says no. Returns how many runs that were.
std::size_t vary_inputs(Session& session, const InputMaker& make, std::uint64_t seed,
                        std::size_t most = kMaxFurtherInputs,
                        const std::function<bool()>& is_good = {});

}  // namespace oplat::runtimes::onnxruntime
