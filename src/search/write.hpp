// SPDX-License-Identifier: Apache-2.0
/// Latencies of a space as files, layer by choice: CSV, JSON (oplat.space.latencies/1) and NumPy's
/// .npz (docs/guide/searching.md). Times are microseconds.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

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

/// The forms by name; the first is the default.
inline constexpr std::array<std::string_view, 3> kForms = {"csv", "json", "npz"};
/// One of kForms: by the file's name (".npz"), else the form asked for; `file` empty: standard
/// output. Code::Usage: the two contradict each other, or neither says.
Result<std::string_view> form_of_file(std::string_view file, std::string_view asked);
/// In one of kForms. Errors: to_npz().
Result<std::string> written(const SpaceLatencies& latencies, std::string_view form);

/// A line for each resolution: what a network takes whatever it chooses, and the fastest and
/// slowest choice of every layer summed up. May hold the space's name as its file has it
/// (base::printable).
std::vector<std::string> summary(const SpaceLatencies& latencies);

}  // namespace oplat::search
