// SPDX-License-Identifier: Apache-2.0
/// Writes kernel models for bench/breadth.py: reads keys from standard input, one a line, and
/// writes FOLDER/I.onnx for key I, three copies whose results are read. Prints a line a key: the
/// wiring, or "-" and why nothing was written.
#include <fmt/format.h>

#include <iostream>
#include <string>

#include "base/files.hpp"
#include "formats/onnx.hpp"

int main(int argc, char** argv) {
  using namespace oplat;
  if (argc != 2) {
    fmt::print(stderr, "usage: kernel_models FOLDER <KEYS\n");
    return 2;
  }
  std::string line;
  for (int i = 0; std::getline(std::cin, line); ++i) {
    const auto key = ir::parse(line);
    formats::onnx::KernelModelOptions options;
    options.copies = 3;
    options.consume_results = true;
    const auto model = key ? formats::onnx::write_kernel_model(*key, options)
                           : Result<formats::onnx::KernelModel>(tl::unexpected(key.error()));
    if (!model) {
      fmt::print("- {}\n", model.error().message);
      continue;
    }
    if (!base::write_file(fmt::format("{}/{}.onnx", argv[1], i), model->bytes)) return 8;
    fmt::print("{}\n", model->wiring == formats::onnx::Wiring::Chain ? "chain" : "fan");
  }
  return 0;
}
