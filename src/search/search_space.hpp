// SPDX-License-Identifier: Apache-2.0
/// SearchSpace: networks that differ in the blocks of their layers, as a YAML file describes them
/// (docs/guide/searching.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"
#include "search/family.hpp"

namespace oplat::search {

enum class BlockKind : std::uint8_t {
  Input,             ///< what the family does to an image first: layout and quantisation
  Conv,              ///< kernel x kernel
  InvertedResidual,  ///< 1x1 to expansion x channels, depthwise kernel x kernel, 1x1 back; the sum
                     ///< where shapes allow
  Skip,              ///< nothing, where stride is 1 and channels stay; else see Block::projection
  AveragePool,
  FullyConnected,
  Output,  ///< what the family does to the last layer: softmax and the way back to floats
};
/// "input", "conv", "inverted_residual", "skip", "average_pool", "fully_connected", "output".
std::string_view name(BlockKind kind);

struct Block {
  std::string name;
  BlockKind kind = BlockKind::Conv;
  std::optional<std::int64_t>
      kernel;  ///< odd where the block convolves; nothing (pool): the whole map
  std::int64_t expansion = 1;
  std::int64_t group = 1;       ///< of Conv, and of the two 1x1 of InvertedResidual
  bool shuffle = false;         ///< channels between the first 1x1 and the depthwise kernel
  bool relu = true;             ///< of Conv, and of InvertedResidual's first 1x1
  bool depthwise_relu = false;  ///< of InvertedResidual's depthwise kernel
  bool residual = true;         ///< of InvertedResidual: whether there is a sum at all
  bool projection = false;  ///< of Skip: a 1x1 convolution where nothing is not possible; else no
                            ///< such choice there
  friend bool operator==(const Block&, const Block&) = default;
};

struct Layer {
  std::string name;
  /// How many channels it can put out; empty: as many as come in.
  std::vector<std::int64_t> channels;
  /// A further layer of a stage: of the stage's choices of channels it has the one that its input
  /// has.
  bool as_input = false;
  std::int64_t stride = 1;
  std::vector<std::size_t> choices;  ///< in SearchSpace::blocks
  bool searched = false;             ///< `choices:`; else `block:`, a part of every network
  friend bool operator==(const Layer&, const Layer&) = default;
};

struct SearchSpace {
  std::string name;
  std::string file;                ///< for messages
  const Family* family = nullptr;  ///< never nullptr in a space that was read
  std::int64_t batch = 1;
  std::int64_t channels = 3;  ///< of the image
  std::vector<std::int64_t> resolutions;
  std::vector<Block> blocks;
  std::vector<Layer> layers;
};

inline constexpr std::int64_t kMaxResolution = 16'384;

/// Code::Input names file, line, what was found and what was expected. Bounds: 1000 layers, 256
/// blocks, 32 choices of channels a layer, 64 resolutions of at most kMaxResolution, 1,048,576
/// channels.
/// `families`: those that `family:` may name (compat::block_families()); they must outlive the
/// space.
Result<SearchSpace> read_space(const base::Source& source, std::span<const Family* const> families);

}  // namespace oplat::search
