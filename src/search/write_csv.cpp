// SPDX-License-Identifier: Apache-2.0
/// A space as CSV.
#include <map>

#include "base/text.hpp"
#include "search/axes.hpp"
#include "search/write.hpp"

namespace oplat::search {
namespace {

std::string number(const std::optional<double>& ns) {
  return ns ? base::float_text(microseconds(*ns)) : std::string();
}

/// The lines of a layer: one for each pair of channels that any of its choices has.
std::string lines(const SpaceLatencies& all, const ResolutionLatencies& timed, const Axes& axes,
                  std::size_t at) {
  const Layer& layer = all.space.layers[at];
  const ExpandedLayer& expanded = timed.expansion.layers[at];
  const bool fixed = is_fixed(layer, expanded);
  std::map<std::pair<std::size_t, std::size_t>, std::map<std::size_t, std::string>>
      by_channels;  // then by block
  for (std::size_t i = 0; i < expanded.cells.size(); ++i) {
    const Cell& cell = expanded.cells[i];
    by_channels[{cell.in, cell.out}][layer.choices[cell.choice]] = number(timed.cells[at][i].ns);
  }
  std::string text;
  for (const auto& [channels, by_block] : by_channels) {
    text +=
        fmt::format("{},{},{},{}", timed.expansion.resolution, layer.name,
                    expanded.in_channels[channels.first], expanded.out_channels[channels.second]);
    for (const std::size_t block : axes.choices) {
      const auto found = by_block.find(block);
      text += "," + (fixed || found == by_block.end() ? std::string() : found->second);
    }
    text += "," + (fixed ? by_block.begin()->second : std::string()) + "\n";
  }
  return text;
}

}  // namespace

std::string to_csv(const SpaceLatencies& latencies) {
  const Axes axes = axes_of(latencies);
  std::string text = "resolution,layer,in_channels,out_channels";
  for (const std::size_t block : axes.choices) text += "," + latencies.space.blocks[block].name;
  text += ",fixed\n";
  for (const ResolutionLatencies& timed : latencies.resolutions) {
    const std::string no_choice(axes.choices.size(), ',');
    text += fmt::format("{},overhead,,{},{}\n", timed.expansion.resolution, no_choice,
                        number(timed.overhead_ns));
    for (std::size_t i = 0; i < timed.expansion.layers.size(); ++i)
      text += lines(latencies, timed, axes, i);
  }
  return text;
}

}  // namespace oplat::search
