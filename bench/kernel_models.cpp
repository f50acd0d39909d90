// SPDX-License-Identifier: Apache-2.0
/// Writes kernel models for bench/breadth.py: reads keys from standard input, one a line, and
/// writes FOLDER/I.onnx for key I, three copies whose results are read. Prints a line a key: "-"
/// and why nothing was written, or the wiring and the inputs whose values decide, as in
/// "fan x1:i64[3]". Their values are in FOLDER/I.x1.bin.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iostream>
#include <string>

#include "base/files.hpp"
#include "formats/onnx.hpp"
#include "formats/random_data.hpp"

namespace {

using namespace oplat;

Status write_values(const std::string& stem, const formats::onnx::KernelInput& input) {
  std::int64_t count = 1;
  for (const std::int64_t dim : input.dims) count *= dim;
  const formats::DataRange range = formats::operand_range(input.signs);
  return base::write_file(fmt::format("{}.{}.bin", stem, input.name),
                          formats::filled_data(input.dtype, count, *input.fill, range, 1));
}

/// The line of one key.
Result<std::string> write_model(const std::string& stem, std::string_view text) {
  OPLAT_TRY(key, ir::parse(text));
  formats::onnx::KernelModelOptions options;
  options.copies = 3;
  options.consume_results = true;
  OPLAT_TRY(model, formats::onnx::write_kernel_model(key, options));
  OPLAT_CHECK(base::write_file(stem + ".onnx", model.bytes));
  std::string line = model.wiring == formats::onnx::Wiring::Chain ? "chain" : "fan";
  for (const formats::onnx::KernelInput& input : model.inputs) {
    if (!input.fill) continue;
    OPLAT_CHECK(write_values(stem, input));
    line +=
        fmt::format(" {}:{}[{}]", input.name, ir::name(input.dtype), fmt::join(input.dims, ","));
  }
  return line;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: kernel_models FOLDER <KEYS\n");
    return 2;
  }
  std::string key;
  for (int i = 0; std::getline(std::cin, key); ++i) {
    const auto line = write_model(fmt::format("{}/{}", argv[1], i), key);
    if (!line && line.error().code == Code::Write) return 8;
    fmt::print("{}\n", line ? *line : "- " + line.error().message);
  }
  return 0;
}
