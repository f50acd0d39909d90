// SPDX-License-Identifier: Apache-2.0
/// A space as arrays.
#include <algorithm>
#include <limits>

#include "search/axes.hpp"
#include "search/npz.hpp"
#include "search/write.hpp"

namespace oplat::search {
namespace {

constexpr std::size_t kMaxNumbers = 4'000'000;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// The axes of the arrays of cells. Those of one entry are left out, but layer and choice always
/// stand.
class Grid {
 public:
  Grid(const SpaceLatencies& all, const Axes& axes)
      : choices_(axes.choices.size()),
        in_(axes.max_in),
        out_(axes.max_out),
        layers_(axes.layers.size()) {
    shape_ = {layers_, choices_};
    names_ = {"layer", "choice"};
    if (all.resolutions.size() > 1) {
      shape_.insert(shape_.begin(), all.resolutions.size());
      names_.insert(names_.begin(), "resolution");
    }
    if (in_ > 1 || out_ > 1) {
      shape_.insert(shape_.end(), {in_, out_});
      names_.insert(names_.end(), {"in", "out"});
    }
    for (const std::size_t dim : shape_) size_ *= dim;
  }

  [[nodiscard]] std::size_t at(std::size_t resolution, std::size_t layer, std::size_t choice,
                               const Cell& cell) const {
    return (((resolution * layers_ + layer) * choices_ + choice) * in_ + cell.in) * out_ + cell.out;
  }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] const Npz::Shape& shape() const { return shape_; }
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

 private:
  std::size_t choices_;
  std::size_t in_;
  std::size_t out_;
  std::size_t layers_;
  std::size_t size_ = 1;
  Npz::Shape shape_;
  std::vector<std::string> names_;
};

std::vector<std::string> layer_names(const SpaceLatencies& all,
                                     const std::vector<std::size_t>& layers) {
  std::vector<std::string> names;
  for (const std::size_t layer : layers) names.push_back(all.space.layers[layer].name);
  return names;
}

void add_cells(const SpaceLatencies& all, const Axes& axes, const Grid& grid, Npz& npz) {
  std::vector<double> latency(grid.size(), kNan);
  std::vector<double> lo = latency;
  std::vector<double> hi = latency;
  std::vector<double> measured = latency;
  std::vector<double> flops = latency;
  std::vector<double> parameters = latency;
  std::vector<std::uint8_t> mask(grid.size(), 0);
  for (std::size_t r = 0; r < all.resolutions.size(); ++r) {
    const ResolutionLatencies& timed = all.resolutions[r];
    for (std::size_t l = 0; l < axes.layers.size(); ++l) {
      const std::size_t layer = axes.layers[l];
      const std::vector<Cell>& cells = timed.expansion.layers[layer].cells;
      for (std::size_t c = 0; c < cells.size(); ++c) {
        const std::size_t block = all.space.layers[layer].choices[cells[c].choice];
        const auto column = std::lower_bound(axes.choices.begin(), axes.choices.end(), block) -
                            axes.choices.begin();
        const std::size_t at = grid.at(r, l, static_cast<std::size_t>(column), cells[c]);
        const CellLatency& cell = timed.cells[layer][c];
        mask[at] = 1;
        flops[at] = parameters[at] = 0;
        for (const std::size_t kernel : cells[c].kernels) {
          flops[at] += timed.flops[kernel].value_or(kNan);
          parameters[at] += timed.parameters[kernel];
        }
        if (!cell.ns) continue;
        latency[at] = microseconds(*cell.ns);
        lo[at] = microseconds(cell.interval->low);
        hi[at] = microseconds(cell.interval->high);
        // Nothing to execute takes no time for sure.
        const auto share = cell.shares.find(estimate::Source::Measured);
        measured[at] = cells[c].kernels.empty()     ? 1
                       : share == cell.shares.end() ? 0
                                                    : share->second;
      }
    }
  }
  npz.add("latency_us", grid.shape(), latency);
  npz.add("lo_us", grid.shape(), lo);
  npz.add("hi_us", grid.shape(), hi);
  npz.add("measured_share", grid.shape(), measured);
  npz.add_bools("mask", grid.shape(), mask);
  npz.add("flops", grid.shape(), flops);
  npz.add("parameters", grid.shape(), parameters);
}

void add_fixed(const SpaceLatencies& all, const Axes& axes, Npz& npz) {
  std::vector<double> fixed;
  std::vector<double> overhead;
  std::vector<std::int64_t> resolutions;
  for (const ResolutionLatencies& timed : all.resolutions) {
    resolutions.push_back(timed.expansion.resolution);
    overhead.push_back(microseconds(timed.overhead_ns));
    for (const std::size_t layer : axes.fixed) {
      const auto& ns = timed.cells[layer].front().ns;
      fixed.push_back(ns ? microseconds(*ns) : kNan);
    }
  }
  npz.add("resolutions", {resolutions.size()}, resolutions);
  const bool several = resolutions.size() > 1;
  npz.add(
      "fixed_us",
      several ? Npz::Shape{resolutions.size(), axes.fixed.size()} : Npz::Shape{axes.fixed.size()},
      fixed);
  npz.add("overhead_us", several ? Npz::Shape{resolutions.size()} : Npz::Shape{}, overhead);
  npz.add_texts("fixed_layers", layer_names(all, axes.fixed));
}

/// Channels of the layers with a choice; 0 fills lines of fewer choices than the longest.
void add_channels(const SpaceLatencies& all, const Axes& axes, Npz& npz) {
  std::vector<std::int64_t> in;
  std::vector<std::int64_t> out;
  for (const std::size_t layer : axes.layers) {
    const ExpandedLayer& expanded = all.resolutions.front().expansion.layers[layer];
    for (std::size_t i = 0; i < axes.max_in; ++i)
      in.push_back(i < expanded.in_channels.size() ? expanded.in_channels[i] : 0);
    for (std::size_t i = 0; i < axes.max_out; ++i)
      out.push_back(i < expanded.out_channels.size() ? expanded.out_channels[i] : 0);
  }
  npz.add("in_channels", {axes.layers.size(), axes.max_in}, in);
  npz.add("out_channels", {axes.layers.size(), axes.max_out}, out);
}

}  // namespace

Result<std::string> to_npz(const SpaceLatencies& latencies) {
  const Axes axes = axes_of(latencies);
  const Grid grid(latencies, axes);
  if (grid.size() > kMaxNumbers) {
    return fail(Code::Refused,
                "{}: has arrays of {} numbers, but .npz holds at most {} here; write .json, or use "
                "fewer choices or resolutions",
                latencies.space.file, grid.size(), kMaxNumbers);
  }
  Npz npz;
  add_cells(latencies, axes, grid, npz);
  npz.add_texts("axes", grid.names());
  npz.add_texts("layers", layer_names(latencies, axes.layers));
  std::vector<std::string> choices;
  for (const std::size_t block : axes.choices)
    choices.push_back(latencies.space.blocks[block].name);
  npz.add_texts("choices", choices);
  add_channels(latencies, axes, npz);
  add_fixed(latencies, axes, npz);
  const double level = latencies.level;
  npz.add("level", {}, {&level, 1});
  const std::int64_t threads = latencies.setting.threads;
  npz.add("threads", {}, {&threads, 1});
  npz.add_texts("device", std::vector<std::string>{latencies.device.name});
  npz.add_texts("runtime",
                std::vector<std::string>{latencies.setting.runtime, latencies.setting.version});
  npz.add_texts("setting", std::vector<std::string>{table::describe(latencies.setting)});
  return npz.bytes();
}

}  // namespace oplat::search
