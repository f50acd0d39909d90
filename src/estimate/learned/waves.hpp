// SPDX-License-Identifier: Apache-2.0
/// Waves: how many tiles of a matrix product a device works off at once, as far as few rows can
/// tell.
#pragma once

#include <cstdint>
#include <span>

#include "ir/description.hpp"

#include "estimate/learned/machine.hpp"
#include "estimate/learned/space.hpp"

namespace oplat::estimate {

/// The number whose waves explain best what a linear combination of all other features of the
/// shapes leaves unexplained of ln(time / bound), the least of several that explain as much; 1
/// where none explains more than chance would. It may be a multiple of the number of units, where
/// each takes several tiles at a time. `machine`: rates as learned; its own number is not looked
/// at.
std::int32_t learn_waves(std::span<const ir::Description> rows, std::span<const double> log_ns,
                         const Space& space, Machine machine);

}  // namespace oplat::estimate
