// SPDX-License-Identifier: Apache-2.0
/// Latencies of a space as files, layer by choice: CSV, JSON (oplat.space.latencies/1) and NumPy's
/// .npz (docs/guide/searching.md). Times are microseconds.
#pragma once

#include <string>

#include "base/result.hpp"
#include "search/latencies.hpp"

namespace oplat::search {

/// A line a layer (and choice of channels), a column a choice; empty where there is no such choice
/// or no estimate.
std::string to_csv(const SpaceLatencies& latencies);
/// Everything: intervals, where times come from, the kernels of every block.
std::string to_json(const SpaceLatencies& latencies);
/// Arrays; NaN where there is no such choice (`mask` says so) or no estimate. Code::Refused if
/// they would hold more than 4,000,000 numbers.
Result<std::string> to_npz(const SpaceLatencies& latencies);

}  // namespace oplat::search
