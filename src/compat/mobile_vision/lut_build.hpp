// SPDX-License-Identifier: Apache-2.0
/// Both ends of `oplat lut build`: the operators that are measured, and the lines of a look-up
/// table for what was measured.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/truncated_list.hpp"
#include "compat/mobile_vision/families.hpp"
#include "compat/mobile_vision/lut.hpp"
#include "table/table.hpp"

namespace oplat::compat::mobile_vision {

/// An operator to be measured.
struct LutWanted {
  formats::caffe2::LutQuery query;
  std::string key;  ///< empty where nobody knows one
  std::string why;  ///< there is no key
};

/// The queries of a file of lines. Code::Input names file and line, or that there are none.
Result<std::vector<formats::caffe2::LutQuery>> listed_queries(const std::string& path);
/// Every operator once, in order of first appearance, without the arguments that change no time.
std::vector<LutWanted> wanted_operators(const std::vector<formats::caffe2::LutQuery>& queries);
/// Their distinct keys, in the same order.
std::vector<std::string> keys_of(const std::vector<LutWanted>& wanted);

struct MeasuredLines {
  std::string text;
  std::size_t records = 0;
  base::TruncatedList missing{10};  ///< operators without a time, with the reason
};
/// A line for every operator with a time, at its hottest cache state, as the original's loop over
/// one operator has it. `device_name`: of the lines.
Result<MeasuredLines> measured_lines(const std::vector<LutWanted>& wanted,
                                     const table::Table& table, table::DeviceId device,
                                     table::SettingId setting, const std::string& device_name);

}  // namespace oplat::compat::mobile_vision
