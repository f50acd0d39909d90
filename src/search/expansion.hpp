// SPDX-License-Identifier: Apache-2.0
/// A search space as kernels: layer by layer, choice by choice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "search/search_space.hpp"

namespace oplat::search {

/// One block at one place, with one choice of channels on either side.
struct Cell {
  std::size_t choice = 0;  ///< in Layer::choices
  std::size_t in = 0;      ///< in ExpandedLayer::in_channels
  std::size_t out = 0;     ///< in ExpandedLayer::out_channels
  /// in Expansion::keys, in order of execution; none: the block is nothing
  std::vector<std::size_t> kernels;
};

struct ExpandedLayer {
  std::int64_t size = 0;                   ///< height and width of what comes in
  std::vector<std::int64_t> in_channels;   ///< that can come in
  std::vector<std::int64_t> out_channels;  ///< that can go out
  std::vector<Cell> cells;                 ///< those that exist
};

struct Expansion {
  std::int64_t resolution = 0;
  std::vector<std::string> keys;      ///< distinct kernels, printed, in order of first use
  std::vector<ExpandedLayer> layers;  ///< parallel to SearchSpace::layers
};

/// Code::Input names layer and block where shapes do not go together (channels that are not
/// multiple of the groups, a convolution after the fully connected layer), and a space of more than
/// 100,000 blocks.
Result<Expansion> expand(const SearchSpace& space, std::int64_t resolution);

/// Distinct kernels of the space at these resolutions, in order of first use: what `oplat profile
/// --keys` measures.
Result<std::vector<std::string>> keys_of(const SearchSpace& space,
                                         std::span<const std::int64_t> resolutions);

}  // namespace oplat::search
