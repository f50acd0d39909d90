// SPDX-License-Identifier: Apache-2.0
/// Lists that people type: what is given twice counts once.
#pragma once

#include <algorithm>
#include <vector>

namespace oplat::base {

/// Each of the values once, in the order in which they come first.
template <class Value>
std::vector<Value> without_repeats(const std::vector<Value>& values) {
  std::vector<Value> once;
  for (const Value& value : values)
    if (std::find(once.begin(), once.end(), value) == once.end()) once.push_back(value);
  return once;
}

}  // namespace oplat::base
