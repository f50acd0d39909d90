// SPDX-License-Identifier: Apache-2.0
/// What a structure's network executes, shape by shape: also what its ONNX model is written from.
#include "compat/tinynas/walk.hpp"

namespace oplat::compat::tinynas {
namespace {

constexpr std::int64_t kMaxCorrectedSize = 1'000'000;  // as lists of convolutions may hold

class CorrectedWalk {
 public:
  CorrectedWalk(const Structure& structure, std::int64_t resolution)
      : structure_(structure), size_(resolution), channels_(structure.blocks.front().in) {}

  Result<std::vector<ExecutedBlock>> walk() {
    for (const Block& block : structure_.blocks) {
      if (block.three_d) {
        return error(block,
                     "a 3-D block cannot be counted, since tuples hold no frames and kt; --rules "
                     "original counts it as 2-D");
      }
      for (const InnerBlock& inner : inner_blocks(block)) OPLAT_CHECK(add(inner));
    }
    return std::move(out_);
  }

 private:
  template <class... Args>
  tl::unexpected<Error> error(const Block& block, fmt::format_string<Args...> format,
                              Args&&... args) const {
    return fail(Code::Input, "{}: {}", block_place(structure_, block),
                fmt::format(format, std::forward<Args>(args)...));
  }

  Status add(const InnerBlock& inner) {
    const Block& block = *inner.block;
    if (inner.in != channels_) {
      return error(block, "it takes {} channels, but the block before it has {} output channels",
                   inner.in, channels_);
    }
    ExecutedBlock out;
    out.inner = inner;
    out.in_size = size_;
    for (const Step& step : inner.steps) {
      ExecutedStep executed{fmt::format("{}.{}", inner.name, step.name), step.squeeze_excite, {}};
      if (step.squeeze_excite) {
        const std::int64_t width = squeeze_width(step.in);
        executed.convs = {{conv(step.in, width, 1), 0}, {conv(width, step.out, 1), 0}};
      } else {
        OPLAT_TRY(one, convolution(block, step, inner.residual && &step == &inner.steps.back()));
        executed.convs = {one};
      }
      out.steps.push_back(std::move(executed));
    }
    out.out_size = size_;
    if (inner.residual) {
      // The average pool keeps the rest of an odd size, as the convolution does.
      const std::int64_t pooled = (out.in_size + inner.stride - 1) / inner.stride;
      if (pooled != size_) {
        return error(block,
                     "the sizes {}x{} and {}x{} to be added at the end of {} differ; 'k' and 'p' "
                     "do not keep the size",
                     size_, size_, pooled, pooled, inner.name);
      }
    }
    if (inner.projection) out.projection = ExecutedConv{conv(inner.in, inner.out, size_), 0};
    channels_ = inner.out;
    out_.push_back(std::move(out));
    return {};
  }

  Result<ExecutedConv> convolution(const Block& block, const Step& step, bool fused) {
    if (step.in % step.group != 0 || step.out % step.group != 0) {
      return error(block, "{} with {} input and {} output channels does not divide into {} groups",
                   step.name, step.in, step.out, step.group);
    }
    ConvTuple tuple = conv(step.in, step.out, size_);
    tuple.kernel = step.kernel;
    tuple.stride = step.stride;
    tuple.fused = fused;
    tuple.group = step.group;
    tuple = named_by_groups(tuple);
    const std::int64_t room = size_ + 2 * step.padding - step.kernel;
    if (room < 0) {
      return error(block, "{}: a {}x{} kernel does not fit {}x{} with padding {}", step.name,
                   step.kernel, step.kernel, size_, size_, step.padding);
    }
    size_ = room / step.stride + 1;
    if (size_ > kMaxCorrectedSize) {
      return error(block, "{}: the result of {}x{} is larger than the input, due to the padding {}",
                   step.name, size_, size_, step.padding);
    }
    return ExecutedConv{tuple, step.padding};
  }

  static ConvTuple conv(std::int64_t in, std::int64_t out, std::int64_t size) {
    ConvTuple tuple;
    tuple.in_c = in;
    tuple.out_c = out;
    tuple.in_h = tuple.in_w = size;
    return tuple;
  }

  const Structure& structure_;
  std::int64_t size_;
  std::int64_t channels_;
  std::vector<ExecutedBlock> out_;
};

}  // namespace

Result<std::vector<ExecutedBlock>> execute(const Structure& structure, std::int64_t resolution) {
  if (structure.blocks.empty()) return fail(Code::Input, "{}: holds no blocks", structure.name);
  return CorrectedWalk(structure, resolution).walk();
}

}  // namespace oplat::compat::tinynas
