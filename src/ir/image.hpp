// SPDX-License-Identifier: Apache-2.0
/// The operand of convolutions and poolings, whichever system's.
#pragma once

#include <cstdint>
#include <vector>

namespace oplat::ir {

/// Batch, channels, and the sizes that a window slides over.
struct Image {
  bool channels_last = false;
  std::int64_t batch = 1;
  std::int64_t channels = 1;
  std::vector<std::int64_t> sizes;

  [[nodiscard]] std::vector<std::int64_t> dims() const {
    std::vector<std::int64_t> all = {batch};
    if (!channels_last) all.push_back(channels);
    all.insert(all.end(), sizes.begin(), sizes.end());
    if (channels_last) all.push_back(channels);
    return all;
  }
};

}  // namespace oplat::ir
