// SPDX-License-Identifier: Apache-2.0
/// Arrays of NumPy's .npy files (format versions 1 to 3), for --input NAME=FILE.npy.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "ir/dtype.hpp"

namespace oplat::runtimes::onnxruntime {

struct NpyArray {
  ir::Dtype dtype = ir::Dtype::F32;
  std::vector<std::int64_t> dims;
  std::string bytes;  ///< little-endian, C order
};

/// Code::Input naming `file` where it is not such an array, is stored in Fortran order, or holds
/// objects.
Result<NpyArray> parse_npy(std::string_view data, const std::string& file);

}  // namespace oplat::runtimes::onnxruntime
