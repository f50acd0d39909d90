// SPDX-License-Identifier: Apache-2.0
/// Runs a fuzz target over its corpus without libFuzzer: each file as it is, and damaged in many
/// ways, always the same.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/random.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

constexpr int kDamages = 200;

void feed(const std::string& bytes) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

/// One to four small damages: a byte changed, taken out or put in, the end cut off, a piece
/// repeated.
std::string damaged(std::string bytes, oplat::base::Random& random) {
  constexpr std::string_view kTelling("{}()[],:'\"\\\n\r\t -+.0123456789eExXnN\0\x80\xff", 37);
  const auto at = [&](std::size_t end) { return static_cast<std::size_t>(random.below(end)); };
  for (std::uint64_t left = 1 + random.below(4); left > 0; --left) {
    const char c =
        random.below(2) == 0 ? kTelling[at(kTelling.size())] : static_cast<char>(random.below(256));
    switch (bytes.empty() ? 1 : random.below(5)) {
      case 0:
        bytes[at(bytes.size())] = c;
        break;
      case 1:
        bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(at(bytes.size() + 1)), c);
        break;
      case 2:
        bytes.erase(at(bytes.size()), 1);
        break;
      case 3:
        bytes.resize(at(bytes.size()));
        break;
      default: {
        const std::size_t start = at(bytes.size());
        bytes.insert(at(bytes.size()), bytes.substr(start, 1 + at(64)));
      }
    }
  }
  return bytes;
}

}  // namespace

int main(int argc, char** argv) {
  namespace fs = std::filesystem;
  std::vector<fs::path> files;
  for (int i = 1; i < argc; ++i) {
    if (fs::is_directory(argv[i])) {
      for (const auto& entry : fs::directory_iterator(argv[i])) files.push_back(entry.path());
    } else {
      files.emplace_back(argv[i]);
    }
  }
  std::sort(files.begin(), files.end());
  if (files.empty()) {
    fmt::print(stderr, "no corpus: name files or folders\n");
    return 1;
  }
  feed("");
  for (const fs::path& file : files) {
    const auto bytes = oplat::base::read_file(file);
    if (!bytes) {
      fmt::print(stderr, "{}\n", bytes.error().message);
      return 1;
    }
    feed(*bytes);
    oplat::base::Random random(bytes->size());
    for (int i = 0; i < kDamages; ++i) feed(damaged(*bytes, random));
  }
  fmt::print("{} files, each in {} forms\n", files.size(), kDamages + 1);
  return 0;
}
