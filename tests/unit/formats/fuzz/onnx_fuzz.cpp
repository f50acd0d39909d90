// SPDX-License-Identifier: Apache-2.0
/// The ONNX reader under arbitrary bytes.
#include "unit/formats/fuzz/onnx_fuzz.hpp"

#include <string>

#include "formats/format_reader.hpp"
#include "formats/onnx.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace formats = oplat::formats;
  const auto source = oplat::base::Source::from_bytes(
      "fuzz", std::string(reinterpret_cast<const char*>(data), size));
  (void)formats::reader_for(source);
  (void)formats::onnx::reader().siblings(source);
  auto model = formats::onnx::Model::load(source);
  if (!model) return 0;
  (void)model->graph();
  (void)model->inputs();
  (void)model->specialise({.shapes = {{"x", {2, 4}}}, .batch = 2});
  model->name_nodes();
  (void)model->graph();
  (void)model->bytes();
  return 0;
}
