// SPDX-License-Identifier: Apache-2.0
/// Blocks as inner blocks, inner blocks as steps; the choice of rules.
#include "compat/tinynas/walk.hpp"

#include <algorithm>

namespace oplat::compat::tinynas {
namespace {

constexpr std::int64_t kMaxResolution = 1'000'000;

std::vector<Step> steps_of(const Block& block, std::int64_t in, std::int64_t stride) {
  const std::int64_t k = block.kernel;
  const std::int64_t b = block.bottleneck;
  const std::int64_t g = block.group;
  const std::int64_t p = block.padding.value_or((k - 1) / 2);
  switch (block.kind) {
    case BlockKind::Conv:
      return {{"conv", in, block.out, k, stride, g, p}};
    case BlockKind::KxKx:
      return {{"conv1", in, b, k, 1, g, p}, {"conv2", b, block.out, k, stride, g, p}};
    case BlockKind::K1Kx:
      return {{"conv1", in, b, 1, 1, g, 0}, {"conv2", b, block.out, k, stride, g, p}};
    case BlockKind::K1KxK1:
      return {{"conv1", in, b, 1, 1, g, 0},
              {"conv2", b, b, k, stride, g, p},
              {"conv3", b, block.out, 1, 1, g, 0}};
    case BlockKind::K1DwK1:
      break;
  }
  std::vector<Step> steps = {{"conv1", in, b, 1, 1, g, 0}, {"conv2", b, b, k, stride, b, p}};
  if (block.squeeze_excite) steps.push_back({"se", b, b, 1, 1, 1, 0, true});
  steps.push_back({"conv3", b, block.out, 1, 1, g, 0});
  return steps;
}

}  // namespace

std::vector<InnerBlock> inner_blocks(const Block& block) {
  std::vector<InnerBlock> all;
  for (std::int64_t i = 0; i < block.repeat; ++i) {
    InnerBlock inner;
    const bool first = i == 0;
    const bool single = block.kind == BlockKind::Conv;
    inner.name =
        single ? fmt::format("block{}", block.index) : fmt::format("block{}.{}", block.index, i);
    inner.block = &block;
    inner.in = first ? block.in : block.out;
    inner.out = block.out;
    inner.stride = first ? block.stride : 1;
    const bool force = first && block.force_projection;
    const bool same = inner.in == inner.out;
    // Depthwise blocks add their input only where it fits, or where they are told to project it.
    const bool depthwise = block.kind == BlockKind::K1DwK1;
    inner.residual = !single && (!depthwise || same || force);
    inner.projection = !single && (depthwise ? !same && force : !same || force);
    inner.steps = steps_of(block, inner.in, inner.stride);
    all.push_back(std::move(inner));
  }
  return all;
}

std::int64_t squeeze_width(std::int64_t channels) {
  // A half is rounded to the even neighbour.
  std::int64_t quarter = channels / 4;
  const std::int64_t rest = channels % 4;
  if (rest == 3 || (rest == 2 && quarter % 2 == 1)) ++quarter;
  return std::max<std::int64_t>(1, quarter / 8) * 8;
}

std::string block_place(const Structure& structure, const Block& block) {
  return fmt::format("{}:{}: block {} ({})", structure.name, block.line, block.index,
                     block.class_name);
}

std::string_view name(Rules rules) { return rules == Rules::Original ? "original" : "corrected"; }

std::optional<Rules> parse_rules(std::string_view text) {
  for (const Rules rules : {Rules::Original, Rules::Corrected}) {
    if (text == name(rules)) return rules;
  }
  return std::nullopt;
}

namespace {

Result<std::vector<NamedConv>> corrected_convolutions(const Structure& structure,
                                                      std::int64_t resolution) {
  OPLAT_TRY(blocks, execute(structure, resolution));
  std::vector<NamedConv> out;
  for (const ExecutedBlock& block : blocks) {
    for (const ExecutedStep& step : block.steps) {
      const bool several = step.convs.size() > 1;
      for (std::size_t i = 0; i < step.convs.size(); ++i) {
        out.push_back(
            {several ? fmt::format("{}{}", step.name, i + 1) : step.name, step.convs[i].conv});
      }
    }
    if (block.projection) out.push_back({block.inner.name + ".projection", block.projection->conv});
  }
  return out;
}

}  // namespace

Result<std::vector<NamedConv>> convolutions(const Structure& structure, std::int64_t resolution,
                                            Rules rules) {
  if (resolution < 1 || resolution > kMaxResolution) {
    return fail(Code::Usage, "the resolution is {}; expected 1 to {}", resolution, kMaxResolution);
  }
  OPLAT_TRY(convs, rules == Rules::Original ? original_convolutions(structure, resolution)
                                            : corrected_convolutions(structure, resolution));
  if (convs.empty()) return fail(Code::Input, "{}: holds no convolutions", structure.name);
  return convs;
}

std::string tuple_text(const ConvTuple& conv) {
  std::string text =
      fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}", name(conv.type), conv.stride,
                  conv.fused ? 1 : 0, conv.kernel, conv.batch, conv.in_c, conv.in_h, conv.out_c);
  // The original's form has no place for it, since the original refuses such convolutions.
  if (conv.group != 1) text += fmt::format("\tgroup={}", conv.group);
  return text;
}

}  // namespace oplat::compat::tinynas
