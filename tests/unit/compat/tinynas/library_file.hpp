// SPDX-License-Identifier: Apache-2.0
/// Library files and lists of tuples, read as plainly as can be: tests of predictors must not lean
/// on the codec.
#pragma once

#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "compat/tinynas/original/predictor.hpp"

namespace oplat::test {

/// std::nullopt if the file is missing. Lines are taken to be well-formed.
inline std::optional<std::vector<compat::tinynas::LibraryTime>> read_library_file(
    const std::string& path) {
  std::ifstream file(path);
  if (!file) return std::nullopt;
  std::vector<compat::tinynas::LibraryTime> rows;
  for (std::string line; std::getline(file, line);) {
    for (char& c : line)
      if (c == '{' || c == '}' || c == ',') c = ' ';
    std::istringstream fields(line);
    std::string type;
    compat::tinynas::LibraryTime row;
    compat::tinynas::ConvTuple& conv = row.conv;
    fields >> type >> conv.batch >> conv.in_c >> conv.in_h >> conv.in_w >> conv.out_c >>
        conv.kernel >> conv.stride >> conv.fused >> row.ms;
    conv.type = type == "Depthwise" ? compat::tinynas::ConvType::Depthwise
                                    : compat::tinynas::ConvType::Regular;
    rows.push_back(row);
  }
  return rows;
}

/// A line `Conv_type Stride ElmtFused Kernel Batch In_C In_H Out_C [answer]`.
struct ListedTuple {
  compat::tinynas::ConvTuple conv;
  std::string answer;
};
inline std::optional<std::vector<ListedTuple>> read_tuple_file(const std::string& path) {
  std::ifstream file(path);
  if (!file) return std::nullopt;
  std::vector<ListedTuple> tuples;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.front() == '#') continue;
    std::istringstream fields(line);
    std::string type;
    ListedTuple tuple;
    compat::tinynas::ConvTuple& conv = tuple.conv;
    fields >> type >> conv.stride >> conv.fused >> conv.kernel >> conv.batch >> conv.in_c >>
        conv.in_h >> conv.out_c >> tuple.answer;
    conv.in_w = conv.in_h;
    conv.type = type == "Depthwise" ? compat::tinynas::ConvType::Depthwise
                                    : compat::tinynas::ConvType::Regular;
    tuples.push_back(tuple);
  }
  return tuples;
}

}  // namespace oplat::test
