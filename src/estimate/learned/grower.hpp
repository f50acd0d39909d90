// SPDX-License-Identifier: Apache-2.0
/// Grower: one regression tree at a time over binned columns.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "estimate/learned/binned.hpp"

namespace oplat::estimate {

struct GrowOptions {
  std::size_t leaves = 127;
  float min_weight = 5;  ///< of a leaf
  float l2 = 1;
};

class Grower {
 public:
  Grower(const Binned& data, const GrowOptions& options) : data_(data), options_(options) {}

  /// A tree of the targets of `rows`, each with its weight, over `columns`; leaves are mean
  /// targets, pulled to 0.
  TrainedTree grow(std::span<const float> targets, std::span<const float> weights,
                   std::span<const std::uint32_t> rows, std::span<const std::uint32_t> columns);
  /// Leaf values of the tree grown last, times `rate`, are added for every row of the data.
  void add_to(std::span<float> sums, float rate) const;

 private:
  /// Of some rows: the sum of weighted targets, and of weights.
  struct Cell {
    float sum = 0;
    float weight = 0;
  };
  struct Split {
    float gain = 0;
    std::uint32_t column = 0;  ///< of the chosen columns
    std::uint8_t bin = 0;      ///< this one and earlier ones go left
    bool missing_left = false;
  };
  struct Leaf {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    std::uint32_t node = 0;
    double sum = 0;
    double weight = 0;
    std::size_t histogram = 0;
    Split best;
  };
  /// What a row meets at a node.
  struct Step {
    const std::uint8_t* bins = nullptr;  ///< nullptr: a leaf
    std::uint8_t bin = 0;
    bool missing_left = false;
    std::uint32_t left = 0;
    std::uint32_t right = 0;
    float value = 0;
    [[nodiscard]] bool goes_left(std::uint8_t row_bin) const {
      return row_bin == 0 ? missing_left : row_bin <= bin;
    }
  };

  [[nodiscard]] std::size_t take_histogram();
  [[nodiscard]] Cell* histogram(std::size_t number) { return &cells_[number * width_]; }
  void fill(const Leaf& leaf);
  void find_best(Leaf& leaf);
  void split(std::size_t leaf);

  const Binned& data_;
  GrowOptions options_;
  std::span<const float> targets_;
  std::span<const float> weights_;
  std::span<const std::uint32_t> columns_;
  std::vector<std::size_t> offsets_;  ///< of each chosen column in a histogram
  std::size_t width_ = 0;
  std::vector<std::uint32_t> rows_;   ///< by leaf
  std::vector<std::uint32_t> right_;  ///< room for a split
  std::vector<Cell> ordered_;         ///< of a leaf's rows, each by itself
  std::vector<Cell> cells_;
  std::size_t histograms_ = 0;
  std::vector<Leaf> leaves_;
  std::vector<Step> steps_;
};

}  // namespace oplat::estimate
