// SPDX-License-Identifier: Apache-2.0
/// Models of MNN.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "formats/mnn.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto source = oplat::base::Source::from_bytes(
      "fuzz.mnn", std::string(reinterpret_cast<const char*>(data), size));
  const oplat::formats::FormatReader& reader = oplat::formats::mnn::reader();
  const bool is_model = reader.probe(source.bytes()) > 0;
  // What was taken for a model has inputs that can be asked for.
  if (reader.resolve(source, {}).has_value() != is_model) std::abort();
  oplat::formats::ShapeOptions options;
  options.batch = 2;
  options.shapes["x0"] = {2, 3, 16, 16};
  static_cast<void>(reader.resolve(source, options));
  static_cast<void>(reader.siblings(source));
  return 0;
}
