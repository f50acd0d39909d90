// SPDX-License-Identifier: Apache-2.0
/// Sizes, rates, tiles, waves, divisibility.
#include "estimate/learned/shape_features.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace oplat::estimate {
namespace {

constexpr float kNoFeature = std::numeric_limits<float>::quiet_NaN();

class Writer {
 public:
  explicit Writer(std::span<float> out) : out_(out) {}
  void put(double value) { out_[at_++] = static_cast<float>(value); }
  void skip(std::size_t count) {
    std::fill_n(out_.begin() + static_cast<std::ptrdiff_t>(at_), count, kNoFeature);
    at_ += count;
  }

 private:
  std::span<float> out_;
  std::size_t at_ = 0;
};

double log_or_zero(double value) { return value > 0 ? std::log(value) : 0; }

/// Largest power of two, up to 2^most, that divides a whole number.
double log_power_of_two(double value, int most = 6) {
  int power = 0;
  for (; power < most && std::fmod(value, std::exp2(power + 1)) == 0; ++power) {
  }
  return power;
}

/// How much padding to a multiple of `unit` adds.
double padding(double value, double unit) { return std::ceil(value / unit) * unit / value; }

void put_sizes(Writer& writer, const ir::Work& work, const Machine& machine, double log_reference) {
  const double flops = work.flops.value_or(0);
  const double compute_ns = flops / machine.flops_per_ns;
  const double memory_ns = work.bytes() / machine.bytes_per_ns;
  writer.put(log_or_zero(flops));
  writer.put(log_or_zero(work.bytes_in));
  writer.put(log_or_zero(work.bytes_weights));
  writer.put(log_or_zero(work.bytes_out));
  writer.put(log_or_zero(work.bytes()));
  writer.put(log_or_zero(flops) - log_or_zero(work.bytes()));
  writer.put(log_reference);
  writer.put(log_or_zero(compute_ns) - log_or_zero(memory_ns));
  writer.put(std::log1p(compute_ns / machine.overhead_ns));
  writer.put(std::log1p(memory_ns / machine.overhead_ns));
  writer.put(log_or_zero(work.bytes_in) - log_or_zero(work.bytes_out));
  writer.put(log_or_zero(work.bytes_weights) - log_or_zero(work.bytes_in));
}

/// Lines of 64 bytes that are a multiple of 4,096 bytes apart share a set of most first-level
/// caches, so that a walk across more rows than it has ways finds none of them again.
constexpr int kMaxStridePower = 14;
/// Lines of a set that every first-level cache keeps.
constexpr double kFewWays = 8;

void put_memory(Writer& writer, const ir::Description& description) {
  writer.put(static_cast<double>(description.state));
  writer.put(description.stride_bytes > 0
                 ? log_power_of_two(description.stride_bytes, kMaxStridePower)
                 : 0);
  writer.put(std::log(std::max(1.0, description.lines_in_a_set / kFewWays)));
}

void put_product(Writer& writer, const ir::Contraction& p) {
  const double rows = p.batch * p.out_h * p.out_w;
  const double inner = p.in_c * p.kernel_h * p.kernel_w;
  writer.put(std::log(rows));
  writer.put(std::log(inner));
  writer.put(std::log(p.out_c));
  writer.put(std::log(p.groups));
  writer.put(std::log(p.batch));
  writer.put(std::log(p.in_c));
  writer.put(std::log(p.out_h * p.out_w));
  writer.put(p.kernel_h * p.kernel_w);
  writer.put(p.stride);
  writer.put(std::log(rows) - std::log(p.out_c));
  writer.put(std::log(p.share_inside));
}

void put_tiles(Writer& writer, const ir::Contraction& p, const Machine& machine) {
  const double rows = p.batch * p.out_h * p.out_w;
  for (const Tile& tile : kTiles) {
    const double tiles = tiles_of(p, tile);
    const double waves = std::ceil(tiles / machine.processors);
    writer.put(log_wave_work(p, tile, machine.processors) -
               std::log(p.groups * rows * p.out_c * p.in_c * p.kernel_h * p.kernel_w));
    writer.put(tiles / (waves * machine.processors));
    writer.put(std::log(tiles * tile.rows * tile.columns) - std::log(p.groups * rows * p.out_c));
  }
}

void put_winograd(Writer& writer, const ir::Contraction& p) {
  for (const double edge : {2.0, 4.0, 6.0}) {
    const double tiles = std::ceil(p.out_h / edge) * std::ceil(p.out_w / edge);
    writer.put(tiles * edge * edge / (p.out_h * p.out_w));
  }
}

/// Of a depthwise convolution the groups are what a kernel takes several of at once.
void put_divisibility(Writer& writer, const ir::Contraction& p) {
  const bool is_depthwise = p.in_c == 1 && p.groups > 1;
  const double in_c = is_depthwise ? p.groups : p.in_c;
  const double out_c = is_depthwise ? p.groups * p.out_c : p.out_c;
  writer.put(log_power_of_two(in_c));
  writer.put(log_power_of_two(out_c));
  writer.put(log_power_of_two(p.out_h));
  for (const double unit : {8.0, 16.0, 32.0, 128.0}) {
    writer.put(padding(in_c, unit));
    writer.put(padding(out_c, unit));
  }
}

}  // namespace

void shape_features(const ir::Description& description, const Point& point, std::size_t axes,
                    const Machine& machine, double log_reference, std::span<float> out) {
  Writer writer(out);
  writer.put(point.slice);
  for (std::size_t i = 0; i < kMaxAxes; ++i) {
    if (i < axes) {
      writer.put(point.at[i]);
    } else {
      writer.skip(1);
    }
  }
  put_sizes(writer, description.work, machine, log_reference);
  put_memory(writer, description);
  if (!description.contraction) {
    writer.skip(kProductFeatures + kTileFeatures + kWinogradFeatures + kDivisibilityFeatures);
    return;
  }
  put_product(writer, *description.contraction);
  put_tiles(writer, *description.contraction, machine);
  put_winograd(writer, *description.contraction);
  put_divisibility(writer, *description.contraction);
}

}  // namespace oplat::estimate
