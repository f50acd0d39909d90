// SPDX-License-Identifier: Apache-2.0
/// What `oplat tinynas bench` writes: models of samples, and a script that measures them with
/// TensorRT.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "base/result.hpp"

namespace oplat::compat::tinynas {

struct BenchRequest {
  std::string samples;             ///< path of a list of convolutions
  std::string folder;              ///< to write into; made if missing
  std::string precision = "FP32";  ///< one that trtexec_flags() knows
};

struct BenchModels {
  std::size_t count = 0;
  std::filesystem::path folder;  ///< that holds them
};

/// Writes models/sample-N.onnx, samples.txt and run.sh. Code::Usage: the precision; Code::Input:
/// the list; Code::Refused: the folder holds times of other samples or another precision;
/// Code::Write: no room, or a file could not be written. A failure leaves no script that runs new
/// models under the names of old ones.
Result<BenchModels> write_bench(const BenchRequest& request);

}  // namespace oplat::compat::tinynas
