// SPDX-License-Identifier: Apache-2.0
/// Forest: boosted regression trees, evaluated where microseconds count.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace oplat::estimate {

/// A tree as training gives it: children by number within the tree, the root is 0.
struct TrainedTree {
  struct Node {
    std::int32_t left = -1;  ///< -1: a leaf
    std::int32_t right = -1;
    std::uint32_t feature = 0;
    float value = 0;  ///< threshold: features below it go left; of a leaf, what it adds
    bool missing_left = false;
  };
  std::vector<Node> nodes;
};

class Forest {
 public:
  /// Code::Input for trees that are none: children out of range or met twice, features of a number
  /// >= `features`.
  static Result<Forest> make(std::span<const TrainedTree> trees, float start, std::size_t features);

  /// One more tree, of the same features; Code::Input as for make().
  Status add(const TrainedTree& tree);

  [[nodiscard]] std::size_t trees() const { return roots_.size(); }
  [[nodiscard]] std::size_t features() const { return features_; }
  /// Sum of the trees and the start value; a feature that is NaN goes where training sent missing
  /// ones.
  [[nodiscard]] float value(std::span<const float> features) const;

  /// docs/reference/fit-format.md "Forests".
  [[nodiscard]] std::string save() const;
  static Result<Forest> load(std::string_view bytes);

 private:
  /// The right child follows the left one. Eight bytes, so that a tree of 400 leaves is 6 KiB.
  struct Node {
    float value = 0;
    std::uint16_t column = 0;  ///< of what columns_of() makes of the features
    std::uint16_t left = 0;    ///< from the tree's root on
  };
  static constexpr std::uint16_t kLeaf = 0x7fff;
  static constexpr std::uint16_t kMissingLeft = 0x8000;

  /// Which way a walk goes cannot be guessed, so a step has no branches: it goes left where a
  /// column is less than the node's value, else right. So each feature has two columns, what is
  /// missing being less than everything in the first and more in the second; and a leaf goes left
  /// to itself, by the last column, which is less than everything.
  [[nodiscard]] std::vector<float> columns_of(std::span<const float> features) const;
  [[nodiscard]] std::uint16_t column_of(std::size_t feature, bool missing_left) const {
    return static_cast<std::uint16_t>(missing_left ? feature : features_ + feature);
  }
  [[nodiscard]] std::uint16_t leaf_column() const {
    return static_cast<std::uint16_t>(2 * features_);
  }

  std::vector<Node> nodes_;
  std::vector<std::uint32_t> roots_;
  float start_ = 0;
  std::size_t features_ = 0;
};

}  // namespace oplat::estimate
