// SPDX-License-Identifier: Apache-2.0
/// PIR, the JSON of Paddle 3.
#include <cstdint>
#include <string>

#include "paddle_program.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  oplat::fuzz::check_program(oplat::base::Source::from_bytes(
      "fuzz.json", std::string(reinterpret_cast<const char*>(data), size)));
  return 0;
}
