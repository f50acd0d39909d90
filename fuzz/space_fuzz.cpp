// SPDX-License-Identifier: Apache-2.0
/// Search spaces: read or refused, and what was read expands or is refused.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "compat/registry.hpp"
#include "search/expansion.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kMaxLayers = 64;
  constexpr std::int64_t kMaxResolution = 4096;
  const auto source = oplat::base::Source::from_bytes(
      "fuzz", std::string(reinterpret_cast<const char*>(data), size));
  const auto space = oplat::search::read_space(source, oplat::compat::block_families());
  if (!space) {
    if (space.error().code != oplat::Code::Input) std::abort();
    return 0;
  }
  if (space->layers.size() > kMaxLayers || space->resolutions.front() > kMaxResolution) return 0;
  const auto expansion = oplat::search::expand(*space, space->resolutions.front());
  if (!expansion) {
    if (expansion.error().code != oplat::Code::Input) std::abort();
    return 0;
  }
  if (expansion->layers.size() != space->layers.size()) std::abort();
  for (const auto& layer : expansion->layers) {
    if (layer.cells.empty()) std::abort();
    for (const auto& cell : layer.cells) {
      for (const std::size_t kernel : cell.kernels) {
        if (kernel >= expansion->keys.size()) std::abort();
      }
    }
  }
  return 0;
}
