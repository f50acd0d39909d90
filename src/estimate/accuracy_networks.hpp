// SPDX-License-Identifier: Apache-2.0
/// Networks made of rows that were held out: do errors of convolutions cancel in a sum?
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "estimate/accuracy.hpp"
#include "ir/description.hpp"

namespace oplat::estimate {

struct NetworkRow {
  const ir::Description* description = nullptr;
  double truth_ns = 0;
  double predicted_ns = 0;
};

/// For each batch of the rows so many networks in the manner of a ResNet: four stages whose
/// resolution halves from about 56 while channels double from 64 to 256 on, of 9, 12, 18 and 6
/// convolutions (kernels 1 and 3), each drawn at random from the rows that fit its stage within a
/// factor of 1.5. A batch without rows for a stage has no line.
std::vector<NetworkLine> random_networks(std::span<const NetworkRow> rows, std::int64_t networks,
                                         std::uint64_t seed);

}  // namespace oplat::estimate
