// SPDX-License-Identifier: Apache-2.0
/// What `oplat check` found: the rows of one device and setting that are implausible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "table/records.hpp"

namespace oplat::report {

struct CheckReport {
  struct Suspect {
    std::int64_t row = 0;  ///< its number in the table
    std::string key;
    double latency_ns = 0;
    std::string fault;   ///< "sizes", "too fast", "twin", "order"
    std::string reason;  ///< for people
  };
  std::string table;  ///< its path, as it was given
  table::Device device;
  table::Setting setting;
  std::size_t rows = 0;                 ///< with a time
  std::size_t examined = 0;             ///< of these, with sizes to check
  std::size_t sizes_unknown = 0;        ///< of these, with more than the batch unknown
  std::optional<double> peak_gflops;    ///< 1e9 operations/s; std::nullopt if rows are too few
  std::optional<double> peak_gb_per_s;  ///< 1e9 bytes/s; std::nullopt if rows are too few
  double max_ratio = 0;                 ///< between rows that should agree
  std::vector<Suspect> suspects;
};

}  // namespace oplat::report
