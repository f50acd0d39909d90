// SPDX-License-Identifier: Apache-2.0
/// The original's count of a structure: sizes divided by strides, squeeze and excitation at the
/// wrong size.
#include "compat/tinynas/walk.hpp"

namespace oplat::compat::tinynas {
namespace {

class OriginalWalk {
 public:
  OriginalWalk(const Structure& structure, std::int64_t resolution)
      : structure_(structure), size_(resolution) {}

  Result<std::vector<NamedConv>> walk() {
    for (const Block& block : structure_.blocks) {
      if (block.original_raises) return raises(block, *block.original_raises);
      for (const InnerBlock& inner : inner_blocks(block)) OPLAT_CHECK(add(inner));
    }
    return std::move(out_);
  }

 private:
  [[nodiscard]] tl::unexpected<Error> raises(const Block& block, std::string_view what) const {
    return fail(
        Code::Input,
        "{}: the original raises {}; use --rules corrected to count what the network executes",
        block_place(structure_, block), what);
  }

  Status add(const InnerBlock& inner) {
    if (inner.block->kind == BlockKind::K1DwK1 && !inner.residual) {
      return raises(
          *inner.block,
          fmt::format("AttributeError: no attribute 'residual_proj' (in {} differs from out {})",
                      inner.in, inner.out));
    }
    for (const Step& step : inner.steps) {
      const std::string name = fmt::format("{}.{}", inner.name, step.name);
      if (step.squeeze_excite) {
        const std::int64_t width = squeeze_width(step.in);
        out_.push_back({name + "1", tuple(step.in, width, 1, 1, false)});
        out_.push_back({name + "2", tuple(width, step.out, 1, 1, false)});
        // The block claims that what comes out of it has one pixel: all that follows is looked up
        // there.
        size_ = 1;
        continue;
      }
      ConvTuple conv = tuple(step.in, step.out, step.kernel, step.stride,
                             inner.residual && &step == &inner.steps.back());
      if (step.group != 1) {
        if (step.in % step.group != 0 || step.out % step.group != 0) {
          return raises(*inner.block,
                        fmt::format("ValueError: {} channels to {} are not divisible by {} groups",
                                    step.in, step.out, step.group));
        }
        if (step.group != step.out) {
          return raises(
              *inner.block,
              fmt::format(
                  "ValueError: Conv or DepthWise are supported in predictor, not Group Conv. "
                  "({} groups of {} channels)",
                  step.group, step.out));
        }
        conv.type = ConvType::Depthwise;
      }
      out_.push_back({name, conv});
      size_ /= step.stride;
    }
    if (inner.projection)
      out_.push_back({inner.name + ".projection", tuple(inner.in, inner.out, 1, 1, false)});
    return {};
  }

  [[nodiscard]] ConvTuple tuple(std::int64_t in, std::int64_t out, std::int64_t kernel,
                                std::int64_t stride, bool fused) const {
    ConvTuple conv;
    conv.in_c = in;
    conv.out_c = out;
    conv.in_h = conv.in_w = size_;
    conv.kernel = kernel;
    conv.stride = stride;
    conv.fused = fused;
    return conv;
  }

  const Structure& structure_;
  std::int64_t size_;
  std::vector<NamedConv> out_;
};

}  // namespace

Result<std::vector<NamedConv>> original_convolutions(const Structure& structure,
                                                     std::int64_t resolution) {
  return OriginalWalk(structure, resolution).walk();
}

}  // namespace oplat::compat::tinynas
