// SPDX-License-Identifier: Apache-2.0
/// The worker of ONNX Runtime, as the registry knows it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "runtimes/protocol.hpp"

namespace oplat::runtimes {

/// The command that installs the runtime, for messages.
inline constexpr const char* kOnnxruntimeInstall =
    "scripts/setup, or: pip install onnxruntime==1.31.1";

/// Loads ONNX Runtime into this process. Code::Runtime where it is not installed, with the command
/// that installs it.
Result<std::unique_ptr<Worker>> create_onnxruntime(const std::vector<std::string>& arguments);

}  // namespace oplat::runtimes
