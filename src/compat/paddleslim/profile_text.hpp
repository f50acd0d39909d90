// SPDX-License-Identifier: Apache-2.0
/// Lines of Paddle-Lite's "Detailed Dispatch Profiler Summary": one executed operator each, and its
/// key.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/key.hpp"
#include "table/records.hpp"

namespace oplat::compat::paddleslim {

/// Where the numbers stand behind the result's sizes, from the line of column names: more of them
/// where a GPU is profiled.
struct ProfileColumns {
  std::size_t behind = 0;                        ///< columns behind OutDim
  std::size_t average = 0, least = 0, most = 0;  ///< counted from the first of those
};
std::optional<ProfileColumns> profile_columns(std::string_view line);

struct ProfileLine {
  std::string key;
  std::string what;  ///< the operator with its sizes: equal lines of two summaries are of one model
  table::Timing timing;
};

/// Code::Input with what is wrong with the line.
Result<ProfileLine> read_profile_line(std::string_view line, const ProfileColumns& columns);

}  // namespace oplat::compat::paddleslim
