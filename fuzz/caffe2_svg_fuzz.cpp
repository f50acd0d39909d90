// SPDX-License-Identifier: Apache-2.0
/// Drawings of Caffe2 nets: every shape that comes out is one that a tensor may have.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "formats/caffe2/net.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto drawing =
      oplat::formats::caffe2::read_drawing("fuzz", {reinterpret_cast<const char*>(data), size});
  if (!drawing) {
    if (drawing.error().code != oplat::Code::Input || drawing.error().message.empty()) std::abort();
    return 0;
  }
  for (const auto& [blob, dims] : *drawing) {
    if (blob.second < 0 || dims.empty() || !oplat::ir::Shape::of(dims).elements()) std::abort();
  }
  return 0;
}
