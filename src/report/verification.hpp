// SPDX-License-Identifier: Apache-2.0
/// `oplat verify`: rows of a table next to the same rows measured now, as values that any report
/// can print.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "table/records.hpp"

namespace oplat::report {

struct Verification {
  struct Row {
    std::string key;
    std::string op;
    std::string state;
    double reuse_bytes = 0;
    table::Timing before;
    std::optional<table::Outcome>
        after;                    ///< std::nullopt if the budget ended before it was measured
    std::optional<double> ratio;  ///< now / table
    std::optional<double> ratio_low, ratio_high;
    std::string verdict;      ///< of this row alone; empty where it has no ratio
    bool under_load = false;  ///< measured now while other programs kept the machine busy
  };
  struct Class {
    std::string op;
    std::string state;
    std::int64_t rows = 0;
    double ratio = 1;
    bool moved = false;
  };
  struct Fact {
    std::string fact;
    std::string recorded;
    std::string here;
    bool decides = false;
  };
  struct Reference {
    std::string name;  ///< "compute", "memory"
    std::optional<double> recorded_ns;
    std::optional<double> here_ns;
  };
  std::string table;
  std::string verdict;
  std::vector<std::string> reasons;
  std::int64_t compared = 0;
  std::int64_t refused = 0;
  std::int64_t left = 0;
  std::int64_t outlying = 0;
  std::int64_t under_load = 0;
  std::optional<double> ratio;  ///< median of now / table over rows
  std::optional<double> ratio_low, ratio_high;
  std::optional<double> scatter;  ///< standard deviations of the logarithm
  std::optional<double> noise;
  std::vector<Class> classes;  ///< the furthest from 1 first
  std::vector<Fact> facts;     ///< those that differ
  std::vector<Row> rows;
  std::vector<Reference> references;
  std::int64_t blocks = 0;
  std::int64_t processes = 0;
  double seconds = 0;
  bool budget_ended = false;
  table::Device device;
  table::Setting setting;
  std::vector<std::string> warnings;
};

}  // namespace oplat::report
