// SPDX-License-Identifier: Apache-2.0
/// How blocks are made of convolutions: what both rules and the writer of models share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compat/tinynas/op_profiler.hpp"

namespace oplat::compat::tinynas {

/// One step of an inner block's main path: a convolution, or a squeeze and excitation of `in`
/// channels.
struct Step {
  std::string_view name;  ///< "conv1", "se"
  std::int64_t in = 0;
  std::int64_t out = 0;
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t group = 1;
  std::int64_t padding = 0;
  bool squeeze_excite = false;
};

struct InnerBlock {
  std::string name;  ///< "block1.2", "block0" for a single convolution
  const Block* block = nullptr;
  std::int64_t in = 0;
  std::int64_t out = 0;
  std::int64_t stride = 1;
  bool residual = false;    ///< the network adds its input, pooled by the stride
  bool projection = false;  ///< through a 1x1 convolution
  std::vector<Step> steps;
};

std::vector<InnerBlock> inner_blocks(const Block& block);

/// Channels between the two convolutions of a squeeze and excitation, as Python rounds: max(1,
/// round(0.25 c) // 8) * 8.
std::int64_t squeeze_width(std::int64_t channels);

/// "FILE:4: block 3 (SuperResK1KX)", the start of a message.
std::string block_place(const Structure& structure, const Block& block);

/// A convolution within an executed inner block, with what its tuple does not say.
struct ExecutedConv {
  ConvTuple conv;
  std::int64_t padding = 0;
};

struct ExecutedStep {
  std::string name;  ///< "block1.2.conv1"
  bool squeeze_excite = false;
  std::vector<ExecutedConv> convs;  ///< two of a squeeze and excitation, else one
};

/// An inner block as the network executes it on one image.
struct ExecutedBlock {
  InnerBlock inner;
  std::int64_t in_size = 0;
  std::int64_t out_size = 0;
  std::vector<ExecutedStep> steps;
  std::optional<ExecutedConv> projection;
};

/// The network as it runs: the corrected rules. Code::Input names the block that no runtime could
/// execute.
Result<std::vector<ExecutedBlock>> execute(const Structure& structure, std::int64_t resolution);

/// The original's count (Rules::Original).
Result<std::vector<NamedConv>> original_convolutions(const Structure& structure,
                                                     std::int64_t resolution);

}  // namespace oplat::compat::tinynas
