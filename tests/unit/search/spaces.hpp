// SPDX-License-Identifier: Apache-2.0
/// Small search spaces for tests.
#pragma once

#include <stdexcept>
#include <string>

#include "compat/registry.hpp"
#include "search/search_space.hpp"

namespace oplat::test {

inline Result<search::SearchSpace> try_space(const std::string& yaml) {
  return search::read_space(base::Source::from_bytes("s.yaml", yaml), compat::block_families());
}
inline search::SearchSpace space_of(const std::string& yaml) {
  auto space = try_space(yaml);
  if (!space) throw std::runtime_error(space.error().message);
  return std::move(*space);
}

/// A stem, two layers with a choice of three and a head, at 8x8.
inline constexpr const char* kSmallSpace =
    "format: oplat.space/1\n"
    "name: small\n"
    "family: caffe2-int8\n"
    "resolutions: 8\n"
    "blocks:\n"
    "  wide: {kind: inverted_residual, kernel: 3, expansion: 2}\n"
    "  grouped: {kind: inverted_residual, kernel: 5, group: 2, depthwise_relu: true}\n"
    "  skip: {kind: skip}\n"
    "layers:\n"
    "  - {name: image, block: {kind: input}}\n"
    "  - {name: stem, block: {kind: conv, kernel: 3}, channels: 4, stride: 2}\n"
    "  - {name: one, choices: all, channels: 8, stride: 2}\n"
    "  - {name: two, choices: all}\n"
    "  - {name: pool, block: {kind: average_pool}}\n"
    "  - {name: classes, block: {kind: fully_connected}, channels: 10}\n"
    "  - {name: softmax, block: {kind: output}}\n";

/// The first occurrence of `what` in `text` replaced.
inline std::string with(std::string text, const std::string& what, const std::string& by) {
  const std::size_t at = text.find(what);
  if (at == std::string::npos) throw std::runtime_error("no " + what);
  return text.replace(at, what.size(), by);
}

}  // namespace oplat::test
