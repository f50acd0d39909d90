// SPDX-License-Identifier: Apache-2.0
/// What `oplat accuracy` found.
#pragma once

#include <cstdint>
#include <string>

#include "estimate/accuracy.hpp"
#include "table/records.hpp"

namespace oplat::report {

struct AccuracyReport {
  std::string table;
  table::Device device;
  table::Setting setting;
  std::string split;    ///< as it was asked for
  std::string profile;  ///< "accurate", "fast"
  std::uint64_t seed = 0;
  std::uint64_t network_seed = 0;
  bool calibrated = false;
  double level = 0.9;
  estimate::Accuracy accuracy;
};

}  // namespace oplat::report
