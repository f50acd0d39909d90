// SPDX-License-Identifier: Apache-2.0
/// Entry points with libFuzzer's signature, one per reader.
#pragma once

#include <cstddef>
#include <cstdint>

/// Reads `data` as an ONNX model by every public way; returns 0. Anything but a return is a defect
/// of the reader.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
