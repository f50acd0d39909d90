// SPDX-License-Identifier: Apache-2.0
/// What became of the rows that `oplat profile` was asked to measure.
#pragma once

#include <string>

#include "measure/campaign.hpp"

namespace oplat::report {

struct ProfileReport {
  std::string table;  ///< its path, as it was given
  measure::Summary summary;
};

}  // namespace oplat::report
