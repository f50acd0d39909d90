// SPDX-License-Identifier: Apache-2.0
/// Layers, choices and channels to kernels.
#include "search/expansion.hpp"

#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "ir/key.hpp"
#include "search/family.hpp"

namespace oplat::search {
namespace {

constexpr std::size_t kMaxCells = 100'000;

/// Whether a layer puts out the choice of channels that came in.
bool keeps(const Layer& layer) { return layer.channels.empty() || layer.as_input; }

/// At most as many blocks exist: counted before any is made.
std::size_t count_cells(const SearchSpace& space) {
  std::size_t all = 0;
  std::size_t in = 1;
  for (const Layer& layer : space.layers) {
    const std::size_t out = layer.channels.empty() ? in : layer.channels.size();
    all += layer.choices.size() * in * (keeps(layer) ? 1 : out);
    in = out;
  }
  return all;
}

/// A block between so many channels; std::nullopt if there is no such choice.
using Steps = std::optional<Operators>;

Status divides(std::int64_t group, std::int64_t channels) {
  if (channels % group == 0) return {};
  return fail(Code::Input, "{} channels are not a multiple of {} groups", channels, group);
}

Result<Steps> conv(const Block& block, std::int64_t out, std::int64_t stride, Operators steps) {
  OPLAT_CHECK(divides(block.group, steps.tensor().channels));
  OPLAT_CHECK(divides(block.group, out));
  steps.conv({out, *block.kernel, stride, block.group, block.relu});
  return Steps(std::move(steps));
}

Result<Steps> inverted_residual(const Block& block, std::int64_t out, std::int64_t stride,
                                Operators steps) {
  const std::int64_t in = steps.tensor().channels;
  const std::int64_t inner = in * block.expansion;
  for (const std::int64_t channels : {in, inner, out}) OPLAT_CHECK(divides(block.group, channels));
  steps.conv({inner, 1, 1, block.group, block.relu});
  if (block.shuffle) steps.channel_shuffle(block.group);
  steps.conv({inner, *block.kernel, stride, inner, block.depthwise_relu});
  steps.conv({out, 1, 1, block.group, false});
  if (block.residual && stride == 1 && in == out) steps.sum();
  return Steps(std::move(steps));
}

Result<Steps> skip(const Block& block, std::int64_t out, std::int64_t stride, Operators steps) {
  if (stride == 1 && steps.tensor().channels == out) return Steps(std::move(steps));
  if (!block.projection) return Steps();
  steps.conv({out, 1, stride, 1, true});
  return Steps(std::move(steps));
}

/// Blocks that leave the channels as they are exist for that choice of them only.
Result<Steps> keeping(std::int64_t out, const Operators& steps) {
  if (steps.tensor().channels == out) return Steps(steps);
  return fail(Code::Input, "it has as many output as input channels ({}), not {}; omit 'channels'",
              steps.tensor().channels, out);
}

Result<Steps> steps_of(const Block& block, std::int64_t out, std::int64_t stride,
                       const Operators& start) {
  const Tensor& tensor = start.tensor();
  if (tensor.flat && block.kind != BlockKind::FullyConnected && block.kind != BlockKind::Output &&
      block.kind != BlockKind::Skip) {
    return fail(Code::Input, "it follows a fully connected layer, which has no feature map");
  }
  const bool strides = block.kind != BlockKind::Input && block.kind != BlockKind::FullyConnected &&
                       block.kind != BlockKind::Output;
  if (!strides && stride != 1)
    return fail(Code::Input, "it does not support a stride, found {}; omit 'stride'", stride);
  switch (block.kind) {
    case BlockKind::Conv:
      return conv(block, out, stride, start);
    case BlockKind::InvertedResidual:
      return inverted_residual(block, out, stride, start);
    case BlockKind::Skip:
      return skip(block, out, stride, start);
    case BlockKind::FullyConnected: {
      Steps steps = start;
      steps->fully_connected(out);
      return steps;
    }
    case BlockKind::AveragePool: {
      OPLAT_TRY(steps, keeping(out, start));
      const std::int64_t kernel = block.kernel.value_or(tensor.size);
      if (kernel > tensor.size)
        return fail(Code::Input, "a window of {0}x{0} does not fit a map of {1}x{1}", kernel,
                    tensor.size);
      steps->average_pool(kernel, stride);
      return std::move(steps);
    }
    case BlockKind::Input: {
      OPLAT_TRY(steps, keeping(out, start));
      steps->input();
      return std::move(steps);
    }
    case BlockKind::Output: {
      OPLAT_TRY(steps, keeping(out, start));
      steps->output();
      return std::move(steps);
    }
  }
  return Steps();
}

class Expander {
 public:
  Expander(const SearchSpace& space, std::int64_t resolution)
      : space_(space), tensor_{space.batch, space.channels, resolution, false} {
    expansion_.resolution = resolution;
    channels_ = {space.channels};
  }

  Result<Expansion> run() {
    for (const Layer& layer : space_.layers) OPLAT_CHECK(add(layer));
    return std::move(expansion_);
  }

 private:
  Status add(const Layer& layer) {
    ExpandedLayer expanded;
    expanded.size = tensor_.size;
    expanded.in_channels = channels_;
    expanded.out_channels = layer.channels.empty() ? channels_ : layer.channels;
    std::optional<Tensor> after;
    for (std::size_t choice = 0; choice < layer.choices.size(); ++choice) {
      for (std::size_t in = 0; in < expanded.in_channels.size(); ++in) {
        for (std::size_t out = 0; out < expanded.out_channels.size(); ++out) {
          if (keeps(layer) && in != out) continue;
          Tensor start = tensor_;
          start.channels = expanded.in_channels[in];
          const Block& block = space_.blocks[layer.choices[choice]];
          auto steps = steps_of(block, expanded.out_channels[out], layer.stride,
                                Operators(*space_.family, start));
          if (!steps) return wrong(layer, block, steps.error());
          if (!*steps) continue;
          if (after &&
              (after->size != (*steps)->tensor().size || after->flat != (*steps)->tensor().flat)) {
            return wrong(layer, block,
                         {Code::Input,
                          fmt::format("it leads to a map of {0}x{0}, but another choice to {1}x{1}",
                                      (*steps)->tensor().size, after->size)});
          }
          after = (*steps)->tensor();
          auto kernels = keys((*steps)->take());
          if (!kernels) return wrong(layer, block, kernels.error());
          expanded.cells.push_back({choice, in, out, std::move(*kernels)});
        }
      }
    }
    if (!after)
      return fail(Code::Input,
                  "{}: layer {}: none of its choices supports stride {} with these channels",
                  space_.file, layer.name, layer.stride);
    tensor_ = *after;
    channels_ = expanded.out_channels;
    expansion_.layers.push_back(std::move(expanded));
    return {};
  }

  tl::unexpected<Error> wrong(const Layer& layer, const Block& block, Error error) const {
    return fail_in(fmt::format("{}: layer {}, block {} at resolution {}", space_.file, layer.name,
                               block.name, expansion_.resolution),
                   std::move(error));
  }

  Result<std::vector<std::size_t>> keys(const Kernels& made) {
    std::vector<std::size_t> kernels;
    for (const Result<ir::Key>& key_or : made) {
      OPLAT_TRY(key, key_or);
      const auto [at, added] = index_.emplace(ir::print(key), expansion_.keys.size());
      if (added) expansion_.keys.push_back(at->first);
      kernels.push_back(at->second);
    }
    return kernels;
  }

  const SearchSpace& space_;
  Tensor tensor_;
  std::vector<std::int64_t> channels_;  ///< that can come in
  std::unordered_map<std::string, std::size_t> index_;
  Expansion expansion_;
};

}  // namespace

Result<Expansion> expand(const SearchSpace& space, std::int64_t resolution) {
  if (const std::size_t cells = count_cells(space); cells > kMaxCells) {
    return fail(Code::Input, "{}: has up to {} blocks for all choices of channels; the limit is {}",
                space.file, cells, kMaxCells);
  }
  return Expander(space, resolution).run();
}

Result<std::vector<std::string>> keys_of(const SearchSpace& space,
                                         std::span<const std::int64_t> resolutions) {
  std::vector<std::string> keys;
  std::unordered_set<std::string> seen;
  for (const std::int64_t resolution : resolutions) {
    OPLAT_TRY(expansion, expand(space, resolution));
    for (std::string& key : expansion.keys) {
      if (seen.insert(key).second) keys.push_back(std::move(key));
    }
  }
  return keys;
}

}  // namespace oplat::search
