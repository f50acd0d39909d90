// SPDX-License-Identifier: Apache-2.0
/// Where the shared library of ONNX Runtime stands.
#pragma once

#include <filesystem>

#include "base/result.hpp"

namespace oplat::runtimes::onnxruntime {

/// $OPLAT_ONNXRUNTIME (a file), else the wheel next to oplat's own if that is how it was installed,
/// in $VIRTUAL_ENV, in a .venv of a folder above the executable or of the current folder, else what
/// the system's loader finds. Code::Runtime with the command that installs it.
Result<std::filesystem::path> find_library();

}  // namespace oplat::runtimes::onnxruntime
